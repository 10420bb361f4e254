//! One party that sends CDP: its options, where it stands, what it waits for.

use std::time::Instant;

use tabwire_wire::{CdpSessionId, RealmId};

use crate::backlog::Backlog;
use crate::filter::TargetFilter;
use crate::guard::SharedGuard;
use crate::session_table::AutoAttach;

/// Which targets a client is shown besides its own and those that never had an owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// Nothing more.
    #[default]
    Own,
    /// Also targets whose owner has left.
    Released,
    /// Every target, other clients' included.
    All,
}

/// What happens to a client when the browser goes away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// It is disconnected, as a browser would do.
    #[default]
    Close,
    /// It stays; its next request asks for the browser back.
    Keep,
}

/// How a client wants to be served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientOptions {
    /// Which targets it is shown.
    pub share: Share,
    /// What happens to it when the browser goes away.
    pub on_loss: OnLoss,
    /// The part of the browser it lives in; it sees nothing of the others, whatever it shares.
    pub realm: Option<RealmId>,
    /// What decides what it may send and hear; nothing if left out.
    pub guard: Option<SharedGuard>,
}

/// Where a client stands.
#[derive(Debug)]
pub(crate) enum Standing {
    /// Waits for its browser-level cdp session; what it sends is kept.
    Joining { since: Option<Instant>, backlog: Backlog },
    /// Its wishes from before a loss are being put in force again; what it sends is kept.
    Restoring { root: CdpSessionId, backlog: Backlog },
    /// Served through this browser-level cdp session.
    Served { root: CdpSessionId },
    /// Being disconnected; what it sends is ignored.
    Leaving { root: Option<CdpSessionId> },
}

/// What a client asked for on its root, kept over a loss of the browser.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    pub(crate) discover: Option<TargetFilter>,
    pub(crate) auto_attach: Option<AutoAttach>,
}

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) options: ClientOptions,
    pub(crate) standing: Standing,
    pub(crate) wishes: Wishes,
    /// Position in the order of arrivals and releases; decides which released targets it is shown.
    pub(crate) joined: u64,
    /// Its unanswered commands.
    pub(crate) pending: usize,
}

impl Client {
    pub(crate) fn root(&self) -> Option<&CdpSessionId> {
        match &self.standing {
            Standing::Served { root } | Standing::Restoring { root, .. } => Some(root),
            Standing::Leaving { root } => root.as_ref(),
            Standing::Joining { .. } => None,
        }
    }

    /// Where its frames are kept while it is not served.
    pub(crate) fn backlog_mut(&mut self) -> Option<&mut Backlog> {
        match &mut self.standing {
            Standing::Joining { backlog, .. } | Standing::Restoring { backlog, .. } => Some(backlog),
            Standing::Served { .. } | Standing::Leaving { .. } => None,
        }
    }
}
