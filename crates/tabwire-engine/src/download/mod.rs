//! Downloads of a browser: log, manager, rules and waiting.

pub(crate) mod log;
pub(crate) mod manager;
pub(crate) mod mime_type;
pub(crate) mod tab;
pub(crate) mod wait;
