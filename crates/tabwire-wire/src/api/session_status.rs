//! One session as it is told to people and programs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{ProjectKey, SessionName};

/// One session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionStatus {
    /// Its name.
    pub name: SessionName,
    /// The project it belongs to.
    pub project: ProjectKey,
    /// Whether it has a browser that answers.
    pub active: bool,
    /// `active`, `starting`, `stopped`, or why its browser is gone.
    pub state: String,
    /// `launched` or `attached`.
    pub ownership: String,
    /// How its browser is reached.
    pub upstream: String,
    /// How it shares the browser: `own`, `context` or `shared`.
    pub isolation: String,
    /// What may be done where nothing was granted or denied: `open` or `guarded`.
    pub policy: String,
    /// With a window.
    pub headed: bool,
    /// Where CDP clients connect, without the secret; `tabwire cdp-url` tells the whole address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The browser's main process, when it is ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_pid: Option<i32>,
    /// The keeper's process, when the browser is ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keeper_pid: Option<i32>,
    /// What the browser calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_version: Option<String>,
    /// Its profile directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The file in which it is remembered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<PathBuf>,
    /// Whether its cookies and local storage are saved.
    pub saves_state: bool,
    /// Memory of the browser's processes in bytes, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Open tabs the session sees.
    pub tabs: usize,
    /// Tabs whose process crashed; a reload brings them back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crashed_tabs: Vec<String>,
    /// CDP clients connected, our own engine included.
    pub clients: usize,
    /// Commands waiting for the browser.
    pub pending: usize,
    /// What clients hold in the mux, for leak checks: cdp sessions, contexts, held frames.
    pub held: usize,
    /// Frames that went to nobody: answers that came late, events for cdp sessions that had just gone.
    pub astray: u64,
    /// Answers that came back on another cdp session than they were asked on; none is ever passed on.
    pub misrouted: u64,
    /// Events dropped for slow clients.
    pub events_dropped: u64,
    /// Seconds since the session's browser was reached.
    pub uptime_seconds: u64,
}
