//! The state of CDP sessions as the hub sees them.

pub(crate) mod init_command;
pub(crate) mod override_undo;
pub(crate) mod setup_replay;
pub(crate) mod synthetic_context;
pub(crate) mod table;
pub(crate) mod virtual_session;
