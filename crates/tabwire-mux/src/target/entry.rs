//! One target as the mux knows it.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::Value;
use tabwire_api::{BrowserContextId, CdpSessionId, ClientId, PartitionId, TargetId};

use crate::guard::page_frames::PageFrames;
use crate::guard::remote_addresses::RemoteAddresses;

/// Whose a target is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Not known yet: it may come from one of these unanswered commands. It is decided by what they say of
    /// `root`, which is the target itself or the page that opened it.
    Undecided { commands: Vec<u64>, root: TargetId },
    /// A tab target whose page has not been seen yet.
    Unlinked,
    /// A frame or worker in a page that is not known; a client may reach it through that page.
    Nested,
    /// No client's. `released` is the position of its release among joins and releases; 0 means it never had an
    /// owner. It stays in the partition of its last owner.
    Unowned { released: u64, partition: Option<PartitionId> },
    /// A client caused it, and its partition is unknown: no client sees it.
    Unknown,
    /// One client's.
    Client(ClientId),
}

/// Nobody's, and never anybody's.
pub(crate) const UNOWNED: Owner = Owner::Unowned { released: 0, partition: None };

/// A target that is paused until its clients let it run.
#[derive(Clone, Debug)]
pub(crate) struct Paused {
    /// The mux's CDP session on it, through which it is let run.
    pub(crate) session: CdpSessionId,
    /// Clients that were told and have not let it run.
    pub(crate) waiters: BTreeSet<ClientId>,
    pub(crate) until: Instant,
}

/// Whether a target's process answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Health {
    /// As far as we know.
    #[default]
    Alive,
    /// It has crashed and does not respond until it is loaded again.
    Crashed {
        /// Whether clients' page settings are to be sent again once it does.
        owes_settings: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct TargetEntry {
    pub(crate) id: TargetId,
    /// The browser's `TargetInfo` as last told.
    pub(crate) info: Value,
    /// Where its page told it is, until the browser tells.
    pub(crate) page_url: Option<String>,
    /// Which addresses its documents came from, when that is followed.
    pub(crate) addresses: RemoteAddresses,
    /// Its frames, when somebody is to be judged by them.
    pub(crate) frames: PageFrames,
    /// Frames that clients sent somewhere; where they are redirected to is judged as for pages.
    pub(crate) navigated_frames: BTreeSet<String>,
    /// The mux's CDP session on it on which its documents are held until it is known that it may have them.
    pub(crate) paused_on: Option<CdpSessionId>,
    /// Whether it was there before the link.
    pub(crate) predates_link: bool,
    pub(crate) owner: Owner,
    /// For a tab: the page in it; for a page: its tab.
    pub(crate) counterpart: Option<TargetId>,
    pub(crate) paused: Option<Paused>,
    pub(crate) health: Health,
    /// Browser-level CDP sessions that were told of it by discovery.
    pub(crate) discoverers: BTreeSet<CdpSessionId>,
    /// Browser-level CDP sessions it was offered to by auto-attach.
    pub(crate) offered: BTreeSet<CdpSessionId>,
}

impl TargetEntry {
    pub(crate) fn target_type(&self) -> &str {
        self.info.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.info.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    pub(crate) fn context(&self) -> Option<BrowserContextId> {
        self.context_text().map(BrowserContextId::new)
    }

    pub(crate) fn context_text(&self) -> Option<&str> {
        self.text("browserContextId")
    }

    /// Whether it is a page of the origin that a worker serves.
    pub(crate) fn is_served_by(&self, worker: &Self) -> bool {
        self.target_type() == "page"
            && self.context_text() == worker.context_text()
            && self.origin().is_some()
            && self.origin() == worker.origin()
    }

    pub(crate) fn is_tab(&self) -> bool {
        self.target_type() == "tab"
    }

    /// Workers that belong to an origin rather than to a page.
    pub(crate) fn is_shared_worker(&self) -> bool {
        matches!(self.target_type(), "service_worker" | "shared_worker")
    }

    /// What stands in a tab of its own.
    pub(crate) fn is_tab_content(&self) -> bool {
        let own = matches!(
            self.target_type(),
            "page" | "browser_ui" | "background_page" | "app" | "webview" | "other"
        );
        own && self.text("subtype").is_none()
    }

    /// Frames, workers and prerendered pages: parts of another page.
    pub(crate) fn is_nested(&self) -> bool {
        !self.is_tab() && !self.is_shared_worker() && !self.is_tab_content()
    }

    /// Whether it has no frames: workers.
    pub(crate) fn is_frameless(&self) -> bool {
        matches!(
            self.target_type(),
            "worker"
                | "service_worker"
                | "shared_worker"
                | "worklet"
                | "shared_storage_worklet"
                | "auction_worklet"
        )
    }

    /// Whether its owner is settled.
    pub(crate) fn has_owner(&self) -> bool {
        matches!(self.owner, Owner::Unowned { .. } | Owner::Client(_) | Owner::Unknown)
    }

    /// Whether nothing more needs to be known before it may run and be shown.
    pub(crate) fn is_resolved(&self) -> bool {
        !matches!(self.owner, Owner::Undecided { .. } | Owner::Unlinked)
    }

    /// Scheme, host and port of its address.
    pub(crate) fn origin(&self) -> Option<&str> {
        let url = self.text("url")?;
        let authority = url.find("://")? + 3;
        let end = url.get(authority..)?.find('/').map_or(url.len(), |at| authority + at);
        url.get(..end)
    }
}
