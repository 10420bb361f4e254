//! Whose a target is, and who is shown it.
//!
//! A target belongs to the client that created it: directly, in a context it created, or as the opener of a
//! popup. What existed before any client, or was opened by the user, belongs to nobody.

use std::time::Instant;

use serde_json::Value;
use tabwire_wire::{BrowserContextId, ClientId, RealmId, TargetId};

use crate::client::{Client, Share};
use crate::context_table::{ContextEntry, Maker};
use crate::link::LinkState;
use crate::mux::Mux;
use crate::pending::{Asker, Errand, Meaning};
use crate::target_entry::{NOBODY, Owner, TargetEntry};

impl Mux {
    /// A target appears, or is named again.
    pub(crate) fn target_seen(&mut self, info: &Value, now: Instant) {
        let Some(id) = info.get("targetId").and_then(Value::as_str).filter(|id| !id.is_empty()) else {
            return;
        };
        if info.get("type").and_then(Value::as_str) == Some("browser") || self.targets.find(id).is_some() {
            return;
        }
        let id = TargetId::new(id);
        self.targets.insert(id.clone(), info.clone(), NOBODY);
        let owner = self.guess_owner(&id);
        let was_there = self.link == LinkState::Starting;
        if let Some(entry) = self.targets.find_mut(id.as_str()) {
            entry.owner = owner;
            entry.was_there = was_there;
        }
        self.claims.take(&id);
        self.frame_target_seen(id.as_str(), Some(now));
        self.link_partner(&id);
        if self.targets.find(id.as_str()).is_some_and(TargetEntry::is_settled) {
            self.announce_created(&id);
            self.decide_partner(&id, now);
            self.offer_unattached(&id, now);
        }
    }

    fn guess_owner(&self, id: &TargetId) -> Owner {
        let Some(entry) = self.targets.find(id.as_str()) else { return NOBODY };
        // While the link starts, the browser lists what was there before any client.
        if self.link == LinkState::Starting {
            return Owner::Nobody { released: 0, realm: self.inherited_realm(entry) };
        }
        if let Some(owner) = self.claims.find(id) {
            return owner.clone();
        }
        if let Some(client) = entry.context_text().and_then(|context| self.contexts.client_of(context)) {
            return Owner::Client(client);
        }
        if entry.is_tab() {
            return Owner::Unlinked;
        }
        if entry.is_shared_worker() {
            return self.owner_by_origin(entry);
        }
        if entry.is_part() {
            return self.owner_of_part(entry);
        }
        if let Some(owner) = self.owner_by_opener(entry) {
            return owner;
        }
        if let Some(realm) = self.realms.listing(id) {
            return Owner::Nobody { released: 0, realm: Some(realm.clone()) };
        }
        let commands = self.commands_that_may_have_made(entry);
        if commands.is_empty() { NOBODY } else { Owner::Undecided { commands, root: id.clone() } }
    }

    /// A popup is its opener's owner's.
    fn owner_by_opener(&self, entry: &TargetEntry) -> Option<Owner> {
        let mut openers = ["openerId", "openerFrameId"].into_iter().filter_map(|field| entry.text(field));
        let first = openers.next()?;
        let known = std::iter::once(first)
            .chain(openers)
            .find_map(|opener| self.targets.find(opener))
            .map(|opener| opener.owner.clone())
            .filter(|owner| !matches!(owner, Owner::Nested | Owner::Unlinked));
        // The opener may be a frame that is no target.
        Some(known.or_else(|| self.sole_owner(entry)).unwrap_or_else(|| self.lost_owner(entry)))
    }

    /// The owner of what some client caused, with no telling which: kept from all that did not ask for more,
    /// and from everyone when the realm is not known either.
    fn lost_owner(&self, entry: &TargetEntry) -> Owner {
        match self.sole_realm(entry) {
            Some(realm) => Owner::Nobody { released: u64::MAX, realm: realm.cloned() },
            None => Owner::Lost,
        }
    }

    /// A frame or worker is its page's owner's.
    fn owner_of_part(&self, entry: &TargetEntry) -> Owner {
        let parent = entry.text("parentFrameId").and_then(|parent| self.targets.find(parent));
        let owner = parent.map(|parent| parent.owner.clone()).or_else(|| self.sole_owner(entry));
        owner.unwrap_or(Owner::Nested)
    }

    /// The owner of all pages in a target's context, when that is one and the same.
    fn sole_owner(&self, entry: &TargetEntry) -> Option<Owner> {
        let mut owners = self
            .targets
            .iter()
            .filter(|page| page.target_type() == "page" && page.id != entry.id)
            .filter(|page| page.context() == entry.context())
            .map(|page| &page.owner);
        let first = owners.next().filter(|owner| matches!(owner, Owner::Client(_) | Owner::Nobody { .. }))?;
        owners.all(|owner| owner == first).then(|| first.clone())
    }

    /// A worker that serves a whole origin is a client's when that client alone has pages of the origin.
    fn owner_by_origin(&self, worker: &TargetEntry) -> Owner {
        let mut owners = self.targets.iter().filter(|page| page.is_served_by(worker)).map(|page| &page.owner);
        match (owners.next(), self.realm_by_origin(worker)) {
            (Some(first @ Owner::Client(_)), _) if owners.all(|owner| owner == first) => first.clone(),
            (_, Some(realm)) => Owner::Nobody { released: 0, realm: realm.cloned() },
            (_, None) => Owner::Lost,
        }
    }

    /// Unanswered commands one of which may have made a target whose context does not tell its owner.
    fn commands_that_may_have_made(&self, entry: &TargetEntry) -> Vec<u64> {
        let shared = |context: &Option<BrowserContextId>| {
            context.as_ref().is_none_or(|context| self.contexts.client_of(context.as_str()).is_none())
        };
        let context = entry.context();
        let strange_context = context.is_some()
            && !self
                .targets
                .iter()
                .any(|other| other.id != entry.id && other.is_decided() && other.context() == context);
        self.pending
            .iter()
            .filter(|(_, pending)| match &pending.asker {
                Asker::Client { meaning: Meaning::CreateTarget { context, .. }, .. } => shared(context),
                Asker::House(Errand::OrphanCreate(..) | Errand::OpenTab(..)) => true,
                Asker::Client { meaning: Meaning::CreateContext { .. }, .. }
                | Asker::House(Errand::OrphanContext(..) | Errand::MakeContext(_)) => strange_context,
                _ => false,
            })
            .map(|(id, _)| id)
            .collect()
    }

    /// The browser creates a tab target and, right after it, the page target in it.
    fn link_partner(&mut self, id: &TargetId) {
        // While the link starts, targets are listed in no order, and nobody's tabs need no partner.
        let listed = self.link == LinkState::Starting;
        let Some(entry) = self.targets.find(id.as_str()).filter(|_| !listed) else { return };
        let context = entry.context();
        if entry.is_tab() {
            self.open_tabs.insert(context, id.clone());
        } else if entry.fills_a_tab()
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

    /// A `createTarget` was answered: that target has an owner now, others no longer wait for it.
    pub(crate) fn create_answered(&mut self, id: u64, created: Option<(Owner, &str)>, now: Instant) {
        if let Some((owner, target)) = &created
            && self.targets.find(target).is_none()
            && self.link == LinkState::Connected
        {
            self.claims.insert(TargetId::new(target), owner.clone(), now);
        }
        self.command_settled(id, &NOBODY, now, |mux, root| {
            let (owner, target) = created.as_ref()?;
            let tab = mux.targets.find(root.as_str()).and_then(|entry| entry.partner.as_ref());
            let named = root.as_str() == *target || tab.is_some_and(|tab| tab.as_str() == *target);
            named.then(|| owner.clone())
        });
    }

    /// A command that may have made targets is through: `verdict` says what it means for one of them, and
    /// `otherwise` whose those are that wait for no other command.
    pub(crate) fn command_settled(
        &mut self,
        id: u64,
        otherwise: &Owner,
        now: Instant,
        verdict: impl Fn(&Self, &TargetId) -> Option<Owner>,
    ) {
        let mut settled = Vec::new();
        for target in self.targets.ids() {
            let Some(Owner::Undecided { commands, root }) =
                self.targets.find_mut(target.as_str()).map(|entry| &mut entry.owner)
            else {
                continue;
            };
            if !commands.contains(&id) {
                continue;
            }
            commands.retain(|command| *command != id);
            let left = commands.len();
            let root = root.clone();
            match verdict(self, &root) {
                Some(owner) => settled.push((target, owner)),
                None if left == 0 => settled.push((target, otherwise.clone())),
                None => {}
            }
        }
        for (target, owner) in settled {
            self.decide(&target, owner, now);
        }
    }

    /// A client made a browser context; targets that came before the answer are its own.
    pub(crate) fn context_made(
        &mut self,
        id: u64,
        context: Option<&str>,
        (client, ends): (ClientId, bool),
        now: Instant,
    ) {
        if let Some(context) = context {
            let realm = self.clients.get(&client).and_then(|client| client.options.realm.clone());
            self.contexts.insert(BrowserContextId::new(context), Maker::Client { client, ends }, realm);
        }
        self.command_settled(id, &NOBODY, now, |mux, root| {
            let place = mux.targets.find(root.as_str())?.context_text()?;
            mux.contexts.client_of(place).map(Owner::Client)
        });
    }

    /// Whose is what a client made when it was no longer waiting: still its own, or released if it has left.
    pub(crate) fn owner_after(&mut self, client: ClientId, realm: Option<RealmId>) -> Owner {
        if self.clients.contains_key(&client) {
            return Owner::Client(client);
        }
        self.sequence += 1;
        Owner::Nobody { released: self.sequence, realm }
    }

    /// A client reached a part of a page through its session on the page.
    pub(crate) fn part_reached(&mut self, client: ClientId, id: &TargetId, now: Instant) {
        if self.targets.find(id.as_str()).is_some_and(|entry| entry.owner == Owner::Nested) {
            self.decide(id, Owner::Client(client), now);
        }
    }

    /// What a client owned is nobody's once it has left, and stays in its realm.
    pub(crate) fn release_targets(&mut self, client: ClientId, realm: Option<RealmId>, now: Instant) {
        self.sequence += 1;
        let released = Owner::Nobody { released: self.sequence, realm };
        self.claims.release(client, &released);
        let mut ids = Vec::new();
        for target in self.targets.iter_mut() {
            if target.owner == Owner::Client(client) {
                target.owner = released.clone();
                ids.push(target.id.clone());
            }
        }
        for id in ids {
            self.announce_created(&id);
            self.offer_unattached(&id, now);
            self.offer(&id, now);
        }
    }

    /// Whether a client is shown a target.
    pub(crate) fn is_shown(&self, client: &Client, id: ClientId, target: &TargetEntry) -> bool {
        if self.realm_of(target) != Some(client.options.realm.as_ref()) {
            return false;
        }
        match (&target.owner, client.options.share) {
            (Owner::Undecided { .. } | Owner::Unlinked | Owner::Lost, _) => false,
            (_, Share::All) => true,
            (Owner::Nested, _) => false,
            (Owner::Client(owner), _) => *owner == id,
            (Owner::Nobody { .. }, Share::Released) => true,
            (Owner::Nobody { released, .. }, Share::Own) => *released < client.joined,
        }
    }

    /// Whether a client may name a target: one it is shown, has made, or is attached to.
    ///
    /// The house sees every target, so one it has not seen does not exist, or is another client's and on
    /// its way to us.
    pub(crate) fn may_name_target(&self, id: ClientId, target: &str) -> bool {
        let Some(client) = self.clients.get(&id) else { return false };
        let own = self.sessions.is_attached(id, target) || self.is_own_browser_target(id, target);
        match self.targets.find(target) {
            _ if own => true,
            Some(entry) => self.is_shown(client, id, entry),
            None => self.claims.find(&TargetId::new(target)) == Some(&Owner::Client(id)),
        }
    }

    /// Whether a client may name a browser context: its own, its realm's, or one nobody made.
    pub(crate) fn may_name_context(&self, id: ClientId, context: &str) -> bool {
        let Some(client) = self.clients.get(&id) else { return false };
        let realm = client.options.realm.as_ref();
        match self.contexts.find(context) {
            Some(ContextEntry { maker: Maker::Client { client: maker, .. }, realm: place, .. }) => {
                *maker == id || (client.options.share == Share::All && place.as_ref() == realm)
            }
            Some(ContextEntry { maker: Maker::Gone, realm: place, .. }) => place.as_ref() == realm,
            Some(ContextEntry { maker: Maker::House, realm: place, .. }) => {
                place.is_some() && place.as_ref() == realm
            }
            // Beside other realms nobody's contexts are somebody's, but for the one that a realm's tabs are in.
            None if realm.is_some() => {
                let here = |target: &TargetEntry| {
                    target.context_text() == Some(context) && self.is_shown(client, id, target)
                };
                self.targets.iter().any(here)
            }
            None => !self.may_be_anothers_new_context(id, context),
        }
    }

    /// Whether a context nobody has seen yet may be the one another client is making.
    fn may_be_anothers_new_context(&self, id: ClientId, context: &str) -> bool {
        let anothers = |asker: &Asker| match asker {
            Asker::Client { client, meaning: Meaning::CreateContext { .. }, .. } => *client != id,
            Asker::House(Errand::OrphanContext(..) | Errand::MakeContext(_)) => true,
            _ => false,
        };
        self.pending.iter().any(|(_, pending)| anothers(&pending.asker))
            && !self
                .targets
                .iter()
                .any(|target| target.is_decided() && target.text("browserContextId") == Some(context))
    }
}
