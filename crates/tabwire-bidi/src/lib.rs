//! A browser behind WebDriver BiDi, emulated as a CDP browser.
//!
//! CDP frames of the hub and BiDi messages of the browser go in; frames for both come out. The crate does no I/O, spawns no
//! task and reads no clock: the daemon's task drives it. The session may belong to a local Firefox or to a Selenium Grid:
//! the crate only needs messages of an existing session.

mod browser;
pub mod gaps;
mod protocol;
mod state;

pub use browser::{BrowserFacts, EmulatedBrowser, Lookup, Output, RequestHold};
