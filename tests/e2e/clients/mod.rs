//! Playwright, Puppeteer and bare CDP clients on one browser.

pub(crate) mod client_slot;
pub(crate) mod first_page;
pub(crate) mod open_port;
pub(crate) mod packages;
pub(crate) mod recipes;
pub(crate) mod suite;
pub(crate) mod targets;
pub(crate) mod together;
