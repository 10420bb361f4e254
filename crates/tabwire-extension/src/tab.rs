//! One tab of the user's browser: what is known of it, and whether the debugger is on it.

use serde_json::{Value, json};

use crate::debuggee::DebuggeeId;
use crate::link_message::TabDescription;
use crate::page_command::Waiting;
use crate::pending::Asker;
use crate::reply::ProtocolError;

/// The one cookie jar there is; stock clients insist on a name for it.
pub(crate) const CONTEXT: &str = "tabwire-own-browser-context";

#[derive(Debug)]
pub(crate) struct Tab {
    pub(crate) description: TabDescription,
    pub(crate) state: TabState,
    /// Pages that were seen to come while nobody was attached, so that each has a name of its own.
    pub(crate) loads: u64,
    pub(crate) end: End,
    /// Events that came before the debugger was said to be on: method and parameters.
    pub(crate) early: Vec<(String, String)>,
}

/// Whether a tab is about to go.
#[derive(Debug)]
pub(crate) enum End {
    /// Not that anybody has asked for it.
    NotAsked,
    /// A client has asked for it. Commands that fail meanwhile fail for that, and whoever sent them hears that the
    /// session is gone; they are answered only if the tab stays.
    Asked { unanswered: Vec<(Asker, ProtocolError)> },
}

#[derive(Debug)]
pub(crate) enum TabState {
    /// Untouched: nothing was attached, and the user sees no bar.
    Idle,
    /// Commands wait until the debugger is on.
    Attaching { waiting: Vec<Waiting> },
    /// The debugger is on.
    Attached,
}

impl Tab {
    pub(crate) fn new(description: TabDescription) -> Self {
        Self { description, state: TabState::Idle, loads: 0, end: End::NotAsked, early: Vec::new() }
    }

    pub(crate) fn place(&self) -> DebuggeeId {
        DebuggeeId { tab: self.description.tab, child: None }
    }

    pub(crate) fn is_attached(&self) -> bool {
        matches!(self.state, TabState::Attached)
    }

    /// `TargetInfo`, as a browser would give it.
    pub(crate) fn info(&self, attached: bool, opener: Option<&str>) -> Value {
        let mut info = json!({
            "targetId": self.description.target,
            "type": "page",
            "title": self.description.title,
            "url": self.description.url,
            "attached": attached,
            "canAccessOpener": false,
            "browserContextId": CONTEXT,
        });
        if let (Some(opener), Some(members)) = (opener, info.as_object_mut()) {
            members.insert("openerId".to_owned(), Value::from(opener));
        }
        info
    }

    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.state, TabState::Idle)
    }

    /// What stands for the document's own id while it is not known.
    pub(crate) fn loader(&self) -> String {
        format!("{}.{}", self.description.target, self.loads)
    }

    /// The main frame, whose id is the target's.
    pub(crate) fn main_frame(&self) -> Value {
        let TabDescription { target, url, .. } = &self.description;
        json!({
            "id": target, "loaderId": self.loader(), "url": url, "domainAndRegistry": "", "securityOrigin": "://",
            "mimeType": "text/html", "secureContextType": "InsecureScheme",
            "crossOriginIsolatedContextType": "NotIsolated", "gatedAPIFeatures": [],
        })
    }

    /// The frame tree of a tab that nobody looked into yet: its main frame.
    pub(crate) fn shallow_tree(&self) -> Value {
        json!({"frameTree": {"frame": self.main_frame()}})
    }
}
