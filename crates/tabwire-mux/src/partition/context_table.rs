//! Browser contexts that were created through the mux, with their creator and partition.

use std::collections::BTreeMap;
use std::time::Instant;

use tabwire_api::{BrowserContextId, ClientId, PartitionId};

use crate::limits::PENDING_DEADLINE;

/// The creator of a browser context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Creator {
    /// A connected client; `ends` means that the context is disposed of with the client.
    Client { client: ClientId, ends: bool },
    /// A client that has left. Its partition sees the context; without a partition, every client outside
    /// partitions does.
    Left,
    /// The mux, for a partition; or an earlier daemon, for an unknown client.
    Control,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContextEntry {
    pub(crate) creator: Creator,
    /// The partition it belongs to. No client sees a context of the mux without a partition.
    pub(crate) partition: Option<PartitionId>,
    /// When the browser disposed of it. A late response may still name it.
    ended: Option<Instant>,
}

/// All contexts created through the mux.
#[derive(Debug, Default)]
pub(crate) struct ContextTable {
    contexts: BTreeMap<BrowserContextId, ContextEntry>,
}

impl ContextTable {
    pub(crate) fn insert(
        &mut self,
        context: BrowserContextId,
        creator: Creator,
        partition: Option<PartitionId>,
    ) {
        self.contexts.insert(context, ContextEntry { creator, partition, ended: None });
    }

    pub(crate) fn find(&self, context: &str) -> Option<&ContextEntry> {
        self.contexts.get(context)
    }

    /// The browser has disposed of a context.
    pub(crate) fn end(&mut self, context: &BrowserContextId, now: Instant) {
        if let Some(entry) = self.contexts.get_mut(context) {
            entry.ended.get_or_insert(now);
        }
    }

    /// Drops disposed contexts that no response can name any more.
    pub(crate) fn forget_overdue(&mut self, now: Instant) {
        let overdue = |since: Instant| now.duration_since(since) > PENDING_DEADLINE;
        self.contexts.retain(|_, entry| !entry.ended.is_some_and(overdue));
    }

    /// The connected client that created a context.
    pub(crate) fn client_of(&self, context: &str) -> Option<ClientId> {
        match self.contexts.get(context)?.creator {
            Creator::Client { client, .. } => Some(client),
            Creator::Left | Creator::Control => None,
        }
    }

    /// The contexts that connected clients created, where `is_own` holds for the client.
    pub(crate) fn created_by(
        &self,
        is_own: impl Fn(ClientId) -> bool,
    ) -> impl Iterator<Item = &BrowserContextId> {
        let own = move |entry: &ContextEntry| match entry.creator {
            Creator::Client { client, .. } => is_own(client),
            Creator::Left | Creator::Control => false,
        };
        self.contexts.iter().filter(move |(_, entry)| own(entry)).map(|(context, _)| context)
    }

    /// Every context of a partition.
    pub(crate) fn of_partition(&self, partition: &PartitionId) -> Vec<BrowserContextId> {
        let own = |entry: &ContextEntry| entry.partition.as_ref() == Some(partition) && entry.ended.is_none();
        self.contexts.iter().filter(|(_, entry)| own(entry)).map(|(context, _)| context.clone()).collect()
    }

    /// Contexts owned by clients.
    pub(crate) fn owned(&self) -> usize {
        let is_owned =
            |entry: &&ContextEntry| entry.ended.is_none() && matches!(entry.creator, Creator::Client { .. });
        self.contexts.values().filter(is_owned).count()
    }

    /// A client left; its contexts stay in its partition, with its heir. Returns the contexts that are disposed of with
    /// it.
    pub(crate) fn release(&mut self, client: ClientId, heir: Option<ClientId>) -> Vec<BrowserContextId> {
        let mut ending = Vec::new();
        for (context, entry) in &mut self.contexts {
            match entry.creator {
                Creator::Client { client: creator, ends } if creator == client => {
                    ending.extend(ends.then(|| context.clone()));
                    entry.creator = match heir.filter(|_| !ends) {
                        Some(client) => Creator::Client { client, ends },
                        None => Creator::Left,
                    };
                }
                _ => {}
            }
        }
        ending
    }

    /// A context that existed before the link. Unless it is known, it belongs to an unknown client.
    pub(crate) fn found(&mut self, context: &str) {
        if !self.contexts.contains_key(context) {
            self.insert(BrowserContextId::new(context), Creator::Control, None);
        }
    }

    /// The browser is gone. The contexts of partitions stay known, so that no client gets the default context
    /// instead.
    pub(crate) fn clear(&mut self) {
        self.contexts.retain(|_, entry| entry.creator == Creator::Control && entry.partition.is_some());
    }
}
