//! CDP sessions.

pub(crate) mod auto_attach;
pub(crate) mod browser_target;
pub(crate) mod exposed_protocol;
pub(crate) mod handover;
pub(crate) mod non_flat;
pub(crate) mod page_settings;
pub(crate) mod settings_repeat;
pub(crate) mod table;
