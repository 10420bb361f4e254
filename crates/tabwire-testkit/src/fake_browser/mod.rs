//! A fake browser: speaks enough CDP to be attached to, and misbehaves as told.
//!
//! The program is `fake-browser`; this module is its core. `script` is what it was told, `targets` is
//! what it pretends to have, `brain` decides what to send, `link` carries it over a pipe or websockets.

mod brain;
mod link;
mod script;
mod targets;

pub use brain::{Brain, Step};
pub use link::{serve_pipe, serve_websocket};
pub use script::{Misdeed, Script};
pub use targets::ConnectionId;
