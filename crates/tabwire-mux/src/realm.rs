//! Realms as the mux serves them: reserved, lived in, ended; and which realm a target is in.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_wire::{BrowserContextId, ClientId, RealmId, TargetId};

use crate::context_table::{ContextEntry, Maker};
use crate::limits::REALM_END_DEADLINE;
use crate::link::LinkState;
use crate::mux::Mux;
use crate::output::{CloseReason, Output};
use crate::pending::Errand;
use crate::realm_table::{Ending, RealmPlace};
use crate::target_entry::{Owner, TargetEntry};

impl Mux {
    /// Gives a realm its place in the browser. Meant to come before the realm's clients; whoever was shown
    /// what is in it now is told that it is gone.
    pub fn reserve(&mut self, realm: RealmId, place: RealmPlace, now: Instant) {
        self.clock = Some(now);
        if let RealmPlace::Context(context) = &place {
            self.contexts.insert(context.clone(), Maker::House, Some(realm.clone()));
        }
        self.realms.insert(realm.clone(), place);
        self.settle_realms(now);
        let moved: Vec<TargetId> = self
            .targets
            .iter()
            .filter(|target| self.realm_of(target) == Some(Some(&realm)))
            .map(|target| target.id.clone())
            .collect();
        for target in moved {
            self.show_again(&target, now);
        }
        self.learn_earlier(now);
    }

    /// Where realms live side by side, finds out whose is what was there before the link. Once: what comes
    /// later comes with its owner.
    pub(crate) fn learn_earlier(&mut self, now: Instant) {
        if self.link != LinkState::Connected || self.realms.is_empty() {
            return;
        }
        if let Some(house) = self.house.clone().filter(|_| !std::mem::replace(&mut self.realms.learnt, true))
        {
            self.send(Some(&house), "Target.getBrowserContexts", json!({}), Errand::LearnContexts, now);
        }
        self.learn_partners(now);
    }

    /// Contexts that nobody here made and no realm lives in are an earlier client's, and kept from all.
    pub(crate) fn contexts_learnt(&mut self, result: &Value) {
        let contexts = result.get("browserContextIds").and_then(Value::as_array);
        for context in contexts.into_iter().flatten().filter_map(Value::as_str) {
            self.contexts.found(context);
        }
    }

    /// How many realms there are.
    #[must_use]
    pub fn realms(&self) -> usize {
        self.realms.len()
    }

    /// Makes a browser context for a realm; it is kept from all until it is reserved.
    pub fn make_context(&mut self, ticket: u64, proxy: Option<&str>, now: Instant) {
        let Some(house) = self.house.clone() else {
            self.outbox.push(Output::ContextMade { ticket, context: None });
            return;
        };
        let mut params = json!({"disposeOnDetach": false});
        if let (Some(proxy), Some(members)) = (proxy, params.as_object_mut()) {
            members.insert("proxyServer".to_owned(), json!(proxy));
        }
        self.send(Some(&house), "Target.createBrowserContext", params, Errand::MakeContext(ticket), now);
    }

    pub(crate) fn realm_context_made(&mut self, id: u64, ticket: u64, context: Option<&str>, now: Instant) {
        let context = context.map(BrowserContextId::new);
        if let Some(context) = &context {
            self.contexts.insert(context.clone(), Maker::House, None);
        }
        let nobody = Owner::Nobody { released: 0, realm: None };
        self.command_settled(id, &nobody, now, |_, _| None);
        self.outbox.push(Output::ContextMade { ticket, context });
    }

    /// Ends a realm: its clients are let go, its contexts disposed of, its tabs closed, and it is forgotten.
    pub fn end_realm(&mut self, ticket: u64, realm: &RealmId, now: Instant) {
        self.clock = Some(now);
        self.realms.take(realm);
        let clients = self.clients.iter().filter(|(_, client)| client.options.realm.as_ref() == Some(realm));
        for client in clients.map(|(id, _)| *id).collect::<Vec<ClientId>>() {
            self.dismiss(client, CloseReason::RealmEnded);
        }
        let contexts = self.contexts.of_realm(realm);
        let inside = |page: &&TargetEntry| {
            page.context_text().is_some_and(|place| contexts.iter().any(|context| context.as_str() == place))
        };
        let pages: Vec<TargetId> = self
            .targets
            .iter()
            .filter(|target| target.target_type() == "page" && target.fills_a_tab())
            .filter(|target| self.realm_of(target) == Some(Some(realm)) && !inside(target))
            .map(|target| target.id.clone())
            .collect();
        let mut ending = Ending {
            ticket,
            realm: realm.clone(),
            contexts: contexts.clone(),
            commands: 0,
            until: now + REALM_END_DEADLINE,
        };
        if let Some(house) = self.house.clone() {
            ending.commands = pages.len() + contexts.len();
            for page in pages {
                let params = json!({"targetId": page.as_str()});
                self.send(Some(&house), "Target.closeTarget", params, Errand::EndRealm(ticket), now);
            }
            for context in contexts {
                let params = json!({"browserContextId": context.as_str()});
                self.send(
                    Some(&house),
                    "Target.disposeBrowserContext",
                    params,
                    Errand::EndRealm(ticket),
                    now,
                );
            }
        }
        self.realms.endings.push(ending);
        self.finish_endings(now);
    }

    /// One of the commands that end a realm is through.
    pub(crate) fn end_answered(&mut self, ticket: u64, now: Instant) {
        for ending in self.realms.endings.iter_mut().filter(|ending| ending.ticket == ticket) {
            ending.commands = ending.commands.saturating_sub(1);
        }
        self.finish_endings(now);
    }

    /// Reports the realms of which nothing is left, and those that take too long.
    pub(crate) fn finish_endings(&mut self, now: Instant) {
        if self.realms.endings.is_empty() {
            return;
        }
        for ending in std::mem::take(&mut self.realms.endings) {
            let remains =
                self.targets.iter().any(|target| self.realm_of(target) == Some(Some(&ending.realm)));
            if (ending.commands > 0 || remains) && now < ending.until {
                self.realms.endings.push(ending);
                continue;
            }
            // What a stubborn browser keeps stays out of everybody's sight.
            for context in ending.contexts.iter().filter(|_| !remains) {
                self.contexts.end(context, now);
            }
            self.outbox.push(Output::RealmEnded { ticket: ending.ticket });
        }
    }

    /// A target was made for a client that no longer waits for it; nobody is left to want one of an ended realm.
    pub(crate) fn orphan_created(
        &mut self,
        id: u64,
        (client, realm): (ClientId, Option<RealmId>),
        target: Option<&str>,
        now: Instant,
    ) {
        let unwanted = realm.as_ref().is_some_and(|realm| !self.is_reserved(realm));
        let owner = self.owner_after(client, realm);
        self.create_answered(id, target.map(|target| (owner, target)), now);
        if let Some(target) = target.filter(|_| unwanted) {
            self.house_command("Target.closeTarget", json!({"targetId": target}), now);
        }
    }

    /// The browser has disposed of these contexts.
    pub(crate) fn contexts_ended(&mut self, contexts: &[BrowserContextId], now: Instant) {
        for context in contexts {
            self.contexts.end(context, now);
        }
    }

    /// Whether a realm was reserved and not ended.
    pub(crate) fn is_reserved(&self, realm: &RealmId) -> bool {
        self.realms.find(realm).is_some()
    }

    /// The context that a client takes for the default one, when that is not the browser's.
    pub(crate) fn home_of(&self, client: ClientId) -> Option<&BrowserContextId> {
        match self.realms.find(self.clients.get(&client)?.options.realm.as_ref()?)? {
            RealmPlace::Context(context) => Some(context),
            RealmPlace::Tabs(_) => None,
        }
    }

    /// The realm a target is in: `Some(None)` is none, `None` is not known, or kept from all.
    pub(crate) fn realm_of<'a>(&'a self, target: &'a TargetEntry) -> Option<Option<&'a RealmId>> {
        match target.context_text().and_then(|context| self.contexts.find(context)) {
            Some(ContextEntry { realm: Some(realm), .. }) => return Some(Some(realm)),
            Some(ContextEntry { maker: Maker::House, realm: None, .. }) => return None,
            _ => {}
        }
        match &target.owner {
            Owner::Client(client) => {
                Some(self.clients.get(client).and_then(|client| client.options.realm.as_ref()))
            }
            Owner::Nobody { realm, .. } => Some(realm.as_ref()),
            Owner::Nested => self.sole_realm(target),
            Owner::Undecided { .. } | Owner::Unlinked | Owner::Lost => None,
        }
    }

    /// The realm of all pages in a target's context, when that is one and the same.
    pub(crate) fn sole_realm<'a>(&'a self, target: &'a TargetEntry) -> Option<Option<&'a RealmId>> {
        if self.realms.is_empty() {
            return Some(None);
        }
        let mut realms = self
            .targets
            .iter()
            .filter(|page| page.target_type() == "page" && page.fills_a_tab() && page.id != target.id)
            .filter(|page| page.context_text() == target.context_text())
            .map(|page| self.realm_of(page));
        let first = realms.next()??;
        realms.all(|realm| realm == Some(first)).then_some(first)
    }

    /// The realm that something nobody is known to own comes from: it is listed, or belongs to a page.
    pub(crate) fn inherited_realm(&self, target: &TargetEntry) -> Option<RealmId> {
        if self.realms.is_empty() {
            return None;
        }
        if let Some(realm) = self.realms.listing(&target.id) {
            return Some(realm.clone());
        }
        let partner = target.partner.as_ref().map(TargetId::as_str);
        let related = ["openerId", "openerFrameId", "parentFrameId", "parentId"];
        let related = related.into_iter().filter_map(|field| target.text(field)).chain(partner);
        let realm = related
            .filter_map(|id| self.targets.find(self.frames.outermost(id)))
            .find_map(|relative| self.realm_of(relative).flatten());
        match realm {
            None if target.is_shared_worker() => self.realm_by_origin(target).flatten().cloned(),
            realm => realm.cloned(),
        }
    }

    /// The realm of all pages that a worker serves; none when one of them is in none.
    pub(crate) fn realm_by_origin<'a>(&'a self, worker: &'a TargetEntry) -> Option<Option<&'a RealmId>> {
        let realms: Vec<_> = self
            .targets
            .iter()
            .filter(|page| page.is_served_by(worker))
            .map(|page| self.realm_of(page))
            .collect();
        match realms.first() {
            None => Some(None),
            Some(first) if realms.iter().all(|realm| realm == first) => *first,
            Some(_) => realms.contains(&Some(None)).then_some(None),
        }
    }

    /// Gives realms to what was there before their owners were known. Repeats, because one leads to another.
    pub(crate) fn settle_realms(&mut self, now: Instant) {
        loop {
            let free = |target: &&TargetEntry| matches!(target.owner, Owner::Nobody { realm: None, .. });
            let found: Vec<(TargetId, RealmId)> = self
                .targets
                .iter()
                .filter(free)
                .filter_map(|target| Some((target.id.clone(), self.inherited_realm(target)?)))
                .collect();
            if found.is_empty() {
                return;
            }
            for (id, realm) in found {
                if let Some(Owner::Nobody { realm: place, .. }) =
                    self.targets.find_mut(id.as_str()).map(|target| &mut target.owner)
                {
                    *place = Some(realm);
                }
                self.show_again(&id, now);
            }
        }
    }

    /// A target came to be in another realm: those who may not see it any more are told that it is gone.
    pub(crate) fn show_again(&mut self, id: &TargetId, now: Instant) {
        let Some(target) = self.targets.find(id.as_str()) else { return };
        let hidden: Vec<_> = self
            .announced_to(id.as_str())
            .into_iter()
            .filter(|(_, client)| {
                !self.clients.get(client).is_some_and(|entry| self.is_shown(entry, *client, target))
            })
            .collect();
        for (session, client) in hidden {
            self.tell(client, &session, "Target.targetDestroyed", json!({"targetId": id.as_str()}));
            if let Some(target) = self.targets.find_mut(id.as_str()) {
                target.announced.remove(&session);
            }
        }
        self.announce_created(id);
        self.offer(id, now);
    }
}
