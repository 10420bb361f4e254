//! Sets the owners of targets as targets, responses and departures of clients arrive.

use std::time::Instant;

use serde_json::Value;
use tabwire_api::{BrowserContextId, ClientId, PartitionId, TargetId};

use crate::control::link::LinkState;
use crate::mux::Mux;
use crate::partition::context_table::Creator;
use crate::state::BrowserState;
use crate::target::entry::{Owner, TargetEntry, UNOWNED};

impl Mux {
    /// A target is announced, possibly again.
    pub(crate) fn target_seen(&mut self, info: &Value, now: Instant) {
        let Some(id) = info.get("targetId").and_then(Value::as_str).filter(|id| !id.is_empty()) else {
            return;
        };
        if info.get("type").and_then(Value::as_str) == Some("browser")
            || self.state.targets.find(id).is_some()
        {
            return;
        }
        let id = TargetId::new(id);
        self.state.targets.insert(id.clone(), info.clone(), UNOWNED);
        let owner = self.state.infer_owner(&id, self.control.state(), self.router.pending());
        let predates_link = self.control.state() == LinkState::Starting;
        if let Some(entry) = self.state.targets.find_mut(id.as_str()) {
            entry.owner = owner;
            entry.predates_link = predates_link;
        }
        self.state.targets.unannounced_mut().take(&id);
        self.frame_target_seen(id.as_str(), Some(now));
        // While the link starts, Chromium lists targets in no order, so neighbours are not related.
        if !predates_link {
            self.state.targets.link_new(&id);
        }
        if self.state.targets.find(id.as_str()).is_some_and(TargetEntry::is_resolved) {
            self.send_target_created(&id);
            self.set_tab_owner(&id, now);
            self.offer_unattached(&id, now);
        }
    }

    /// Sets the owner of a target, and announces it to the clients that may see it.
    pub(crate) fn set_owner(&mut self, id: &TargetId, owner: Owner, now: Instant) {
        let Some(entry) = self.state.targets.find_mut(id.as_str()) else { return };
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
        let Some(entry) = self.state.targets.find(id.as_str()).filter(|entry| !entry.is_tab()) else {
            return;
        };
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
            && self.state.targets.find(target).is_none()
            && self.control.state() == LinkState::Connected
        {
            self.state.targets.unannounced_mut().insert(TargetId::new(target), owner.clone(), now);
        }
        self.resolve_owners(id, &UNOWNED, now, |state, root| {
            let (owner, target) = created.as_ref()?;
            let tab = state.targets.find(root.as_str()).and_then(|entry| entry.counterpart.as_ref());
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
        verdict: impl Fn(&BrowserState, &TargetId) -> Option<Owner>,
    ) {
        let mut settled = Vec::new();
        for target in self.state.targets.ids() {
            let Some(Owner::Undecided { commands, root }) =
                self.state.targets.find_mut(target.as_str()).map(|entry| &mut entry.owner)
            else {
                continue;
            };
            if !commands.contains(&id) {
                continue;
            }
            commands.retain(|command| *command != id);
            let left = commands.len();
            let root = root.clone();
            match verdict(&self.state, &root) {
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
            let partition =
                self.state.clients.get(client).and_then(|client| client.options.partition.clone());
            self.state.partitions.contexts_mut().insert(
                BrowserContextId::new(context),
                Creator::Client { client, ends },
                partition,
            );
        }
        self.resolve_owners(id, &UNOWNED, now, |state, root| {
            let place = state.targets.find(root.as_str())?.context_text()?;
            state.partitions.contexts().client_of(place).map(Owner::Client)
        });
    }

    /// A client reached a part of a page through its session on the page.
    pub(crate) fn nested_target_reached(&mut self, client: ClientId, id: &TargetId, now: Instant) {
        if self.state.targets.find(id.as_str()).is_some_and(|entry| entry.owner == Owner::Nested) {
            self.set_owner(id, Owner::Client(client), now);
        }
    }

    /// A client left: its targets belong to the connection that is one client with it, else to no client; they stay in
    /// its partition, unless that has ended.
    pub(crate) fn release_targets(
        &mut self,
        client: ClientId,
        heir: Option<ClientId>,
        partition: Option<PartitionId>,
        now: Instant,
    ) {
        let partition = partition.filter(|partition| self.state.partitions.is_known(partition));
        let released = match heir {
            Some(heir) => Owner::Client(heir),
            None => Owner::Unowned { is_users: false, partition },
        };
        self.state.targets.unannounced_mut().release(client, &released);
        let mut ids = Vec::new();
        for target in self.state.targets.iter_mut() {
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

    /// A page shows another origin: its client now sees the workers of that origin that no client owns.
    pub(crate) fn announce_workers_of(&mut self, page: &str, now: Instant) {
        let Some(page) = self.state.targets.find(page) else { return };
        let free = |worker: &&TargetEntry| {
            worker.is_shared_worker()
                && matches!(worker.owner, Owner::Unowned { .. })
                && page.is_served_by(worker)
        };
        let workers: Vec<TargetId> =
            self.state.targets.iter().filter(free).map(|worker| worker.id.clone()).collect();
        for worker in workers {
            self.send_target_created(&worker);
            self.offer(&worker, now);
        }
    }
}

impl BrowserState {
    /// The owner of a target that a client created but no longer waited for: the client, or none if it has
    /// left.
    pub(crate) fn owner_of_late_result(&self, client: ClientId, partition: Option<PartitionId>) -> Owner {
        if self.clients.contains(client) {
            return Owner::Client(client);
        }
        Owner::Unowned { is_users: false, partition }
    }
}
