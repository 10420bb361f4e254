//! A fake browser: implements enough CDP to attach to, and injects faults by script.
//!
//! The program is `fake-browser`. `script` parses the faults, `targets` holds its targets, `browser` decides what to
//! send, `transport` sends it over a pipe or websockets.

mod browser;
mod script;
mod targets;
mod transport;

pub use browser::{FakeBrowser, Step};
pub use script::{Fault, Script};
pub use targets::ConnectionId;
pub(crate) use transport::{Hub, serve_connection};
pub use transport::{serve_pipe, serve_websocket};
