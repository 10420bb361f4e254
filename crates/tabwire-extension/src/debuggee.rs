//! What the browser debugs for us: a tab, or a frame or worker below it with a session of its own.
//!
//! The browser has one session on it, whatever number of clients there is, so what it told once is kept here for
//! those who come later.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tabwire_wire::CdpSessionId;

use crate::link_message::ChromeTab;

/// Names a debuggee: a tab, and the browser's own session for a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DebuggeeId {
    pub(crate) tab: ChromeTab,
    pub(crate) child: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Debuggee {
    /// Worlds of scripts by number, each as it was announced.
    pub(crate) contexts: BTreeMap<i64, String>,
    /// Whether the browser tells of worlds.
    pub(crate) tells_worlds: bool,
    /// Frames and workers below it, by the browser's own session.
    pub(crate) children: BTreeMap<String, Child>,
    /// Whether the browser attaches to new ones, and holds them.
    pub(crate) auto_attach: Option<AutoAttach>,
}

/// Attaching to what comes up below a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AutoAttach {
    pub(crate) wait: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Child {
    /// `TargetInfo` as the browser gave it.
    pub(crate) info: Value,
    /// Cdp sessions that were told it waits for them and have not let it run.
    pub(crate) waiters: BTreeSet<CdpSessionId>,
    /// Cdp sessions whose clients have not taken it up as a whole; the last thing they say then is that it may run.
    pub(crate) newcomers: BTreeSet<CdpSessionId>,
}
