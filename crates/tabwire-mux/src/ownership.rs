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
use crate::pending::{Asker, Errand, Meaning};
use crate::target_entry::{LOST_OWNER, Owner, TargetEntry};

const NOBODY: Owner = Owner::Nobody { released: 0 };

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
        if let Some(entry) = self.targets.find_mut(id.as_str()) {
            entry.owner = owner;
        }
        self.claims.take(&id);
        self.link_partner(&id);
        if self.targets.find(id.as_str()).is_some_and(TargetEntry::is_settled) {
            self.announce_created(&id);
            self.decide_partner(&id, now);
            self.offer_unattached(&id, now);
        }
    }

    fn guess_owner(&self, id: &TargetId) -> Owner {
        // While the link starts, the browser lists what was there before any client.
        let Some(entry) = self.targets.find(id.as_str()).filter(|_| self.link != LinkState::Starting) else {
            return NOBODY;
        };
        if let Some(owner) = self.claims.find(id) {
            return owner.clone();
        }
        if let Some(client) = entry.context().and_then(|context| self.contexts.get(&context)) {
            return Owner::Client(*client);
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
        Some(known.or_else(|| self.sole_owner(entry)).unwrap_or(LOST_OWNER))
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
        let same_place = |page: &&TargetEntry| {
            page.target_type() == "page"
                && page.context() == worker.context()
                && page.origin().is_some()
                && page.origin() == worker.origin()
        };
        let mut owners = self.targets.iter().filter(same_place).map(|page| &page.owner);
        match owners.next() {
            Some(first @ Owner::Client(_)) if owners.all(|owner| owner == first) => first.clone(),
            _ => NOBODY,
        }
    }

    /// Unanswered commands one of which may have made a target whose context does not tell its owner.
    fn commands_that_may_have_made(&self, entry: &TargetEntry) -> Vec<u64> {
        let shared = |context: &Option<BrowserContextId>| {
            context.as_ref().is_none_or(|context| !self.contexts.contains_key(context))
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
                Asker::Client { meaning: Meaning::CreateTarget(context), .. } => shared(context),
                Asker::House(Errand::OrphanCreate(_) | Errand::OpenTab(_)) => true,
                Asker::Client { meaning: Meaning::CreateContext, .. }
                | Asker::House(Errand::OrphanContext(_)) => strange_context,
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
    pub(crate) fn context_made(&mut self, id: u64, context: Option<&str>, client: ClientId, now: Instant) {
        if let Some(context) = context {
            self.contexts.insert(BrowserContextId::new(context), client);
        }
        self.command_settled(id, &NOBODY, now, |mux, root| {
            let place = mux.targets.find(root.as_str())?.context()?;
            mux.contexts.get(&place).map(|owner| Owner::Client(*owner))
        });
    }

    /// Whose is what a client made when it was no longer waiting: still its own, or released if it has left.
    pub(crate) fn owner_after(&mut self, client: ClientId) -> Owner {
        if self.clients.contains_key(&client) {
            return Owner::Client(client);
        }
        self.sequence += 1;
        Owner::Nobody { released: self.sequence }
    }

    /// A client reached a part of a page through its session on the page.
    pub(crate) fn part_reached(&mut self, client: ClientId, id: &TargetId, now: Instant) {
        if self.targets.find(id.as_str()).is_some_and(|entry| entry.owner == Owner::Nested) {
            self.decide(id, Owner::Client(client), now);
        }
    }

    /// What a client owned is nobody's once it has left.
    pub(crate) fn release_targets(&mut self, client: ClientId, now: Instant) {
        self.sequence += 1;
        let released = Owner::Nobody { released: self.sequence };
        self.claims.release(client, &released);
        let mut ids = Vec::new();
        for target in self.targets.iter_mut() {
            if target.owner == Owner::Client(client) {
                target.owner = released.clone();
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
            (Owner::Undecided { .. } | Owner::Unlinked, _) => false,
            (_, Share::All) => true,
            (Owner::Nested, _) => false,
            (Owner::Client(owner), _) => *owner == id,
            (Owner::Nobody { .. }, Share::Released) => true,
            (Owner::Nobody { released }, Share::Own) => *released < client.joined,
        }
    }

    /// Whether a client may name a target: one it is shown, has made, or is attached to.
    ///
    /// The house sees every target, so one it has not seen does not exist, or is another client's and on
    /// its way to us.
    pub(crate) fn may_name_target(&self, id: ClientId, target: &str) -> bool {
        let Some(client) = self.clients.get(&id) else { return false };
        let own = self.sessions.is_attached(id, target) || self.is_own_browser_target(id, target);
        if own || client.options.share == Share::All {
            return true;
        }
        match self.targets.find(target) {
            Some(entry) => self.is_shown(client, id, entry),
            None => self.claims.find(&TargetId::new(target)) == Some(&Owner::Client(id)),
        }
    }

    /// Whether a client may name a browser context: its own, or one nobody made.
    pub(crate) fn may_name_context(&self, id: ClientId, context: &str) -> bool {
        let shares_all = self.clients.get(&id).is_some_and(|client| client.options.share == Share::All);
        match self.contexts.get(context) {
            Some(owner) => *owner == id || shares_all,
            None => !self.may_be_anothers_new_context(id, context),
        }
    }

    /// Whether a context nobody has seen yet may be the one another client is making.
    fn may_be_anothers_new_context(&self, id: ClientId, context: &str) -> bool {
        let anothers = |asker: &Asker| match asker {
            Asker::Client { client, meaning: Meaning::CreateContext, .. } => *client != id,
            Asker::House(Errand::OrphanContext(_)) => true,
            _ => false,
        };
        self.pending.iter().any(|(_, pending)| anothers(&pending.asker))
            && !self
                .targets
                .iter()
                .any(|target| target.is_decided() && target.text("browserContextId") == Some(context))
    }
}
