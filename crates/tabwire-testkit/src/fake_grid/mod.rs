//! A fake Selenium Grid: its protocol over HTTP, nodes with slots, a queue, and a fake browser for each session.
//!
//! The program is `fake-grid`. `state` holds nodes, sessions and the queue, `server` speaks HTTP. Routes below `/fake/` are
//! for tests: they inject faults and count.

mod server;
mod state;

use std::time::Duration;

use serde::Deserialize;

pub use server::serve;

/// How a fake Grid is set up.
#[derive(Clone, Debug)]
pub struct GridOptions {
    /// Machines.
    pub nodes: usize,
    /// Sessions that each can have.
    pub slots: usize,
    /// How long a request waits for a slot.
    pub request_timeout: Duration,
    /// How long a session may be idle.
    pub session_timeout: Duration,
    /// The user name and password that every request needs, as `user:password`.
    pub credentials: Option<String>,
    /// The script of every browser.
    pub script: String,
}

impl Default for GridOptions {
    fn default() -> Self {
        Self {
            nodes: 2,
            slots: 2,
            request_timeout: Duration::from_secs(300),
            session_timeout: Duration::from_secs(300),
            credentials: None,
            script: String::new(),
        }
    }
}

/// A fault, for the next requests that it fits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum GridFault {
    /// A session is refused: its browser does not start.
    Refuse,
    /// A session is created, and its response is lost.
    LoseResponse,
    /// A session is created without `se:cdp`.
    NoCdp,
    /// A session is created late.
    Slow {
        /// The delay.
        milliseconds: u64,
    },
    /// The websocket of a session is refused.
    DeadWebsocket,
    /// A session is not deleted: the response is an error.
    FailRelease,
}

#[cfg(test)]
mod tests;
