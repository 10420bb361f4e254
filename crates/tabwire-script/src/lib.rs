//! Scripts: JavaScript and TypeScript that drive a session's browser through a Playwright-like API.
//!
//! The daemon runs each script in a child process, `child::run`, which has no token, socket, file or environment. Daemon
//! and child exchange the lines of `message` over two pipes.

pub mod child;
pub mod declarations;
pub mod limits;
pub mod message;
pub mod module_path;
pub mod sandbox;
pub mod typescript;
