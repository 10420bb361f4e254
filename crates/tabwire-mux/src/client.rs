//! One party that sends CDP: its options, where it stands, what it waits for.

use std::collections::VecDeque;
use std::time::Instant;

use bytes::BytesMut;
use tabwire_wire::CdpSessionId;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientOptions {
    /// Which targets it is shown.
    pub share: Share,
    /// What happens to it when the browser goes away.
    pub on_loss: OnLoss,
}

/// Where a client stands.
#[derive(Debug)]
pub(crate) enum Standing {
    /// Waits for its browser-level cdp session; what it sends is kept.
    Joining { since: Option<Instant>, queue: VecDeque<BytesMut> },
    /// Served through this browser-level cdp session.
    Served { root: CdpSessionId },
}

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) options: ClientOptions,
    pub(crate) standing: Standing,
    /// Position in the order of arrivals and releases; decides which released targets it is shown.
    pub(crate) joined: u64,
    /// Its unanswered commands.
    pub(crate) pending: usize,
}

impl Client {
    pub(crate) fn root(&self) -> Option<&CdpSessionId> {
        match &self.standing {
            Standing::Served { root } => Some(root),
            Standing::Joining { .. } => None,
        }
    }
}
