//! The clients of one browser.

pub(crate) mod backlog;
pub(crate) mod queue;
pub(crate) mod state;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use tabwire_api::{CdpSessionId, ClientId, PartitionId, TargetId};

use crate::client::state::{Client, ClientOptions, ClientState, Identity};
use crate::guard::Guard;

/// All clients, in the order of their ids.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    entries: BTreeMap<ClientId, Client>,
}

impl Clients {
    /// Adds a client whose root session is not open yet.
    pub(crate) fn join(&mut self, id: ClientId, options: ClientOptions) {
        self.entries.insert(id, Client::new(options));
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

    /// Whether each page of a client gets a window of its own.
    pub(crate) fn opens_windows(&self, id: ClientId) -> bool {
        self.get(id).is_some_and(|client| client.options.opens_windows)
    }

    /// Whether a client is the engine of a session.
    pub(crate) fn is_engine(&self, id: ClientId) -> bool {
        self.get(id).is_some_and(|client| client.options.identity.is_engine)
    }

    /// Whether `viewer` sees the targets of `owner` as its own.
    pub(crate) fn shares_view(&self, owner: ClientId, viewer: ClientId) -> bool {
        owner == viewer || self.are_related(owner, viewer, |theirs, own| own.views(theirs))
    }

    /// Whether a client may name the targets and contexts of another: they are one client or one process.
    pub(crate) fn may_use_targets_of(&self, id: ClientId, owner: ClientId) -> bool {
        self.shares_view(owner, id)
            || self
                .are_related(owner, id, |theirs, own| own.process.is_some() && own.process == theirs.process)
    }

    /// Clients of different partitions are never related.
    fn are_related(
        &self,
        one: ClientId,
        other: ClientId,
        relation: impl Fn(&Identity, &Identity) -> bool,
    ) -> bool {
        let (Some(one), Some(other)) = (self.get(one), self.get(other)) else { return false };
        one.options.partition == other.options.partition
            && relation(&one.options.identity, &other.options.identity)
    }

    /// The connection that takes over the targets of one that left.
    pub(crate) fn heir_of(&self, gone: &Client) -> Option<ClientId> {
        let (theirs, partition) = (&gone.options.identity, &gone.options.partition);
        let is_heir = |heir: &Client| {
            let own = &heir.options.identity;
            theirs.views(own)
                && heir.options.partition == *partition
                && !matches!(heir.state, ClientState::Leaving { .. })
        };
        self.iter().find(|(_, heir)| is_heir(heir)).map(|(id, _)| id)
    }

    /// A connection that listed targets for a client of this process, and the page that it opened for it.
    pub(crate) fn take_listed_page(&mut self, id: ClientId) -> Option<(ClientId, TargetId)> {
        let own = &self.get(id)?.options;
        let (process, partition) = (own.identity.process, own.partition.clone());
        let fits = |(lister, client): &(&ClientId, &mut Client)| {
            let theirs = &client.options;
            **lister != id
                && theirs.identity.is_discovery
                && theirs.identity.process == process
                && client.first_page.is_some()
                && theirs.partition == partition
        };
        let (lister, client) = self.entries.iter_mut().find(fits)?;
        Some((*lister, client.first_page.take()?))
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
