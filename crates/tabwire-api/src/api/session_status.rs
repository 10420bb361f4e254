//! The status of one session.

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
    /// Whether its browser responds.
    pub active: bool,
    /// `active`, `starting`, `stopped`, or why its browser is gone.
    pub state: String,
    /// `launched` or `attached`.
    pub ownership: String,
    /// How its browser is reached.
    pub upstream: String,
    /// How it shares the browser: `own`, `context` or `shared`.
    pub isolation: String,
    /// The policy profile: `open` or `guarded`.
    pub policy: String,
    /// With a window.
    pub headed: bool,
    /// Where CDP clients connect, without the secret; `tabwire cdp-url` prints the whole URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The browser's main process, when Tabwire launched it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_pid: Option<i32>,
    /// The keeper's process, when Tabwire launched the browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keeper_pid: Option<i32>,
    /// The browser's product name and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_version: Option<String>,
    /// Its profile directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The file that stores it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<PathBuf>,
    /// Whether its cookies and local storage are saved.
    pub saves_state: bool,
    /// Memory of the browser's processes in bytes, when requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Open tabs the session sees.
    pub tabs: usize,
    /// Tabs whose process crashed. A reload restores them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crashed_tabs: Vec<String>,
    /// Connected CDP clients, including the engine.
    pub clients: usize,
    /// Commands waiting for the browser.
    pub pending: usize,
    /// Objects that clients hold in the mux, for leak checks: CDP sessions, contexts, held frames.
    pub held: usize,
    /// Frames without a receiver: late responses, and events for CDP sessions that just ended.
    pub astray: u64,
    /// Responses on another CDP session than their request; they are dropped.
    pub misrouted: u64,
    /// Events dropped for slow clients.
    pub events_dropped: u64,
    /// Seconds since the session's browser was connected.
    pub uptime_seconds: u64,
}
