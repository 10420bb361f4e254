//! The owners of targets, and which clients see them.
//!
//! A target belongs to the client that created it: directly, in a context it created, or as the opener of a
//! popup. Targets that existed before any client, or that the user opened, have no owner.

use std::time::Instant;

use serde_json::Value;
use tabwire_api::{BrowserContextId, ClientId, PartitionId, TargetId};

use crate::client::state::{Client, Share};
use crate::control::link::LinkState;
use crate::mux::Mux;
use crate::partition::context_table::{ContextEntry, Creator};
use crate::routing::pending::{InternalCommand, Requester, ResponseHandling};
use crate::target::entry::{Owner, TargetEntry, UNOWNED};

impl Mux {
    /// A target is announced, possibly again.
    pub(crate) fn target_seen(&mut self, info: &Value, now: Instant) {
        let Some(id) = info.get("targetId").and_then(Value::as_str).filter(|id| !id.is_empty()) else {
            return;
        };
        if info.get("type").and_then(Value::as_str) == Some("browser") || self.targets.find(id).is_some() {
            return;
        }
        let id = TargetId::new(id);
        self.targets.insert(id.clone(), info.clone(), UNOWNED);
        let owner = self.infer_owner(&id);
        let predates_link = self.control.state() == LinkState::Starting;
        if let Some(entry) = self.targets.find_mut(id.as_str()) {
            entry.owner = owner;
            entry.predates_link = predates_link;
        }
        self.targets.unannounced_mut().take(&id);
        self.frame_target_seen(id.as_str(), Some(now));
        // While the link starts, Chromium lists targets in no order, so neighbours are not related.
        if !predates_link {
            self.targets.link_new(&id);
        }
        if self.targets.find(id.as_str()).is_some_and(TargetEntry::is_resolved) {
            self.send_target_created(&id);
            self.set_tab_owner(&id, now);
            self.offer_unattached(&id, now);
        }
    }

    fn infer_owner(&self, id: &TargetId) -> Owner {
        let Some(entry) = self.targets.find(id.as_str()) else { return UNOWNED };
        // While the link starts, the browser lists targets that existed before any client.
        if self.control.state() == LinkState::Starting {
            return Owner::Unowned { released: 0, partition: self.inherited_partition(entry) };
        }
        if let Some(owner) = self.targets.unannounced().find(id) {
            return owner.clone();
        }
        if let Some(client) =
            entry.context_text().and_then(|context| self.partitions.contexts().client_of(context))
        {
            return Owner::Client(client);
        }
        if entry.is_tab() {
            return Owner::Unlinked;
        }
        if entry.is_shared_worker() {
            return self.owner_by_origin(entry);
        }
        if entry.is_nested() {
            return self.owner_of_part(entry);
        }
        if let Some(owner) = self.owner_by_opener(entry) {
            return owner;
        }
        if let Some(partition) = self.partitions.listing(id) {
            return Owner::Unowned { released: 0, partition: Some(partition.clone()) };
        }
        let commands = self.commands_that_may_have_made(entry);
        if commands.is_empty() { UNOWNED } else { Owner::Undecided { commands, root: id.clone() } }
    }

    /// A popup has the owner of its opener.
    fn owner_by_opener(&self, entry: &TargetEntry) -> Option<Owner> {
        let mut openers = ["openerId", "openerFrameId"].into_iter().filter_map(|field| entry.text(field));
        let first = openers.next()?;
        let known = std::iter::once(first)
            .chain(openers)
            .find_map(|opener| self.targets.find(opener))
            .map(|opener| opener.owner.clone())
            .filter(|owner| !matches!(owner, Owner::Nested | Owner::Unlinked));
        // The opener may be a frame that is not a target.
        Some(known.or_else(|| self.only_owner(entry)).unwrap_or_else(|| self.unknown_owner(entry)))
    }

    /// The owner of a target that some unknown client caused. Clients with [`Share::Own`] do not see it; if its
    /// partition is unknown too, no client sees it.
    fn unknown_owner(&self, entry: &TargetEntry) -> Owner {
        match self.only_partition(entry) {
            Some(partition) => Owner::Unowned { released: u64::MAX, partition: partition.cloned() },
            None => Owner::Unknown,
        }
    }

    /// A frame or worker has the owner of its page.
    fn owner_of_part(&self, entry: &TargetEntry) -> Owner {
        let parent = entry.text("parentFrameId").and_then(|parent| self.targets.find(parent));
        let owner = parent.map(|parent| parent.owner.clone()).or_else(|| self.only_owner(entry));
        owner.unwrap_or(Owner::Nested)
    }

    /// The owner of all pages in a target's context, if they have the same one.
    fn only_owner(&self, entry: &TargetEntry) -> Option<Owner> {
        let mut owners = self
            .targets
            .iter()
            .filter(|page| page.target_type() == "page" && page.id != entry.id)
            .filter(|page| page.context() == entry.context())
            .map(|page| &page.owner);
        let first =
            owners.next().filter(|owner| matches!(owner, Owner::Client(_) | Owner::Unowned { .. }))?;
        owners.all(|owner| owner == first).then(|| first.clone())
    }

    /// A shared or service worker belongs to a client if only that client has pages of its origin.
    fn owner_by_origin(&self, worker: &TargetEntry) -> Owner {
        let mut owners = self.targets.iter().filter(|page| page.is_served_by(worker)).map(|page| &page.owner);
        match (owners.next(), self.partition_by_origin(worker)) {
            (Some(first @ Owner::Client(_)), _) if owners.all(|owner| owner == first) => first.clone(),
            (_, Some(partition)) => Owner::Unowned { released: 0, partition: partition.cloned() },
            (_, None) => Owner::Unknown,
        }
    }

    /// Pending commands one of which may have created a target, when its context does not determine its
    /// owner.
    fn commands_that_may_have_made(&self, entry: &TargetEntry) -> Vec<u64> {
        let shared = |context: &Option<BrowserContextId>| {
            context
                .as_ref()
                .is_none_or(|context| self.partitions.contexts().client_of(context.as_str()).is_none())
        };
        let context = entry.context();
        let strange_context = context.is_some()
            && !self
                .targets
                .iter()
                .any(|other| other.id != entry.id && other.has_owner() && other.context() == context);
        self.router
            .pending()
            .iter()
            .filter(|(_, pending)| match &pending.requester {
                Requester::Client { handling: ResponseHandling::CreateTarget { context, .. }, .. } => {
                    shared(context)
                }
                Requester::Internal(InternalCommand::OrphanedTarget(..) | InternalCommand::OpenTab(..)) => {
                    true
                }
                Requester::Client { handling: ResponseHandling::CreateContext { .. }, .. }
                | Requester::Internal(
                    InternalCommand::OrphanedContext(..) | InternalCommand::CreateContext(_),
                ) => strange_context,
                _ => false,
            })
            .map(|(id, _)| id)
            .collect()
    }

    /// Sets the owner of a target, and announces it to the clients that may see it.
    pub(crate) fn set_owner(&mut self, id: &TargetId, owner: Owner, now: Instant) {
        let Some(entry) = self.targets.find_mut(id.as_str()) else { return };
        if entry.has_owner() {
            return;
        }
        entry.owner = owner;
        self.send_target_created(id);
        self.set_tab_owner(id, now);
        self.offer_unattached(id, now);
        self.offer(id, now);
    }

    /// A tab has the owner of its page.
    fn set_tab_owner(&mut self, id: &TargetId, now: Instant) {
        let Some(entry) = self.targets.find(id.as_str()).filter(|entry| !entry.is_tab()) else { return };
        let owner = entry.owner.clone();
        let tab = entry.counterpart.clone();
        if let Some(tab) = tab {
            self.set_owner(&tab, owner, now);
        }
    }

    /// A `Target.createTarget` has returned: its target has an owner now, and other targets no longer wait
    /// for it.
    pub(crate) fn target_created(&mut self, id: u64, created: Option<(Owner, &str)>, now: Instant) {
        if let Some((owner, target)) = &created
            && self.targets.find(target).is_none()
            && self.control.state() == LinkState::Connected
        {
            self.targets.unannounced_mut().insert(TargetId::new(target), owner.clone(), now);
        }
        self.resolve_owners(id, &UNOWNED, now, |mux, root| {
            let (owner, target) = created.as_ref()?;
            let tab = mux.targets.find(root.as_str()).and_then(|entry| entry.counterpart.as_ref());
            let named = root.as_str() == *target || tab.is_some_and(|tab| tab.as_str() == *target);
            named.then(|| owner.clone())
        });
    }

    /// A command that may have created targets is done. `verdict` decides the owner of one of them;
    /// `otherwise` is the owner of those that wait for no other command.
    pub(crate) fn resolve_owners(
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
            self.set_owner(&target, owner, now);
        }
    }

    /// A client created a browser context; targets announced in it before the response are the client's.
    pub(crate) fn context_created(
        &mut self,
        id: u64,
        context: Option<&str>,
        (client, ends): (ClientId, bool),
        now: Instant,
    ) {
        if let Some(context) = context {
            let partition = self.clients.get(client).and_then(|client| client.options.partition.clone());
            self.partitions.contexts_mut().insert(
                BrowserContextId::new(context),
                Creator::Client { client, ends },
                partition,
            );
        }
        self.resolve_owners(id, &UNOWNED, now, |mux, root| {
            let place = mux.targets.find(root.as_str())?.context_text()?;
            mux.partitions.contexts().client_of(place).map(Owner::Client)
        });
    }

    /// The owner of a target that a client created but no longer waited for: the client, or none if it has
    /// left.
    pub(crate) fn owner_of_late_result(&mut self, client: ClientId, partition: Option<PartitionId>) -> Owner {
        if self.clients.contains(client) {
            return Owner::Client(client);
        }
        Owner::Unowned { released: self.clients.next_position(), partition }
    }

    /// A client reached a part of a page through its session on the page.
    pub(crate) fn nested_target_reached(&mut self, client: ClientId, id: &TargetId, now: Instant) {
        if self.targets.find(id.as_str()).is_some_and(|entry| entry.owner == Owner::Nested) {
            self.set_owner(id, Owner::Client(client), now);
        }
    }

    /// A client left: its targets have no owner now, and stay in its partition.
    pub(crate) fn release_targets(&mut self, client: ClientId, partition: Option<PartitionId>, now: Instant) {
        let released = Owner::Unowned { released: self.clients.next_position(), partition };
        self.targets.unannounced_mut().release(client, &released);
        let mut ids = Vec::new();
        for target in self.targets.iter_mut() {
            if target.owner == Owner::Client(client) {
                target.owner = released.clone();
                ids.push(target.id.clone());
            }
        }
        for id in ids {
            self.send_target_created(&id);
            self.offer_unattached(&id, now);
            self.offer(&id, now);
        }
    }

    /// Whether a client sees a target.
    pub(crate) fn is_visible(&self, client: &Client, id: ClientId, target: &TargetEntry) -> bool {
        if self.partition_of(target) != Some(client.options.partition.as_ref()) {
            return false;
        }
        match (&target.owner, client.options.share) {
            (Owner::Undecided { .. } | Owner::Unlinked | Owner::Unknown, _) => false,
            (_, Share::All) => true,
            (Owner::Nested, _) => false,
            (Owner::Client(owner), _) => *owner == id,
            (Owner::Unowned { .. }, Share::Released) => true,
            (Owner::Unowned { released, .. }, Share::Own) => *released < client.joined,
        }
    }

    /// Whether a client may name a target: one that it sees, created or is attached to.
    ///
    /// The mux sees every target, so a target that it has not seen does not exist, or belongs to another
    /// client and is about to be announced.
    pub(crate) fn may_name_target(&self, id: ClientId, target: &str) -> bool {
        let Some(client) = self.clients.get(id) else { return false };
        let own = self.sessions.is_attached(id, target) || self.is_own_browser_target(id, target);
        match self.targets.find(target) {
            _ if own => true,
            Some(entry) => self.is_visible(client, id, entry),
            None => self.targets.unannounced().find(&TargetId::new(target)) == Some(&Owner::Client(id)),
        }
    }

    /// Whether a client may name a browser context: its own, its partition's, or one that no client created.
    pub(crate) fn may_name_context(&self, id: ClientId, context: &str) -> bool {
        let Some(client) = self.clients.get(id) else { return false };
        let partition = client.options.partition.as_ref();
        match self.partitions.contexts().find(context) {
            Some(ContextEntry {
                creator: Creator::Client { client: creator, .. }, partition: place, ..
            }) => *creator == id || (client.options.share == Share::All && place.as_ref() == partition),
            Some(ContextEntry { creator: Creator::Left, partition: place, .. }) => {
                place.as_ref() == partition
            }
            Some(ContextEntry { creator: Creator::Control, partition: place, .. }) => {
                place.is_some() && place.as_ref() == partition
            }
            // Beside other partitions, an unknown context belongs to another client, except the context of
            // the partition's own tabs.
            None if partition.is_some() => {
                let here = |target: &TargetEntry| {
                    target.context_text() == Some(context) && self.is_visible(client, id, target)
                };
                self.targets.iter().any(here)
            }
            None => !self.may_be_anothers_new_context(id, context),
        }
    }

    /// Whether an unknown context may be the one that another client is creating.
    fn may_be_anothers_new_context(&self, id: ClientId, context: &str) -> bool {
        let anothers = |requester: &Requester| match requester {
            Requester::Client { client, handling: ResponseHandling::CreateContext { .. }, .. } => {
                *client != id
            }
            Requester::Internal(InternalCommand::OrphanedContext(..) | InternalCommand::CreateContext(_)) => {
                true
            }
            _ => false,
        };
        self.router.pending().iter().any(|(_, pending)| anothers(&pending.requester))
            && !self
                .targets
                .iter()
                .any(|target| target.has_owner() && target.text("browserContextId") == Some(context))
    }
}
