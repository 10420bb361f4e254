//! Playwright, Puppeteer and bare CDP clients on one browser.

pub(crate) mod client_slot;
pub(crate) mod suite;
pub(crate) mod together;
