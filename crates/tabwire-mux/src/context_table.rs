//! Browser contexts that were made through the mux: by whom, and for which realm.

use std::collections::BTreeMap;
use std::time::Instant;

use tabwire_wire::{BrowserContextId, ClientId, RealmId};

use crate::limits::PENDING_DEADLINE;

/// Who made a browser context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// A client that is here; whether the context ends with it.
    Client { client: ClientId, ends: bool },
    /// A client that has left; its realm's, or everybody's who is in none.
    Gone,
    /// The house, for a realm to live in; or an earlier daemon, for somebody who is not known.
    House,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContextEntry {
    pub(crate) maker: Maker,
    /// The realm it belongs to. What the house has for none is kept from all.
    pub(crate) realm: Option<RealmId>,
    /// Since when the browser has been rid of it. A late answer may still name it.
    ended: Option<Instant>,
}

/// All of them; contexts that nobody made are not among them.
#[derive(Debug, Default)]
pub(crate) struct ContextTable {
    contexts: BTreeMap<BrowserContextId, ContextEntry>,
}

impl ContextTable {
    pub(crate) fn insert(&mut self, context: BrowserContextId, maker: Maker, realm: Option<RealmId>) {
        self.contexts.insert(context, ContextEntry { maker, realm, ended: None });
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

    /// Forgets contexts that no answer can name any more.
    pub(crate) fn forget_overdue(&mut self, now: Instant) {
        let overdue = |since: Instant| now.duration_since(since) > PENDING_DEADLINE;
        self.contexts.retain(|_, entry| !entry.ended.is_some_and(overdue));
    }

    /// The client that made a context and is still here.
    pub(crate) fn client_of(&self, context: &str) -> Option<ClientId> {
        match self.contexts.get(context)?.maker {
            Maker::Client { client, .. } => Some(client),
            Maker::Gone | Maker::House => None,
        }
    }

    /// The contexts a client made.
    pub(crate) fn made_by(&self, client: ClientId) -> impl Iterator<Item = &BrowserContextId> {
        let own = move |entry: &ContextEntry| matches!(entry.maker, Maker::Client { client: maker, .. } if maker == client);
        self.contexts.iter().filter(move |(_, entry)| own(entry)).map(|(context, _)| context)
    }

    /// Every context of a realm.
    pub(crate) fn of_realm(&self, realm: &RealmId) -> Vec<BrowserContextId> {
        let own = |entry: &ContextEntry| entry.realm.as_ref() == Some(realm) && entry.ended.is_none();
        self.contexts.iter().filter(|(_, entry)| own(entry)).map(|(context, _)| context.clone()).collect()
    }

    /// Contexts owned by clients.
    pub(crate) fn owned(&self) -> usize {
        self.contexts.values().filter(|entry| matches!(entry.maker, Maker::Client { .. })).count()
    }

    /// A client left; what it made stays in its realm. Yields what ends with it.
    pub(crate) fn release(&mut self, client: ClientId) -> Vec<BrowserContextId> {
        let mut ending = Vec::new();
        for (context, entry) in &mut self.contexts {
            match entry.maker {
                Maker::Client { client: maker, ends } if maker == client => {
                    ending.extend(ends.then(|| context.clone()));
                    entry.maker = Maker::Gone;
                }
                _ => {}
            }
        }
        ending
    }

    /// A context that was there before the link; unless it is known it is somebody's who is not.
    pub(crate) fn found(&mut self, context: &str) {
        if !self.contexts.contains_key(context) {
            self.insert(BrowserContextId::new(context), Maker::House, None);
        }
    }

    /// The browser is gone; the places of realms stay named, so that nobody takes the default one for them.
    pub(crate) fn clear(&mut self) {
        self.contexts.retain(|_, entry| entry.maker == Maker::House && entry.realm.is_some());
    }
}
