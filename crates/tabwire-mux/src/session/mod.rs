//! CDP sessions.

pub(crate) mod auto_attach;
pub(crate) mod browser_target;
pub(crate) mod page_settings;
pub(crate) mod settings_repeat;
pub(crate) mod table;
