//! The browser behind one paired extension, emulated as a CDP browser.
//!
//! CDP frames of the hub and messages of the extension go in; frames for the hub and messages for the extension come out.
//! The crate does no I/O, spawns no task and reads no clock: the daemon's tasks drive it.

mod browser;
mod link;
pub mod package;
mod session;
mod target;

pub use browser::{BrowserStats, EmulatedBrowser, Output};
pub use link::{message as link_message, notification, proof, user_message};
