//! Requests and answers of the daemon's API, as the command line and other front ends speak it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Failure, SessionName, TabId};

/// The header in which a caller says its version.
pub const VERSION_HEADER: &str = "x-tabwire-version";

/// The made-up host name requests on the unix socket carry.
pub const SOCKET_HOST: &str = "tabwire.local";

/// How a session gets its browser; the defaults launch a headless one with a throw-away profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionOptions {
    /// Which browser: a kind, a channel or an executable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    /// With a window.
    #[serde(skip_serializing_if = "is_false")]
    pub headed: bool,
    /// A profile's name, or a directory when it has a slash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Attach to this browser in place of launching one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdp: Option<String>,
    /// Headers for a remote browser, `Name: value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// More flags for the browser.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub browser_arguments: Vec<String>,
    /// Lets flags through that weaken the browser.
    #[serde(skip_serializing_if = "is_false")]
    pub allow_dangerous_arguments: bool,
    /// A proxy for all traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Serve one CDP client at a time; a second one is refused.
    #[serde(skip_serializing_if = "is_false")]
    pub single_client: bool,
    /// Window width and height.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<(u16, u16)>,
}

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
    /// How the session gets its browser if it has none.
    pub options: SessionOptions,
    /// The action's own parameters.
    pub params: Value,
    /// The tab it is for; the session's current one if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Whether an action that acts also tells what changed in the snapshot.
    #[serde(skip_serializing_if = "is_false")]
    pub snapshot: bool,
    /// Whether evidence of the action is kept, even if the session keeps none.
    #[serde(skip_serializing_if = "is_false")]
    pub capture: bool,
    /// Whether the answer is wanted as text for people and models, in place of data.
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
    /// What the caller calls itself, for the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// What an action answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionAnswer {
    /// The session it ran in.
    pub session: SessionName,
    /// The action's own result; absent when text was asked for.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// The result as text, when that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What the user should know besides: a browser was started anew, the sandbox is off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// Asks for an address that CDP clients can connect to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CdpUrlRequest {
    /// Which session.
    pub session: SessionName,
    /// How the session gets its browser if it has none.
    pub options: SessionOptions,
    /// Also show targets that belong to other clients.
    pub share_all: bool,
}

/// An address that CDP clients can connect to. It is a secret: who has it drives the session's browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CdpUrlAnswer {
    /// For clients that take a websocket address.
    pub websocket: String,
    /// For clients that discover over HTTP and keep the path.
    pub http: String,
    /// What the user should know besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// Whether a CDP client would be served now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSlotAnswer {
    /// `multi` or `single-active`.
    pub mode: String,
    /// Whether a client would be refused now.
    pub busy: bool,
}

/// The daemon and what it serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusAnswer {
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
}

/// One session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStatus {
    /// Its name.
    pub name: SessionName,
    /// `active`, or why its browser is gone.
    pub state: String,
    /// `launched` or `attached`.
    pub ownership: String,
    /// How its browser is reached.
    pub upstream: String,
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
    /// Open tabs the session sees.
    pub tabs: usize,
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

/// A failed request as it travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorAnswer {
    /// What went wrong.
    pub error: Failure,
}
