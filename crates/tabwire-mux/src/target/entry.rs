//! One target in the mux's table.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde_json::Value;
use tabwire_api::{BrowserContextId, CdpSessionId, ClientId, PartitionId, TargetId};

use crate::guard::page_frames::PageFrames;
use crate::guard::remote_addresses::RemoteAddresses;

/// The owner of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Not known yet: one of these pending commands may have created it. Their results decide, for `root`,
    /// which is the target itself or the page that opened it.
    Undecided { commands: Vec<u64>, root: TargetId },
    /// A tab target whose page has not been seen yet.
    Unlinked,
    /// A frame or worker of an unknown page; a client may reach it through that page.
    Nested,
    /// No client's. `is_users` means that no client ever owned it and the session did not open it: the user did, or
    /// it was there before any client. It stays in the partition of its last owner.
    Unowned { is_users: bool, partition: Option<PartitionId> },
    /// A client caused it, and its partition is unknown: no client sees it.
    Unknown,
    /// One client's.
    Client(ClientId),
}

/// Never had an owner, and in no partition.
pub(crate) const UNOWNED: Owner = Owner::Unowned { is_users: true, partition: None };

/// A target that is paused until its clients resume it.
#[derive(Clone, Debug)]
pub(crate) struct PausedTarget {
    /// The first CDP session on it, through which it is resumed.
    pub(crate) session: CdpSessionId,
    /// `TargetInfo` of the event that announced this session.
    pub(crate) info: Value,
    /// Browser-level sessions of clients that it was announced to and that have not resumed it.
    pub(crate) waiters: BTreeMap<CdpSessionId, ClientId>,
    /// When the mux resumes it for them.
    pub(crate) until: Instant,
}

/// Whether a target's process responds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Health {
    /// No crash was reported.
    #[default]
    Alive,
    /// It has crashed and does not respond until it is loaded again.
    Crashed {
        /// Whether clients' page settings are repeated when it is loaded again.
        owes_settings: bool,
        /// When the pending commands of its sessions fail even without an event on the session.
        fail_at: Option<Instant>,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct TargetEntry {
    pub(crate) id: TargetId,
    /// The browser's latest `TargetInfo`.
    pub(crate) info: Value,
    /// The URL that the page itself reported, until the browser's `TargetInfo` follows.
    pub(crate) page_url: Option<String>,
    /// The remote addresses of its documents, if a guard needs them.
    pub(crate) addresses: RemoteAddresses,
    /// Its frames, if a guard needs them.
    pub(crate) frames: PageFrames,
    /// Frames that clients navigated; their redirects are checked like those of pages.
    pub(crate) navigated_frames: BTreeSet<String>,
    /// The mux's CDP session on it that pauses its document requests until a guard allows them.
    pub(crate) paused_on: Option<CdpSessionId>,
    /// Whether it existed before the link.
    pub(crate) predates_link: bool,
    pub(crate) owner: Owner,
    /// For a tab: the page in it; for a page: its tab.
    pub(crate) counterpart: Option<TargetId>,
    pub(crate) paused: Option<PausedTarget>,
    pub(crate) health: Health,
    /// Whether the mux opened it as a client's first page and no client has used it: it is closed when its client
    /// leaves.
    pub(crate) is_unused: bool,
    /// Browser-level CDP sessions that have received it by discovery.
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

    /// Targets that fill a tab.
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

    /// Whether it has no frames, as workers.
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

    /// Whether its owner is known.
    pub(crate) fn has_owner(&self) -> bool {
        matches!(self.owner, Owner::Unowned { .. } | Owner::Client(_) | Owner::Unknown)
    }

    /// Whether enough is known to resume it and announce it to clients.
    pub(crate) fn is_resolved(&self) -> bool {
        !matches!(self.owner, Owner::Undecided { .. } | Owner::Unlinked)
    }

    /// Scheme, host and port of its URL.
    pub(crate) fn origin(&self) -> Option<&str> {
        let url = self.text("url")?;
        let authority = url.find("://")? + 3;
        let end = url.get(authority..)?.find('/').map_or(url.len(), |at| authority + at);
        url.get(..end)
    }
}
