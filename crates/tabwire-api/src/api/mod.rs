//! Requests and responses of the daemon's API.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallNumber, ClientName, Failure, ProjectKey, SessionKey, SessionName, TabId};

mod chrome;
mod execute;
mod mcp;
mod policy_profile;
mod session_options;
mod session_status;

pub use chrome::{
    CHROME_UPGRADE, ChromeEnd, ChromeEndReason, ChromeMessage, ChromeOpened, ChromeOpening, ShimBrowser,
    WindowsBrowserRequest, WindowsPort,
};
pub use execute::{ExecuteLine, ExecuteRequest, ExecuteResult};
pub use mcp::{MCP_UPGRADE, McpOpening, McpTransport, ResultForm};
pub use policy_profile::PolicyProfile;
pub use session_options::{Difference, DisplayVariables, Isolation, SessionOptions};
pub use session_status::{RemoteBrowser, SessionStatus, SessionTab};

/// The header with the caller's version.
pub const VERSION_HEADER: &str = "x-tabwire-version";

/// The `Host` header of requests on the unix socket.
pub const SOCKET_HOST: &str = "tabwire.local";

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A request for one action on a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ActionRequest {
    /// The session's name.
    pub session: SessionName,
    /// The session's project.
    #[serde(skip_serializing_if = "ProjectKey::is_global")]
    pub project: ProjectKey,
    /// Session options of the caller; must match the running browser.
    #[serde(skip_serializing_if = "SessionOptions::is_empty")]
    pub options: SessionOptions,
    /// Default session options. A running session with others reports the difference.
    #[serde(skip_serializing_if = "SessionOptions::is_empty")]
    pub defaults: SessionOptions,
    /// Whether a session that runs with other options is restarted.
    #[serde(skip_serializing_if = "is_false")]
    pub restart: bool,
    /// Sets the base URL for relative URLs of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The default base URL if neither the caller nor the session has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_base_url: Option<String>,
    /// The client, for leases and the audit log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientName>,
    /// The id of the MCP call, if its client can be prompted during the call. Never read from a request.
    #[serde(skip)]
    pub call: Option<CallNumber>,
    /// Whether an action returns without waiting for its effects, for scripts. Never read from a request.
    #[serde(skip)]
    pub unsettled: bool,
    /// The run of a script that makes the call, for the audit log. Never read from a request.
    #[serde(skip)]
    pub run: Option<String>,
    /// The chat whose agent makes the call. Never read from a request.
    #[serde(skip)]
    pub chat: Option<String>,
    /// Whether the action leases its tab to the client.
    #[serde(skip_serializing_if = "is_false")]
    pub pin_tab: bool,
    /// The action's own parameters.
    pub params: Value,
    /// The tab. Default: the session's current tab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// The tab by its number, or by a part of its title or URL, instead of `tab`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tab_name: Option<String>,
    /// Whether the result of an action includes the changes of the snapshot.
    #[serde(skip_serializing_if = "is_false")]
    pub snapshot: bool,
    /// Whether the action is captured (snapshot and screenshot), even if the session captures none.
    #[serde(skip_serializing_if = "is_false")]
    pub capture: bool,
    /// Whether the result is text instead of data.
    #[serde(skip_serializing_if = "is_false")]
    pub text: bool,
    /// With `text`: whether the text is only the value, for scripts.
    #[serde(skip_serializing_if = "is_false")]
    pub raw: bool,
    /// The timeout in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Directories in which files may be read and written. Default: the working directory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<PathBuf>,
    /// The base directory of relative paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<PathBuf>,
}

impl ActionRequest {
    /// The session's key.
    #[must_use]
    pub fn key(&self) -> SessionKey {
        SessionKey::new(self.project.clone(), self.session.clone())
    }
}

/// The response to an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionResponse {
    /// The session.
    pub session: SessionName,
    /// The session's project.
    #[serde(default, skip_serializing_if = "ProjectKey::is_global")]
    pub project: ProjectKey,
    /// The tab of the action, or the current tab after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// The base URL for relative URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Whether the session's browser was gone and was restarted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub recovered: bool,
    /// The restored and lost state after a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// The action's result; absent when `text` is requested.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// The result as text, when requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Notices for the user: the browser was restarted, the sandbox is off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// The restored and lost state after a restart of the browser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// Why the browser was gone.
    pub reason: String,
    /// Reopened tabs. Text typed into their pages is lost.
    pub tabs: Vec<RecoveredTab>,
    /// Whether saved cookies and local storage were restored.
    pub state_restored: bool,
    /// Lost state, one sentence each.
    pub lost: Vec<String>,
}

/// A reopened tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveredTab {
    /// Its previous id, now stale.
    pub was: TabId,
    /// Its new id.
    pub tab: TabId,
    /// Its URL.
    pub url: String,
}

/// Requests a CDP endpoint URL.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CdpUrlRequest {
    /// The session's name.
    pub session: SessionName,
    /// The session's project.
    pub project: ProjectKey,
    /// Session options of the caller.
    pub options: SessionOptions,
    /// Default session options.
    pub defaults: SessionOptions,
    /// Whether a session that runs with other options is restarted.
    pub restart: bool,
    /// Also show targets that belong to other clients.
    pub share_all: bool,
    /// Also show the session's tabs, the current one first.
    pub join: bool,
    /// Opens or closes a port without a secret.
    pub port: Option<CdpPortRequest>,
    /// Whether the client may use a Firefox, whose emulation is tried with few clients only.
    pub experimental: bool,
}

/// What to do with the session's port that needs no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CdpPortRequest {
    /// Open it.
    Open {
        /// Its number; 0 means any free one.
        number: u16,
        /// Whether the user's configuration allows it in guarded sessions.
        #[serde(default)]
        allow_guarded: bool,
    },
    /// Close it.
    Close,
}

impl CdpUrlRequest {
    /// The session's key.
    #[must_use]
    pub fn key(&self) -> SessionKey {
        SessionKey::new(self.project.clone(), self.session.clone())
    }
}

/// A CDP endpoint URL. It is a secret: it gives full control of the session's browser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CdpUrlResponse {
    /// For clients that accept a websocket URL.
    pub websocket: String,
    /// For clients that use HTTP discovery and keep the URL's path.
    pub http: String,
    /// The open port, if the URLs have no secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_port: Option<u16>,
    /// Notices for the user.
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
    /// When to poll again while busy. Random, so that clients do not poll at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_again_ms: Option<u64>,
}

/// The status of the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusResponse {
    /// Its version.
    pub version: String,
    /// Its process id.
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
    /// Browsers that Chrome shims use or have started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shim_browsers: Vec<ShimBrowser>,
}

/// The JSON body of a failed request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorResponse {
    /// The error.
    pub error: Failure,
}
