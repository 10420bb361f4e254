//! The browser that the user started, driven through the extension.

pub(crate) mod blocked_sites;
pub(crate) mod chrome_refusals;
pub(crate) mod clients;
pub(crate) mod connection;
pub(crate) mod debugger;
pub(crate) mod driving;
pub(crate) mod flood;
pub(crate) mod foreign_frame;
pub(crate) mod keyboard;
pub(crate) mod pairing;
pub(crate) mod restarts;
pub(crate) mod tab_faults;
pub(crate) mod tabs;
pub(crate) mod threats;
pub(crate) mod tools;
pub(crate) mod user_pages;
