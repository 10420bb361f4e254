//! The messages between daemon and extension, protocol 1.
//!
//! The extension connects to the websocket `/extension` on the daemon's loopback port. Chrome sets the `Origin` header, and
//! the daemon accepts the extension's origin only. A frame of the daemon is one JSON message. A frame of the extension is
//! one or more, one per line: it batches events ([`messages`]).
//!
//! **Handshake.** Nonces are 32 random bytes in hexadecimal, used once. A proof is HMAC-SHA256 with the pairing key over
//! side, install, extension's nonce and daemon's nonce, joined by line feeds; for a side panel `panel` is the fifth. The key
//! is never sent. A daemon that knows no panels makes another proof, so a panel ends there and is never taken for a browser.
//!
//! | from | frame |
//! |---|---|
//! | extension | `{"hello":{"protocol":1,"version","install","nonce","browser":{"product","name","agent"},"purpose"}}`; `purpose` is `browser` (default) or `panel` |
//! | daemon | `{"challenge":{"nonce","proof"}}`, which the extension verifies before it sends anything else |
//! | extension | `{"proof":"…"}` |
//! | daemon | `{"welcome":{"version"}}`, or `{"rejected":{"code","message"}}` for another protocol; else it closes |
//!
//! **A panel** sends and receives the messages of chats after `welcome`, and none of the following.
//!
//! **Commands**, daemon to extension: `{"id":7,"command":"attach","params":{"tab":12}}`. Each gets one response:
//! `{"id":7,"result":{…}}` or `{"id":7,"error":{"code":"POLICY_DENIED","message":"…","number":-32000}}` (`number` only
//! for CDP errors of Chrome).
//!
//! | command | params | result |
//! |---|---|---|
//! | `probe` | | |
//! | `tabs` | | `tabs`: all shared tabs |
//! | `open` | | the new tab, empty and in the background |
//! | `close`, `activate`, `detach` | `tab` | |
//! | `attach` | `tab` | `frameTree`, as in `Page.getFrameTree` |
//! | `download` | `tab`, `url` of a finished download | `file` |
//! | `cancel_download` | `tab`, `url` of a running download | |
//! | `send` | `tab`, `session` (of a child target), `method`, `params` | the CDP result |
//! | `settle` | `tab`, `session`; or nothing for all tabs | `frameTree`, after all earlier events of the page |
//!
//! Chrome delivers debugger events to extensions later than command results, so the response to `send` can overtake older
//! events. `settle` waits for those events.
//!
//! **Notifications**, daemon to extension, for its popup; each replaces the one before:
//! `{"notify":"state","data":{…}}`, where `data` is a [`Notification`](crate::notification::Notification).
//!
//! **Events**, extension to daemon: `{"event":"tab","data":{…}}`.
//!
//! | event | data |
//! |---|---|
//! | `state` | first on every connection, and when the user changes what is shared: `run`, `mode`, `paused`, `pause`
//! (message), `tabs`, `attached` |
//! | `tab`, `tab_removed` | the current description of a tab; `tab` that was closed or unshared |
//! | `detached` | `tab`, `reason`: the debugger is detached |
//! | `reattached` | `tab`, `frameTree`: Chrome detached the debugger and the extension attached it again |
//! | `cdp` | no `data`; beside `event`: `tab`, `session`, `method`, `params` |
//! | `user` | a click: `type` is `answer` (`approval`, `answer`) or `revoke` (`grant`); or `show` (`urls` of shared tabs
//! in the popup) |
//! | `heartbeat` | `dropped_events`: total count; keeps Chrome from stopping the worker |

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The protocol version.
pub const PROTOCOL: u32 = 1;

/// Chrome's tab id; not reused while the browser runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChromeTab(pub i64);

/// The browser behind an extension.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserInfo {
    /// `Chrome/156.0.0.0`.
    pub product: String,
    /// Its brand.
    pub name: String,
    /// Its user agent.
    pub agent: String,
}

/// What a connection of the extension is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// The tabs of its browser.
    #[default]
    Browser,
    /// A side panel with chats.
    Panel,
}

/// The extension's first message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// Its protocol version.
    pub protocol: u32,
    /// Its version.
    pub version: String,
    /// Random id of the installation, one per browser profile.
    pub install: String,
    /// Its nonce.
    pub nonce: String,
    /// Its browser.
    pub browser: BrowserInfo,
    /// What the connection is for.
    #[serde(default)]
    pub purpose: Purpose,
}

/// The daemon's response to `hello`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Challenge {
    /// The daemon's nonce.
    pub nonce: String,
    /// The daemon's proof of the key.
    pub proof: String,
}

/// The end of a successful handshake.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Welcome {
    /// The daemon's version.
    pub version: String,
}

/// The end of a handshake with an incompatible extension.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rejected {
    /// An `ErrorCode`.
    pub code: String,
    /// Text for the user.
    pub message: String,
}

/// One frame of the handshake.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HandshakeFrame {
    /// From the extension.
    Hello(Hello),
    /// From the daemon.
    Challenge(Challenge),
    /// The extension's proof of the key.
    Proof(String),
    /// The daemon accepts.
    Welcome(Welcome),
    /// The daemon rejects.
    Rejected(Rejected),
}

/// A tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TabDescription {
    /// Chrome's tab id.
    pub tab: ChromeTab,
    /// Its target id, which is also the id of its main frame.
    pub target: String,
    /// Its URL.
    pub url: String,
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// The tab that opened it.
    #[serde(default)]
    pub opener: Option<ChromeTab>,
    /// Whether it was opened for an agent. Tabs that the user opened are never closed.
    #[serde(default)]
    pub agent: bool,
    /// Whether Chrome keeps extensions out of its page.
    #[serde(default)]
    pub restricted: bool,
    /// Whether its page has finished loading.
    #[serde(default)]
    pub loaded: bool,
}

/// The state of the browser, sent first on every connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserState {
    /// Random id of this run of the browser.
    pub run: String,
    /// Which tabs are shared: `shared` or `all`.
    #[serde(default)]
    pub mode: String,
    /// Whether the user has paused automation.
    #[serde(default)]
    pub paused: bool,
    /// The message of the pause, for clients.
    #[serde(default)]
    pub pause: Option<String>,
    /// All shared tabs.
    #[serde(default)]
    pub tabs: Vec<TabDescription>,
    /// Tabs with the debugger attached.
    #[serde(default)]
    pub attached: Vec<ChromeTab>,
}

/// The error of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtensionError {
    /// An `ErrorCode`.
    pub code: String,
    /// Text for the client.
    pub message: String,
    /// The CDP error code, when Chrome reported the error.
    #[serde(default)]
    pub number: Option<i64>,
}

/// Any message of the extension after the handshake.
#[derive(Debug, Deserialize)]
pub(crate) struct Incoming<'a> {
    pub(crate) id: Option<u64>,
    #[serde(borrow)]
    pub(crate) result: Option<&'a RawValue>,
    pub(crate) error: Option<ExtensionError>,
    pub(crate) event: Option<String>,
    #[serde(borrow)]
    pub(crate) data: Option<&'a RawValue>,
    pub(crate) tab: Option<ChromeTab>,
    pub(crate) session: Option<String>,
    pub(crate) method: Option<String>,
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
}

/// A command for an extension.
#[derive(Debug, Serialize)]
pub(crate) struct Outgoing<'a, T> {
    pub(crate) id: u64,
    pub(crate) command: &'a str,
    pub(crate) params: T,
}

/// Parameters of `attach`, `detach`, `close` and `activate`.
#[derive(Debug, Serialize)]
pub(crate) struct TabParams {
    pub(crate) tab: ChromeTab,
}

/// Parameters of `settle`.
#[derive(Debug, Serialize)]
pub(crate) struct SettleParams<'a> {
    pub(crate) tab: ChromeTab,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<&'a str>,
}

/// Parameters of `send`.
#[derive(Debug, Serialize)]
pub(crate) struct SendParams<'a> {
    pub(crate) tab: ChromeTab,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<&'a str>,
    pub(crate) method: &'a str,
    pub(crate) params: &'a RawValue,
}

/// The messages in a frame of the extension, one per line.
pub fn messages(frame: &[u8]) -> impl Iterator<Item = &[u8]> {
    frame.split(|byte| *byte == b'\n')
}

/// Reads a `state` event; none for any other message.
#[must_use]
pub fn find_browser_state(frame: &[u8]) -> Option<BrowserState> {
    let incoming: Incoming<'_> = serde_json::from_slice(frame).ok()?;
    if incoming.event.as_deref() != Some("state") {
        return None;
    }
    serde_json::from_str(incoming.data?.get()).ok()
}
