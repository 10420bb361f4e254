//! The browser that the user started, driven through the extension.

pub(crate) mod blocked_sites;
pub(crate) mod chrome_refusals;
pub(crate) mod clients;
pub(crate) mod connection;
pub(crate) mod debugger;
pub(crate) mod driving;
pub(crate) mod extension_ui;
pub(crate) mod tabs;
pub(crate) mod threats;
pub(crate) mod tools;
