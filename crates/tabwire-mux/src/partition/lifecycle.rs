//! The life of partitions: reserving and ending them, and finding the partition of a target.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{BrowserContextId, ClientId, PartitionId, TargetId};

use crate::control::link::LinkState;
use crate::limits::PARTITION_END_DEADLINE;
use crate::mux::Mux;
use crate::output::{CloseReason, Output};
use crate::partition::context_table::{ContextEntry, Creator};
use crate::partition::table::{Ending, PartitionScope};
use crate::routing::pending::InternalCommand;
use crate::target::entry::{Owner, TargetEntry};

impl Mux {
    /// Reserves a context or tabs for a partition. Call it before the partition's clients join. Clients that
    /// can no longer see its targets receive their destroy events.
    pub fn reserve(&mut self, partition: PartitionId, place: PartitionScope, now: Instant) {
        self.router.set_clock(now);
        if let PartitionScope::Context(context) = &place {
            self.partitions.contexts_mut().insert(context.clone(), Creator::Control, Some(partition.clone()));
        }
        self.partitions.insert(partition.clone(), place);
        self.assign_partitions(now);
        let moved: Vec<TargetId> = self
            .targets
            .iter()
            .filter(|target| self.partition_of(target) == Some(Some(&partition)))
            .map(|target| target.id.clone())
            .collect();
        for target in moved {
            self.refresh_visibility(&target, now);
        }
        self.list_existing(now);
    }

    /// Finds the partitions of contexts and tabs that existed before the link. Needed once: later ones arrive
    /// with their owner.
    pub(crate) fn list_existing(&mut self, now: Instant) {
        if self.control.state() != LinkState::Connected || self.partitions.is_empty() {
            return;
        }
        if let Some(control) = self.control.session().filter(|_| self.partitions.begin_listing()) {
            self.router.send(
                Some(&control),
                "Target.getBrowserContexts",
                json!({}),
                InternalCommand::ListContexts,
                now,
            );
        }
        self.map_tabs(now);
    }

    /// Contexts without a creator or partition belong to a client of an earlier daemon; no client sees them.
    pub(crate) fn contexts_listed(&mut self, result: &Value) {
        let contexts = result.get("browserContextIds").and_then(Value::as_array);
        for context in contexts.into_iter().flatten().filter_map(Value::as_str) {
            self.partitions.contexts_mut().found(context);
        }
    }

    /// The number of partitions.
    #[must_use]
    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// Creates a browser context for a partition; no client sees it until it is reserved.
    pub fn create_context(&mut self, ticket: u64, proxy: Option<&str>, now: Instant) {
        let Some(control) = self.control.session() else {
            self.router.push(Output::ContextCreated { ticket, context: None });
            return;
        };
        let mut params = json!({"disposeOnDetach": false});
        if let (Some(proxy), Some(members)) = (proxy, params.as_object_mut()) {
            members.insert("proxyServer".to_owned(), json!(proxy));
        }
        self.router.send(
            Some(&control),
            "Target.createBrowserContext",
            params,
            InternalCommand::CreateContext(ticket),
            now,
        );
    }

    pub(crate) fn partition_context_created(
        &mut self,
        id: u64,
        ticket: u64,
        context: Option<&str>,
        now: Instant,
    ) {
        let context = context.map(BrowserContextId::new);
        if let Some(context) = &context {
            self.partitions.contexts_mut().insert(context.clone(), Creator::Control, None);
        }
        let unowned = Owner::Unowned { released: 0, partition: None };
        self.resolve_owners(id, &unowned, now, |_, _| None);
        self.router.push(Output::ContextCreated { ticket, context });
    }

    /// Ends a partition: disconnects its clients, disposes of its contexts, closes its tabs and removes it.
    pub fn end_partition(&mut self, ticket: u64, partition: &PartitionId, now: Instant) {
        self.router.set_clock(now);
        self.partitions.take(partition);
        let clients =
            self.clients.iter().filter(|(_, client)| client.options.partition.as_ref() == Some(partition));
        for client in clients.map(|(id, _)| id).collect::<Vec<ClientId>>() {
            self.disconnect(client, CloseReason::PartitionEnded);
        }
        let contexts = self.partitions.contexts().of_partition(partition);
        let inside = |page: &&TargetEntry| {
            page.context_text().is_some_and(|place| contexts.iter().any(|context| context.as_str() == place))
        };
        let pages: Vec<TargetId> = self
            .targets
            .iter()
            .filter(|target| target.target_type() == "page" && target.is_tab_content())
            .filter(|target| self.partition_of(target) == Some(Some(partition)) && !inside(target))
            .map(|target| target.id.clone())
            .collect();
        let mut ending = Ending {
            ticket,
            partition: partition.clone(),
            contexts: contexts.clone(),
            commands: 0,
            until: now + PARTITION_END_DEADLINE,
        };
        if let Some(control) = self.control.session() {
            ending.commands = pages.len() + contexts.len();
            for page in pages {
                let params = json!({"targetId": page.as_str()});
                self.router.send(
                    Some(&control),
                    "Target.closeTarget",
                    params,
                    InternalCommand::EndPartition(ticket),
                    now,
                );
            }
            for context in contexts {
                let params = json!({"browserContextId": context.as_str()});
                self.router.send(
                    Some(&control),
                    "Target.disposeBrowserContext",
                    params,
                    InternalCommand::EndPartition(ticket),
                    now,
                );
            }
        }
        self.partitions.push_ending(ending);
        self.finish_endings(now);
    }

    /// One of the commands that end a partition is done.
    pub(crate) fn end_command_done(&mut self, ticket: u64, now: Instant) {
        self.partitions.end_command_done(ticket);
        self.finish_endings(now);
    }

    /// Reports partitions that have fully ended, and those that take too long.
    pub(crate) fn finish_endings(&mut self, now: Instant) {
        for ending in self.partitions.take_endings() {
            let remains =
                self.targets.iter().any(|target| self.partition_of(target) == Some(Some(&ending.partition)));
            if (ending.commands > 0 || remains) && now < ending.until {
                self.partitions.push_ending(ending);
                continue;
            }
            // A context that the browser has not disposed of stays hidden from all clients.
            for context in ending.contexts.iter().filter(|_| !remains) {
                self.partitions.contexts_mut().end(context, now);
            }
            self.router.push(Output::PartitionEnded { ticket: ending.ticket });
        }
    }

    /// A target was created for a client that no longer waits for it. If its partition has ended, it is
    /// closed.
    pub(crate) fn orphaned_target_created(
        &mut self,
        id: u64,
        (client, partition): (ClientId, Option<PartitionId>),
        target: Option<&str>,
        now: Instant,
    ) {
        let unwanted = partition.as_ref().is_some_and(|partition| !self.is_reserved(partition));
        let owner = self.owner_of_late_result(client, partition);
        self.target_created(id, target.map(|target| (owner, target)), now);
        if let Some(target) = target.filter(|_| unwanted) {
            self.control_command("Target.closeTarget", json!({"targetId": target}), now);
        }
    }

    /// The browser has disposed of these contexts.
    pub(crate) fn contexts_ended(&mut self, contexts: &[BrowserContextId], now: Instant) {
        for context in contexts {
            self.partitions.contexts_mut().end(context, now);
        }
    }

    /// Whether a partition is reserved and has not ended.
    pub(crate) fn is_reserved(&self, partition: &PartitionId) -> bool {
        self.partitions.find(partition).is_some()
    }

    /// The context that replaces the browser's default one for a client.
    pub(crate) fn default_context_of(&self, client: ClientId) -> Option<&BrowserContextId> {
        match self.partitions.find(self.clients.get(client)?.options.partition.as_ref()?)? {
            PartitionScope::Context(context) => Some(context),
            PartitionScope::Tabs(_) => None,
        }
    }

    /// The partition of a target. `Some(None)` means no partition; `None` means unknown, or hidden from all
    /// clients.
    pub(crate) fn partition_of<'a>(&'a self, target: &'a TargetEntry) -> Option<Option<&'a PartitionId>> {
        match target.context_text().and_then(|context| self.partitions.contexts().find(context)) {
            Some(ContextEntry { partition: Some(partition), .. }) => return Some(Some(partition)),
            Some(ContextEntry { creator: Creator::Control, partition: None, .. }) => return None,
            _ => {}
        }
        match &target.owner {
            Owner::Client(client) => Some(self.clients.partition(*client)),
            Owner::Unowned { partition, .. } => Some(partition.as_ref()),
            Owner::Nested => self.only_partition(target),
            Owner::Undecided { .. } | Owner::Unlinked | Owner::Unknown => None,
        }
    }

    /// The partition of all pages in a target's context, if they have the same one.
    pub(crate) fn only_partition<'a>(&'a self, target: &'a TargetEntry) -> Option<Option<&'a PartitionId>> {
        if self.partitions.is_empty() {
            return Some(None);
        }
        let mut partitions = self
            .targets
            .iter()
            .filter(|page| page.target_type() == "page" && page.is_tab_content() && page.id != target.id)
            .filter(|page| page.context_text() == target.context_text())
            .map(|page| self.partition_of(page));
        let first = partitions.next()??;
        partitions.all(|partition| partition == Some(first)).then_some(first)
    }

    /// The partition of a target without a known owner: the one it is listed for, or that of a related page.
    pub(crate) fn inherited_partition(&self, target: &TargetEntry) -> Option<PartitionId> {
        if self.partitions.is_empty() {
            return None;
        }
        if let Some(partition) = self.partitions.listing(&target.id) {
            return Some(partition.clone());
        }
        let counterpart = target.counterpart.as_ref().map(TargetId::as_str);
        let related = ["openerId", "openerFrameId", "parentFrameId", "parentId"];
        let related = related.into_iter().filter_map(|field| target.text(field)).chain(counterpart);
        let partition = related
            .filter_map(|id| self.targets.page_of_frame(id))
            .find_map(|relative| self.partition_of(relative).flatten());
        match partition {
            None if target.is_shared_worker() => self.partition_by_origin(target).flatten().cloned(),
            partition => partition.cloned(),
        }
    }

    /// The partition of all pages that a worker serves; none when one of them has no partition.
    pub(crate) fn partition_by_origin<'a>(
        &'a self,
        worker: &'a TargetEntry,
    ) -> Option<Option<&'a PartitionId>> {
        let partitions: Vec<_> = self
            .targets
            .iter()
            .filter(|page| page.is_served_by(worker))
            .map(|page| self.partition_of(page))
            .collect();
        match partitions.first() {
            None => Some(None),
            Some(first) if partitions.iter().all(|partition| partition == first) => *first,
            Some(_) => partitions.contains(&Some(None)).then_some(None),
        }
    }

    /// Assigns partitions to targets that existed before their owners were known. Repeats, because a target
    /// can inherit the partition of another.
    pub(crate) fn assign_partitions(&mut self, now: Instant) {
        loop {
            let free = |target: &&TargetEntry| matches!(target.owner, Owner::Unowned { partition: None, .. });
            let found: Vec<(TargetId, PartitionId)> = self
                .targets
                .iter()
                .filter(free)
                .filter_map(|target| Some((target.id.clone(), self.inherited_partition(target)?)))
                .collect();
            if found.is_empty() {
                return;
            }
            for (id, partition) in found {
                if let Some(Owner::Unowned { partition: place, .. }) =
                    self.targets.find_mut(id.as_str()).map(|target| &mut target.owner)
                {
                    *place = Some(partition);
                }
                self.refresh_visibility(&id, now);
            }
        }
    }

    /// The partition of a target has changed: clients that may no longer see it receive its destroy event.
    pub(crate) fn refresh_visibility(&mut self, id: &TargetId, now: Instant) {
        let Some(target) = self.targets.find(id.as_str()) else { return };
        let hidden: Vec<_> = self
            .discoverers(id.as_str())
            .into_iter()
            .filter(|(_, client)| {
                !self.clients.get(*client).is_some_and(|entry| self.is_visible(entry, *client, target))
            })
            .collect();
        for (session, client) in hidden {
            self.send_event(client, &session, "Target.targetDestroyed", json!({"targetId": id.as_str()}));
            if let Some(target) = self.targets.find_mut(id.as_str()) {
                target.discoverers.remove(&session);
            }
        }
        self.send_target_created(id);
        self.offer(id, now);
    }
}
