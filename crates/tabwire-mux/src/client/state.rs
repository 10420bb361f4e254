//! A CDP client: its options, its state and its pending commands.

use std::time::Instant;

use tabwire_api::{CdpSessionId, PartitionId};

use crate::client::backlog::Backlog;
use crate::guard::SharedGuard;

/// Which targets a client sees besides its own and those that never had an owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// Targets that were released before it joined.
    #[default]
    Own,
    /// All targets whose owner has left.
    Released,
    /// All targets, including other clients'.
    All,
}

/// What a client receives before it is disconnected because the browser is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// Error responses for its pending commands.
    #[default]
    Close,
    /// Also the detach and destroy events of its sessions and targets. For the Chrome shim, whose own client stays
    /// connected while the browser is replaced.
    SendDetachEvents,
}

/// How a client is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientOptions {
    /// Which targets it sees.
    pub share: Share,
    /// What it receives when the browser is lost.
    pub on_loss: OnLoss,
    /// Its partition of the browser; it sees no other partition, even with [`Share::All`].
    pub partition: Option<PartitionId>,
    /// Decides which commands and events pass. Without one, all pass.
    pub guard: Option<SharedGuard>,
}

/// The state of a client.
#[derive(Debug)]
pub(crate) enum ClientState {
    /// Its browser-level CDP session is being opened; its frames are queued.
    Joining { since: Option<Instant>, backlog: Backlog },
    /// Served through this browser-level CDP session.
    Served { root: CdpSessionId },
    /// Being disconnected; its frames are ignored.
    Leaving { root: Option<CdpSessionId> },
}

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) options: ClientOptions,
    pub(crate) state: ClientState,
    /// Position in the order of joins and releases; decides which released targets it sees.
    pub(crate) joined: u64,
    /// The number of its pending commands.
    pub(crate) pending: usize,
}

impl Client {
    pub(crate) fn root(&self) -> Option<&CdpSessionId> {
        match &self.state {
            ClientState::Served { root } => Some(root),
            ClientState::Leaving { root } => root.as_ref(),
            ClientState::Joining { .. } => None,
        }
    }

    /// The frames queued while it joins.
    pub(crate) fn backlog_mut(&mut self) -> Option<&mut Backlog> {
        match &mut self.state {
            ClientState::Joining { backlog, .. } => Some(backlog),
            ClientState::Served { .. } | ClientState::Leaving { .. } => None,
        }
    }
}
