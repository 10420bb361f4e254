//! Whose a target is, and who is shown it.
//!
//! A target belongs to the client that created it: directly, in a context it created, or as the opener of a
//! popup. What existed before any client, or was opened by the user, belongs to nobody.

use std::time::Instant;

use serde_json::Value;
use tabwire_wire::{BrowserContextId, ClientId, TargetId};

use crate::client::{Client, Share};
use crate::link::LinkState;
use crate::mux::Mux;
use crate::pending::{Asker, Meaning};
use crate::target_entry::{Owner, TargetEntry};

impl Mux {
    /// A target appears, or is named again.
    pub(crate) fn target_seen(&mut self, info: &Value, now: Instant) {
        let Some(id) = info.get("targetId").and_then(Value::as_str) else { return };
        if info.get("type").and_then(Value::as_str) == Some("browser") || self.targets.find(id).is_some() {
            return;
        }
        let id = TargetId::new(id);
        self.targets.insert(id.clone(), info.clone(), Owner::Nobody { released: 0 });
        let owner = self.guess_owner(&id, now);
        if let Some(entry) = self.targets.find_mut(id.as_str()) {
            entry.owner = owner;
        }
        self.link_partner(&id);
        if self.targets.find(id.as_str()).is_some_and(TargetEntry::is_decided) {
            self.announce_created(&id);
            self.decide_partner(&id, now);
            self.offer_unattached(&id, now);
        }
    }

    fn guess_owner(&self, id: &TargetId, now: Instant) -> Owner {
        let nobody = Owner::Nobody { released: 0 };
        // While the link starts, the browser lists what was there before any client.
        let Some(entry) = self.targets.find(id.as_str()).filter(|_| self.link != LinkState::Starting) else {
            return nobody;
        };
        if let Some(client) = entry.context().and_then(|context| self.contexts.get(&context)) {
            return Owner::Client(*client);
        }
        if entry.is_tab() {
            return Owner::Unlinked { since: now };
        }
        if entry.is_shared_worker() {
            return self.owner_by_origin(entry);
        }
        if let Some(opener) = entry.text("openerId").and_then(|opener| self.targets.find(opener)) {
            return opener.owner.clone();
        }
        let creates = self.creates_in_shared_contexts();
        if creates.is_empty() { nobody } else { Owner::Undecided { creates } }
    }

    /// A worker that serves a whole origin is a client's when that client alone has pages of the origin.
    fn owner_by_origin(&self, worker: &TargetEntry) -> Owner {
        let same_place = |page: &&TargetEntry| {
            page.target_type() == "page"
                && page.context() == worker.context()
                && page.origin().is_some()
                && page.origin() == worker.origin()
        };
        let mut owners = self.targets.iter().filter(same_place).map(|page| &page.owner);
        match owners.next() {
            Some(Owner::Client(client)) if owners.all(|owner| *owner == Owner::Client(*client)) => {
                Owner::Client(*client)
            }
            _ => Owner::Nobody { released: 0 },
        }
    }

    /// Unanswered `createTarget` commands whose target's context does not tell its owner.
    fn creates_in_shared_contexts(&self) -> Vec<u64> {
        let shared = |context: &Option<BrowserContextId>| {
            context.as_ref().is_none_or(|context| !self.contexts.contains_key(context))
        };
        self.pending
            .iter()
            .filter(|(_, pending)| match &pending.asker {
                Asker::Client { meaning: Meaning::CreateTarget(context), .. } => shared(context),
                _ => false,
            })
            .map(|(id, _)| id)
            .collect()
    }

    /// The browser creates a tab target and, right after it, the page target in it.
    fn link_partner(&mut self, id: &TargetId) {
        let Some(entry) = self.targets.find(id.as_str()) else { return };
        let context = entry.context();
        if entry.is_tab() {
            self.open_tabs.insert(context, id.clone());
        } else if !entry.is_shared_worker()
            && let Some(tab) = self.open_tabs.remove(&context)
        {
            self.targets.link(&tab, id);
        }
    }

    /// Settles whose a target is, and tells those who may know.
    pub(crate) fn decide(&mut self, id: &TargetId, owner: Owner, now: Instant) {
        let Some(entry) = self.targets.find_mut(id.as_str()) else { return };
        if entry.is_decided() {
            return;
        }
        entry.owner = owner;
        self.announce_created(id);
        self.decide_partner(id, now);
        self.offer_unattached(id, now);
        self.offer(id, now);
    }

    /// A tab is its page's owner's.
    fn decide_partner(&mut self, id: &TargetId, now: Instant) {
        let Some(entry) = self.targets.find(id.as_str()).filter(|entry| !entry.is_tab()) else { return };
        let owner = entry.owner.clone();
        let tab = entry.partner.clone();
        if let Some(tab) = tab {
            self.decide(&tab, owner, now);
        }
    }

    /// A client's `createTarget` was answered: that target is its own, others no longer wait for it.
    pub(crate) fn create_answered(&mut self, id: u64, created: Option<(ClientId, &str)>, now: Instant) {
        let mut settled = Vec::new();
        for target in self.targets.iter_mut() {
            let Owner::Undecided { creates } = &mut target.owner else { continue };
            creates.retain(|create| *create != id);
            match created {
                Some((client, target_id)) if target.id.as_str() == target_id => {
                    settled.push((target.id.clone(), Owner::Client(client)));
                }
                _ if creates.is_empty() => settled.push((target.id.clone(), Owner::Nobody { released: 0 })),
                _ => {}
            }
        }
        for (target, owner) in settled {
            self.decide(&target, owner, now);
        }
    }

    /// What a client owned is nobody's once it has left.
    pub(crate) fn release_targets(&mut self, client: ClientId, now: Instant) {
        self.sequence += 1;
        let released = self.sequence;
        let mut ids = Vec::new();
        for target in self.targets.iter_mut() {
            if target.owner == Owner::Client(client) {
                target.owner = Owner::Nobody { released };
                ids.push(target.id.clone());
            }
        }
        // Contexts made to end with their client are being disposed of by the browser right now; the rest
        // stay, and are nobody's.
        self.contexts.retain(|_, owner| *owner != client);
        for id in ids {
            self.announce_created(&id);
            self.offer_unattached(&id, now);
            self.offer(&id, now);
        }
    }

    /// Whether a client is shown a target.
    pub(crate) fn is_shown(&self, client: &Client, id: ClientId, target: &TargetEntry) -> bool {
        match (&target.owner, client.options.share) {
            (Owner::Undecided { .. } | Owner::Unlinked { .. }, _) => false,
            (_, Share::All) => true,
            (Owner::Client(owner), _) => *owner == id,
            (Owner::Nobody { .. }, Share::Released) => true,
            (Owner::Nobody { released }, Share::Own) => *released < client.joined,
        }
    }

    /// Whether a client may name a target. Targets that discovery does not list (frames, workers of a page)
    /// are reachable only through a cdp session the client already has.
    pub(crate) fn may_name_target(&self, id: ClientId, target: &str) -> bool {
        match (self.clients.get(&id), self.targets.find(target)) {
            (Some(client), Some(entry)) => self.is_shown(client, id, entry),
            (Some(client), None) => client.options.share == Share::All || !self.is_foreign_child(id, target),
            (None, _) => false,
        }
    }

    /// Whether a target is known only as a child of another client's session.
    fn is_foreign_child(&self, id: ClientId, target: &str) -> bool {
        use crate::session_table::SessionOwner;
        let mut attached = self
            .sessions
            .iter()
            .filter(|(_, session)| session.target().is_some_and(|attached| attached.as_str() == target))
            .peekable();
        attached.peek().is_some() && attached.all(|(_, session)| session.owner != SessionOwner::Client(id))
    }

    /// Whether a client may name a browser context: its own, or one nobody made.
    pub(crate) fn may_name_context(&self, id: ClientId, context: &str) -> bool {
        let shares_all = self.clients.get(&id).is_some_and(|client| client.options.share == Share::All);
        shares_all || self.contexts.get(context).is_none_or(|owner| *owner == id)
    }
}
