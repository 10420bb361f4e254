//! One tab: its description and whether the debugger is attached.

use serde_json::{Value, json};

use tabwire_cdp::ProtocolError;

use crate::browser::page_command::QueuedCommand;
use crate::browser::pending::Requester;

use crate::link::message::TabDescription;
use crate::target::debuggee::DebuggeeId;

/// The id of the only browser context; clients require one.
pub(crate) const CONTEXT: &str = "tabwire-own-browser-context";

#[derive(Debug)]
pub(crate) struct Tab {
    pub(crate) description: TabDescription,
    pub(crate) state: TabState,
    /// Documents seen while unattached, so that each gets its own loader id.
    pub(crate) loads: u64,
    pub(crate) close_state: CloseState,
    /// Events that arrived before the response to `attach`: method and parameters.
    pub(crate) early_events: Vec<(String, String)>,
}

/// Whether a client is closing the tab.
#[derive(Debug)]
pub(crate) enum CloseState {
    Open,
    /// Commands that fail meanwhile fail because of the close. Their clients get the detach event instead of an error; the
    /// errors are sent only if the tab stays open.
    Closing {
        failed: Vec<(Requester, ProtocolError)>,
    },
}

#[derive(Debug)]
pub(crate) enum TabState {
    /// The debugger is not attached, and Chrome shows no debugging bar.
    Detached,
    /// Commands wait until the debugger is attached.
    Attaching {
        waiting: Vec<QueuedCommand>,
    },
    Attached,
}

impl Tab {
    pub(crate) fn new(description: TabDescription) -> Self {
        Self {
            description,
            state: TabState::Detached,
            loads: 0,
            close_state: CloseState::Open,
            early_events: Vec::new(),
        }
    }

    pub(crate) fn debuggee_id(&self) -> DebuggeeId {
        DebuggeeId::page(self.description.tab)
    }

    pub(crate) fn is_attached(&self) -> bool {
        matches!(self.state, TabState::Attached)
    }

    /// `TargetInfo` of the page.
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

    pub(crate) fn is_detached(&self) -> bool {
        matches!(self.state, TabState::Detached)
    }

    /// A synthetic loader id: the real one is unknown without the debugger.
    pub(crate) fn loader(&self) -> String {
        format!("{}.{}", self.description.target, self.loads)
    }

    /// The main frame. Its id equals the target id, as in Chrome.
    pub(crate) fn main_frame(&self) -> Value {
        let TabDescription { target, url, .. } = &self.description;
        json!({
            "id": target, "loaderId": self.loader(), "url": url, "domainAndRegistry": "", "securityOrigin": "://",
            "mimeType": "text/html", "secureContextType": "InsecureScheme",
            "crossOriginIsolatedContextType": "NotIsolated", "gatedAPIFeatures": [],
        })
    }

    /// The frame tree of an unattached tab: the main frame only.
    pub(crate) fn synthetic_frame_tree(&self) -> Value {
        json!({"frameTree": {"frame": self.main_frame()}})
    }
}
