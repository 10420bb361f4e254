//! Requests and responses of the daemon's API.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallNumber, ClientName, Failure, ProjectKey, SessionKey, SessionName, TabId};

mod chrome;
mod mcp;
mod policy_profile;
mod session_options;
mod session_status;

pub use chrome::{
    CHROME_UPGRADE, ChromeEnd, ChromeEndReason, ChromeOpened, ChromeOpening, ChromeWord, StandInBrowser,
    WindowsPort, WindowsWish,
};
pub use mcp::{MCP_UPGRADE, McpOpening, McpTransport, ResultForm};
pub use policy_profile::PolicyProfile;
pub use session_options::{Difference, Isolation, SessionOptions};
pub use session_status::SessionStatus;

/// The header in which a caller says its version.
pub const VERSION_HEADER: &str = "x-tabwire-version";

/// The made-up host name requests on the unix socket carry.
pub const SOCKET_HOST: &str = "tabwire.local";

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Asks for one action on a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ActionRequest {
    /// Which session.
    pub session: SessionName,
    /// The project it belongs to.
    #[serde(skip_serializing_if = "ProjectKey::is_global")]
    pub project: ProjectKey,
    /// Session options of the caller; must match the running browser.
    #[serde(skip_serializing_if = "SessionOptions::is_empty")]
    pub options: SessionOptions,
    /// Default session options. A running session with others reports the difference.
    #[serde(skip_serializing_if = "SessionOptions::is_empty")]
    pub defaults: SessionOptions,
    /// Whether a session that runs with other options is started anew.
    #[serde(skip_serializing_if = "is_false")]
    pub restart: bool,
    /// The base URL for relative URLs, from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The same where neither the caller nor the session says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_base_url: Option<String>,
    /// The client, for leases and the audit log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientName>,
    /// The id of the MCP call, when its client can be prompted during this call. Never read from a request.
    #[serde(skip)]
    pub call: Option<CallNumber>,
    /// Whether the tab that is used is leased to the client.
    #[serde(skip_serializing_if = "is_false")]
    pub pin_tab: bool,
    /// The action's own parameters.
    pub params: Value,
    /// The tab it is for; the session's current one if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Whether the result of an action includes the changes of the snapshot.
    #[serde(skip_serializing_if = "is_false")]
    pub snapshot: bool,
    /// Whether evidence of the action is kept, even if the session keeps none.
    #[serde(skip_serializing_if = "is_false")]
    pub capture: bool,
    /// Whether the result is text instead of data.
    #[serde(skip_serializing_if = "is_false")]
    pub text: bool,
    /// Whether the text is to be the bare value, for scripts; goes with `text`.
    #[serde(skip_serializing_if = "is_false")]
    pub raw: bool,
    /// How long it may take, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Directories that files may be read from and written to; the working directory if left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<PathBuf>,
    /// Where relative paths begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<PathBuf>,
}

impl ActionRequest {
    /// The session among all.
    #[must_use]
    pub fn key(&self) -> SessionKey {
        SessionKey::new(self.project.clone(), self.session.clone())
    }
}

/// The response to an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionResponse {
    /// The session it ran in.
    pub session: SessionName,
    /// The project the session belongs to.
    #[serde(default, skip_serializing_if = "ProjectKey::is_global")]
    pub project: ProjectKey,
    /// The tab it was done in, or the current one after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// The base URL for relative URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Whether the session's browser was gone and another one was started in its place.
    #[serde(default, skip_serializing_if = "is_false")]
    pub recovered: bool,
    /// What came back and what was lost, when it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// The action's result; absent when `text` is requested.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// The result as text, when requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What the user should know besides: a browser was started anew, the sandbox is off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// What came back with a browser that was started in place of one that was gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// Why the browser was gone.
    pub reason: String,
    /// Tabs that were opened again; what was typed into them is lost.
    pub tabs: Vec<RecoveredTab>,
    /// Whether saved cookies and local storage were put back.
    pub state_restored: bool,
    /// What did not come back, one sentence each.
    pub lost: Vec<String>,
}

/// A tab that was opened again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveredTab {
    /// Its id before, which is stale now.
    pub was: TabId,
    /// Its id now.
    pub tab: TabId,
    /// Its URL.
    pub url: String,
}

/// Requests a CDP endpoint URL.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CdpUrlRequest {
    /// Which session.
    pub session: SessionName,
    /// The project it belongs to.
    pub project: ProjectKey,
    /// How the session gets its browser, as the caller asked.
    pub options: SessionOptions,
    /// How it gets its browser where the caller asked for nothing.
    pub defaults: SessionOptions,
    /// Whether a session that runs with other options is started anew.
    pub restart: bool,
    /// Also show targets that belong to other clients.
    pub share_all: bool,
}

impl CdpUrlRequest {
    /// The session among all.
    #[must_use]
    pub fn key(&self) -> SessionKey {
        SessionKey::new(self.project.clone(), self.session.clone())
    }
}

/// A CDP endpoint URL. It is a secret: it gives full control of the session's browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CdpUrlResponse {
    /// For clients that take a websocket URL.
    pub websocket: String,
    /// For clients that discover over HTTP and keep the path.
    pub http: String,
    /// What the user should know besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// Whether a CDP client would be served now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSlotResponse {
    /// `multi` or `single-active`.
    pub mode: String,
    /// Whether a client would be refused now.
    pub busy: bool,
    /// When to poll again while busy; random, so that pollers spread out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_again_ms: Option<u64>,
}

/// The daemon and what it serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusResponse {
    /// Its version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Its loopback port.
    pub port: u16,
    /// Seconds since it started.
    pub uptime_seconds: u64,
    /// Its sessions, by name.
    pub sessions: Vec<SessionStatus>,
    /// Log lines that were lost because the queue or the disk was full.
    #[serde(default)]
    pub lost_log_lines: u64,
    /// Browsers that programs standing in for Chrome hold, or had started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stand_ins: Vec<StandInBrowser>,
}

/// A failed request as it travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorResponse {
    /// What went wrong.
    pub error: Failure,
}
