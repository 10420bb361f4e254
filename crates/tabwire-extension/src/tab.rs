//! One tab of the user's browser: what is known of it, and whether the debugger is on it.

use serde_json::{Value, json};

use crate::debuggee::DebuggeeId;
use crate::link_message::TabDescription;
use crate::page_command::Waiting;

/// The one cookie jar there is; stock clients insist on a name for it.
pub(crate) const CONTEXT: &str = "tabwire-own-browser-context";

#[derive(Debug)]
pub(crate) struct Tab {
    pub(crate) description: TabDescription,
    pub(crate) state: TabState,
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
        Self { description, state: TabState::Idle }
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

    /// The frame tree of a tab that nobody looked into yet: its main frame, whose id is the target's.
    pub(crate) fn shallow_tree(&self) -> Value {
        let TabDescription { target, url, .. } = &self.description;
        json!({"frameTree": {"frame": {
            "id": target, "loaderId": target, "url": url, "domainAndRegistry": "", "securityOrigin": "://",
            "mimeType": "text/html", "secureContextType": "InsecureScheme", "crossOriginIsolatedContextType": "NotIsolated",
            "gatedAPIFeatures": [],
        }}})
    }
}
