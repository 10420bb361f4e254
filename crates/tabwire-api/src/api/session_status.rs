//! The status of one session.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ClientName, ProjectKey, SessionName, TabId};

/// One session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SessionStatus {
    /// Its name.
    #[schemars(with = "String")]
    pub name: SessionName,
    /// The project it belongs to.
    #[schemars(with = "String")]
    pub project: ProjectKey,
    /// Whether its browser responds.
    pub active: bool,
    /// `active`, `starting`, `stopped`, or why its browser is gone.
    pub state: String,
    /// `launched`, `attached` or `rented`.
    pub ownership: String,
    /// How its browser is reached.
    pub upstream: String,
    /// Where a rented browser runs, and how long it still lives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteBrowser>,
    /// How it shares the browser: `own`, `context` or `shared`.
    pub isolation: String,
    /// The policy profile: `open` or `guarded`.
    pub policy: String,
    /// With a window.
    pub headed: bool,
    /// Where CDP clients connect, without the secret; `tabwire cdp-url` prints the whole URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The loopback port that needs no secret, while `tabwire cdp-url --port` keeps one open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_port: Option<u16>,
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
    /// What its browser cannot do, one sentence each. For Firefox.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// Whether its cookies and local storage are saved.
    pub saves_state: bool,
    /// Whether pages cannot see that the browser is automated.
    pub hides_automation: bool,
    /// Memory of the browser's processes in bytes, when requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Its own open tabs.
    pub tabs: usize,
    /// Tabs of the browser's user that it can select.
    pub shared_tabs: usize,
    /// All of these tabs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tab_list: Vec<SessionTab>,
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
    /// Seconds since the session's browser was started or first connected.
    pub uptime_seconds: u64,
}

/// A browser that a Grid or a provider created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RemoteBrowser {
    /// The Grid or provider.
    pub place: String,
    /// The node it runs on, as the Grid names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The start of its id there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Seconds since it was requested, which most providers charge.
    pub rented_seconds: u64,
    /// Seconds until the provider ends it, if the recipe says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
    /// Seconds without use after which it is ended there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_limit_seconds: Option<u64>,
    /// The time between two requests that keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_every_seconds: Option<u64>,
}

/// A tab of a session, without its title and URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTab {
    /// Its id.
    #[schemars(with = "String")]
    pub tab: TabId,
    /// Whether the browser's user opened it. Otherwise it is the session's own.
    #[serde(default)]
    pub shared: bool,
    /// Whether commands that name no tab use it.
    #[serde(default)]
    pub current: bool,
    /// The named client that opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub client: Option<ClientName>,
}
