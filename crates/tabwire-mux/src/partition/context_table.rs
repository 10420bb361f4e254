//! Browser contexts that were made through the mux: by whom, and for which partition.

use std::collections::BTreeMap;
use std::time::Instant;

use tabwire_api::{BrowserContextId, ClientId, PartitionId};

use crate::limits::PENDING_DEADLINE;

/// Who made a browser context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Creator {
    /// A client that is here; whether the context ends with it.
    Client { client: ClientId, ends: bool },
    /// A client that has left. Its partition sees the context; without one, every client outside partitions does.
    Left,
    /// The mux, for a partition; or an earlier daemon, for an unknown client.
    Control,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContextEntry {
    pub(crate) creator: Creator,
    /// The partition it belongs to. What the mux has for none is kept from all.
    pub(crate) partition: Option<PartitionId>,
    /// Since when the browser has been rid of it. A late response may still name it.
    ended: Option<Instant>,
}

/// All of them; contexts that nobody made are not among them.
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

    /// Forgets contexts that no response can name any more.
    pub(crate) fn forget_overdue(&mut self, now: Instant) {
        let overdue = |since: Instant| now.duration_since(since) > PENDING_DEADLINE;
        self.contexts.retain(|_, entry| !entry.ended.is_some_and(overdue));
    }

    /// The client that made a context and is still here.
    pub(crate) fn client_of(&self, context: &str) -> Option<ClientId> {
        match self.contexts.get(context)?.creator {
            Creator::Client { client, .. } => Some(client),
            Creator::Left | Creator::Control => None,
        }
    }

    /// The contexts a client made.
    pub(crate) fn created_by(&self, client: ClientId) -> impl Iterator<Item = &BrowserContextId> {
        let own = move |entry: &ContextEntry| matches!(entry.creator, Creator::Client { client: creator, .. } if creator == client);
        self.contexts.iter().filter(move |(_, entry)| own(entry)).map(|(context, _)| context)
    }

    /// Every context of a partition.
    pub(crate) fn of_partition(&self, partition: &PartitionId) -> Vec<BrowserContextId> {
        let own = |entry: &ContextEntry| entry.partition.as_ref() == Some(partition) && entry.ended.is_none();
        self.contexts.iter().filter(|(_, entry)| own(entry)).map(|(context, _)| context.clone()).collect()
    }

    /// Contexts owned by clients.
    pub(crate) fn owned(&self) -> usize {
        self.contexts.values().filter(|entry| matches!(entry.creator, Creator::Client { .. })).count()
    }

    /// A client left; what it made stays in its partition. Yields what ends with it.
    pub(crate) fn release(&mut self, client: ClientId) -> Vec<BrowserContextId> {
        let mut ending = Vec::new();
        for (context, entry) in &mut self.contexts {
            match entry.creator {
                Creator::Client { client: creator, ends } if creator == client => {
                    ending.extend(ends.then(|| context.clone()));
                    entry.creator = Creator::Left;
                }
                _ => {}
            }
        }
        ending
    }

    /// A context that was there before the link; unless it is known it is somebody's who is not.
    pub(crate) fn found(&mut self, context: &str) {
        if !self.contexts.contains_key(context) {
            self.insert(BrowserContextId::new(context), Creator::Control, None);
        }
    }

    /// The browser is gone; the places of partitions stay named, so that nobody takes the default one for them.
    pub(crate) fn clear(&mut self) {
        self.contexts.retain(|_, entry| entry.creator == Creator::Control && entry.partition.is_some());
    }
}
