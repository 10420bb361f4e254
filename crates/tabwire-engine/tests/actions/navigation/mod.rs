//! Navigation, history, tabs, frames, emulation and the waits that follow an action.

pub(crate) mod during_navigation;
pub(crate) mod emulate;
pub(crate) mod former_frames;
pub(crate) mod frame;
pub(crate) mod init_script;
pub(crate) mod settling;
pub(crate) mod tabs_and_history;
pub(crate) mod waiting;
