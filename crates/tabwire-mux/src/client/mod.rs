//! The clients of one browser.

pub(crate) mod backlog;
pub(crate) mod queue;
pub(crate) mod state;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use tabwire_api::{CdpSessionId, ClientId, PartitionId};

use crate::client::backlog::Backlog;
use crate::client::state::{Client, ClientOptions, ClientState};
use crate::guard::Guard;

/// All clients, in the order of their ids.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    entries: BTreeMap<ClientId, Client>,
    /// Orders joins of clients and releases of targets.
    sequence: u64,
}

impl Clients {
    /// Adds a client whose root session is not open yet.
    pub(crate) fn join(&mut self, id: ClientId, options: ClientOptions) {
        let state = ClientState::Joining { since: None, backlog: Backlog::default() };
        let joined = self.next_position();
        self.entries.insert(id, Client { options, state, joined, pending: 0 });
    }

    pub(crate) fn remove(&mut self, id: ClientId) -> Option<Client> {
        self.entries.remove(&id)
    }

    pub(crate) fn get(&self, id: ClientId) -> Option<&Client> {
        self.entries.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: ClientId) -> Option<&mut Client> {
        self.entries.get_mut(&id)
    }

    pub(crate) fn contains(&self, id: ClientId) -> bool {
        self.entries.contains_key(&id)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn ids(&self) -> Vec<ClientId> {
        self.entries.keys().copied().collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ClientId, &Client)> {
        self.entries.iter().map(|(id, client)| (*id, client))
    }

    /// The next position in the order of joins and releases.
    pub(crate) fn next_position(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Clients whose root session is still opening and overdue.
    pub(crate) fn joining_since_before(&self, is_overdue: impl Fn(Instant) -> bool) -> Vec<ClientId> {
        let is_stuck = |client: &Client| match client.state {
            ClientState::Joining { since: Some(since), .. } => is_overdue(since),
            _ => false,
        };
        self.iter().filter(|(_, client)| is_stuck(client)).map(|(id, _)| id).collect()
    }

    pub(crate) fn root(&self, id: ClientId) -> Option<&CdpSessionId> {
        self.get(id)?.root()
    }

    pub(crate) fn partition(&self, id: ClientId) -> Option<&PartitionId> {
        self.get(id)?.options.partition.as_ref()
    }

    /// The session id for a frame to a client: none on the client's root session, because the client never
    /// sees that id.
    pub(crate) fn reply_session(&self, id: ClientId, session: Option<&CdpSessionId>) -> Option<CdpSessionId> {
        session.filter(|session| Some(*session) != self.root(id)).cloned()
    }

    /// One of the client's commands has its response.
    pub(crate) fn command_finished(&mut self, id: ClientId) {
        if let Some(client) = self.get_mut(id) {
            client.pending = client.pending.saturating_sub(1);
        }
    }

    /// The client's guard, unless it allows everything.
    pub(crate) fn guard(&self, id: ClientId) -> Option<Arc<dyn Guard>> {
        let guard = self.get(id)?.options.guard.as_ref()?;
        (!guard.0.is_idle()).then(|| Arc::clone(&guard.0))
    }
}
