//! Cookies, storage, saved state, downloads, the clipboard and secrets.

pub(crate) mod clipboard;
pub(crate) mod cookies;
pub(crate) mod downloads;
pub(crate) mod secrets;
pub(crate) mod state;
pub(crate) mod web_storage;
