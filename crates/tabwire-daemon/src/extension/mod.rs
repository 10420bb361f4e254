//! The user's own browsers, connected through the extension.

pub(crate) mod browser;
pub(crate) mod endpoint;
pub(crate) mod key;
pub(crate) mod notifications;
pub(crate) mod registry;
pub(crate) mod task;
