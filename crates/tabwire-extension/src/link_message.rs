//! The wire between daemon and extension, protocol 1. Types only: knows nothing of sockets or of what is done.
//!
//! The extension dials the websocket `/extension` on the daemon's loopback port. Chrome puts its Origin on the request,
//! and exactly one Origin is let in. Every frame is one JSON text, or several of the extension's, a line each: events
//! of a flood come together ([`messages`]).
//!
//! **Greeting.** Nonces are 32 random bytes in hexadecimal and are used once; a proof is HMAC-SHA256 with the pairing
//! key over side, install, extension's nonce and daemon's nonce, joined by line feeds. The key itself is never sent.
//!
//! | who | frame |
//! |---|---|
//! | extension | `{"hello":{"protocol":1,"version","install","nonce","browser":{"product","name","agent"}}}` |
//! | daemon | `{"challenge":{"nonce","proof"}}`, which the extension checks before it says anything more |
//! | extension | `{"proof":"…"}` |
//! | daemon | `{"welcome":{"version"}}`, `{"goodbye":{"code","message"}}` for another protocol; or it closes |
//!
//! **Commands**, daemon to extension: `{"id":7,"do":"attach","with":{"tab":12}}`. Each gets one answer:
//! `{"id":7,"ok":{…}}` or `{"id":7,"failed":{"code":"POLICY_DENIED","message":"…","number":-32000}}` (`number` only
//! for errors of the browser itself).
//!
//! | do | with | ok |
//! |---|---|---|
//! | `probe` | | |
//! | `tabs` | | `tabs`: all that may be known |
//! | `open` | | the new tab; it is empty and in the background |
//! | `close`, `activate`, `detach` | `tab` | |
//! | `attach` | `tab` | `frameTree`, as `Page.getFrameTree` gives it |
//! | `download` | `tab`, `url`: one that has just finished there | `file` |
//! | `cancel_download` | `tab`, `url`: one that is under way there | |
//! | `send` | `tab`, `session` (of a frame or worker), `method`, `params` | the browser's result |
//! | `settle` | `tab`, `session`; or nothing | `frameTree`, after all that the page had to tell before; or all pages |
//!
//! Chrome hands events to extensions on a slower way than answers, so the answer to `send` may come before events that
//! are older than it. Who has to know them first asks to `settle`.
//!
//! **News**, daemon to extension, for its user to see; the newest takes the place of the one before:
//! `{"tell":"news","with":{…}}` with `approvals` (questions that wait), `decided`, `grants`, `policy`, `drivers` (who
//! is attached to which target) and `refused`.
//!
//! **Events**, extension to daemon.
//!
//! | event | with |
//! |---|---|
//! | `present` | first on every line, and when the user changed what is shared: `run`, `mode`, `paused`, `pause` (why),
//! `tabs`, `attached` |
//! | `tab`, `tab_gone` | a tab as it stands now; that one is gone or not shared any more |
//! | `detached` | `tab`, `reason`: the debugger is off |
//! | `attached_again` | `tab`, `frameTree`: the debugger was off without a reason that counts, and is on again |
//! | `cdp` | not in `with` but beside it: `tab`, `session`, `method`, `params` |
//! | `user` | what the user said there: `says` is `answer` (`question`, `answer`) or `revoke` (`grant`) |
//! | `pulse` | `left_out`: how many events were; a sign of life, and what keeps the worker alive |

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The protocol spoken here.
pub const PROTOCOL: u32 = 1;

/// A tab as Chrome numbers it; not reused while the browser runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChromeTab(pub i64);

/// The browser behind an extension.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserFacts {
    /// `Chrome/156.0.0.0`.
    pub product: String,
    /// Its brand.
    pub name: String,
    /// Its user agent.
    pub agent: String,
}

/// The extension's first words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// What it speaks.
    pub protocol: u32,
    /// Its version.
    pub version: String,
    /// Which browser profile it is installed in.
    pub install: String,
    /// Its nonce.
    pub nonce: String,
    /// The browser it is in.
    pub browser: BrowserFacts,
}

/// The daemon's answer to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Challenge {
    /// The daemon's nonce.
    pub nonce: String,
    /// That it knows the key.
    pub proof: String,
}

/// The daemon's last word of the greeting.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Welcome {
    /// The daemon's version.
    pub version: String,
}

/// The daemon's last word to an extension that it cannot talk to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Goodbye {
    /// A stable code, as our own errors have.
    pub code: String,
    /// What the user is to do.
    pub message: String,
}

/// One frame of the greeting, from either side.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GreetingFrame {
    /// The extension begins.
    Hello(Hello),
    /// The daemon shows that it knows the key.
    Challenge(Challenge),
    /// The extension shows it too.
    Proof(String),
    /// The daemon lets it in.
    Welcome(Welcome),
    /// The daemon says why not.
    Goodbye(Goodbye),
}

/// A tab as the extension tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TabDescription {
    /// Chrome's number.
    pub tab: ChromeTab,
    /// Its target, which is also its main frame.
    pub target: String,
    /// Its address.
    pub url: String,
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// The tab that opened it.
    #[serde(default)]
    pub opener: Option<ChromeTab>,
    /// Whether it was opened for us; the user's own are never closed.
    #[serde(default)]
    pub agent: bool,
    /// Whether Chrome lets no extension into it.
    #[serde(default)]
    pub restricted: bool,
    /// Whether its page is there as a whole.
    #[serde(default)]
    pub loaded: bool,
}

/// How the browser stands, told first on every line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Present {
    /// Tells this run of the browser from every other.
    pub run: String,
    /// Which tabs are shared: `shared` or `all`.
    #[serde(default)]
    pub mode: String,
    /// Whether the user has paused everything.
    #[serde(default)]
    pub paused: bool,
    /// Why, in the words that whoever asks is told.
    #[serde(default)]
    pub pause: Option<String>,
    /// All tabs that may be known.
    #[serde(default)]
    pub tabs: Vec<TabDescription>,
    /// Tabs that the extension's debugger is attached to.
    #[serde(default)]
    pub attached: Vec<ChromeTab>,
}

/// Why a command was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkFailure {
    /// A stable code, as our own errors have.
    pub code: String,
    /// What happened.
    pub message: String,
    /// The browser's own number, when it is the browser's own error.
    #[serde(default)]
    pub number: Option<i64>,
}

/// Anything an extension sends after the greeting.
#[derive(Debug, Deserialize)]
pub(crate) struct Incoming<'a> {
    pub(crate) id: Option<u64>,
    #[serde(borrow)]
    pub(crate) ok: Option<&'a RawValue>,
    pub(crate) failed: Option<LinkFailure>,
    pub(crate) event: Option<String>,
    #[serde(borrow)]
    pub(crate) with: Option<&'a RawValue>,
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
    #[serde(rename = "do")]
    pub(crate) name: &'a str,
    pub(crate) with: T,
}

/// What `attach`, `detach`, `close` and `activate` are about.
#[derive(Debug, Serialize)]
pub(crate) struct WithTab {
    pub(crate) tab: ChromeTab,
}

/// What `settle` is about.
#[derive(Debug, Serialize)]
pub(crate) struct WithPlace<'a> {
    pub(crate) tab: ChromeTab,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<&'a str>,
}

/// What `send` is about.
#[derive(Debug, Serialize)]
pub(crate) struct WithCommand<'a> {
    pub(crate) tab: ChromeTab,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<&'a str>,
    pub(crate) method: &'a str,
    pub(crate) params: &'a RawValue,
}

/// The messages in a frame of an extension's; none of them has a line break in it.
pub fn messages(frame: &[u8]) -> impl Iterator<Item = &[u8]> {
    frame.split(|byte| *byte == b'\n')
}

/// Finds what a line begins with: how the browser stands.
#[must_use]
pub fn find_present(frame: &[u8]) -> Option<Present> {
    let incoming: Incoming<'_> = serde_json::from_slice(frame).ok()?;
    if incoming.event.as_deref() != Some("present") {
        return None;
    }
    serde_json::from_str(incoming.with?.get()).ok()
}
