//! Tabwire as the Chrome executable of launchers and tools.

pub(crate) mod fake_windows;
pub(crate) mod headed;
pub(crate) mod kept;
pub(crate) mod launch;
pub(crate) mod launcher;
pub(crate) mod log;
pub(crate) mod loss;
pub(crate) mod packages;
pub(crate) mod port;
pub(crate) mod port_process;
pub(crate) mod recipe;
pub(crate) mod shared_view;
pub(crate) mod tools;
pub(crate) mod windows;
