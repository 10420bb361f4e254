//! The life of partitions: reserving and ending them.

use std::time::Instant;

use serde_json::json;
use tabwire_api::{BrowserContextId, ClientId, PartitionId, TargetId};

use crate::control::link::LinkState;
use crate::limits::PARTITION_END_DEADLINE;
use crate::mux::Mux;
use crate::output::{CloseReason, Output};
use crate::partition::context_table::Creator;
use crate::partition::table::{Ending, PartitionScope};
use crate::routing::pending::InternalCommand;
use crate::target::entry::{Owner, TargetEntry, UNOWNED};

impl Mux {
    /// Reserves a context or tabs for a partition. Call it before the partition's clients join. Clients that
    /// can no longer see its targets receive their destroy events.
    pub fn reserve(&mut self, partition: PartitionId, place: PartitionScope, now: Instant) {
        self.router.set_clock(now);
        if let PartitionScope::Context(context) = &place {
            self.state.partitions.contexts_mut().insert(
                context.clone(),
                Creator::Control,
                Some(partition.clone()),
            );
        }
        self.state.partitions.insert(partition.clone(), place);
        self.assign_partitions(now);
        let moved: Vec<TargetId> = self
            .state
            .targets
            .iter()
            .filter(|target| self.state.partition_of(target) == Some(Some(&partition)))
            .map(|target| target.id.clone())
            .collect();
        for target in moved {
            self.refresh_visibility(&target, now);
        }
        self.list_existing(now);
    }

    /// The browser is the user's: partitions of tabs also see the tabs that no client opened.
    pub fn show_user_tabs(&mut self) {
        self.state.partitions.set_users_browser();
    }

    /// Finds the partitions of contexts and tabs that existed before the link. Needed once: later ones arrive
    /// with their owner.
    pub(crate) fn list_existing(&mut self, now: Instant) {
        if self.control.state() != LinkState::Connected || self.state.partitions.is_empty() {
            return;
        }
        if let Some(control) = self.control.session().filter(|_| self.state.partitions.begin_listing()) {
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

    /// The number of partitions.
    #[must_use]
    pub fn partitions(&self) -> usize {
        self.state.partitions.len()
    }

    /// Creates a browser context for a partition; no client sees it until it is reserved.
    pub fn create_context(&mut self, ticket: u64, proxy: Option<&str>, now: Instant) {
        let Some(control) = self.control.session() else {
            self.router.push(Output::ContextCreated { ticket, context: None });
            return;
        };
        // The context must outlive the daemon: with `disposeOnDetach`, Chromium disposes of it when the
        // control session ends.
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
            self.state.partitions.contexts_mut().insert(context.clone(), Creator::Control, None);
        }
        self.resolve_owners(id, &UNOWNED, now, |_, _| None);
        self.router.push(Output::ContextCreated { ticket, context });
    }

    /// Ends a partition: disconnects its clients, disposes of its contexts, closes its tabs and removes it. The
    /// `kept` tabs stay open, without a partition.
    pub fn end_partition(&mut self, ticket: u64, partition: &PartitionId, kept: Vec<TargetId>, now: Instant) {
        self.router.set_clock(now);
        self.state.partitions.take(partition);
        let clients = self
            .state
            .clients
            .iter()
            .filter(|(_, client)| client.options.partition.as_ref() == Some(partition));
        for client in clients.map(|(id, _)| id).collect::<Vec<ClientId>>() {
            self.disconnect(client, CloseReason::PartitionEnded);
        }
        let contexts = self.state.partitions.contexts().of_partition(partition);
        let inside = |page: &&TargetEntry| {
            page.context_text().is_some_and(|place| contexts.iter().any(|context| context.as_str() == place))
        };
        let pages: Vec<TargetId> = self
            .state
            .targets
            .iter()
            .filter(|target| target.target_type() == "page" && target.is_tab_content())
            .filter(|target| self.state.partition_of(target) == Some(Some(partition)) && !inside(target))
            .map(|target| target.id.clone())
            .filter(|target| !kept.contains(target))
            .collect();
        let mut ending = Ending {
            ticket,
            partition: partition.clone(),
            contexts: contexts.clone(),
            kept,
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
        self.state.partitions.push_ending(ending);
        self.finish_endings(now);
    }

    /// One of the commands that end a partition is done.
    pub(crate) fn end_command_done(&mut self, ticket: u64, now: Instant) {
        self.state.partitions.end_command_done(ticket);
        self.finish_endings(now);
    }

    /// Reports partitions that have fully ended, and those that take too long.
    pub(crate) fn finish_endings(&mut self, now: Instant) {
        for ending in self.state.partitions.take_endings() {
            let is_left = |target: &&TargetEntry| {
                self.state.partition_of(target) == Some(Some(&ending.partition))
                    && !self.state.is_kept(&ending.kept, target)
            };
            let remains = self.state.targets.iter().any(|target| is_left(&target));
            if (ending.commands > 0 || remains) && now < ending.until {
                self.state.partitions.push_ending(ending);
                continue;
            }
            // A context that the browser has not disposed of stays hidden from all clients.
            for context in ending.contexts.iter().filter(|_| !remains) {
                self.state.partitions.contexts_mut().end(context, now);
            }
            self.release_partition(&ending.partition, now);
            self.router.push(Output::PartitionEnded { ticket: ending.ticket });
        }
    }

    /// The targets that an ended partition leaves have no partition.
    fn release_partition(&mut self, ended: &PartitionId, now: Instant) {
        let mut released = Vec::new();
        for target in self.state.targets.iter_mut() {
            if let Owner::Unowned { partition, .. } = &mut target.owner
                && partition.as_ref() == Some(ended)
            {
                *partition = None;
                released.push(target.id.clone());
            }
        }
        for id in released {
            self.refresh_visibility(&id, now);
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
        let unwanted = partition.as_ref().is_some_and(|partition| !self.state.is_reserved(partition));
        let owner = self.state.owner_of_late_result(client, partition);
        self.target_created(id, target.map(|target| (owner, target)), now);
        if let Some(target) = target.filter(|_| unwanted) {
            self.control_command("Target.closeTarget", json!({"targetId": target}), now);
        }
    }

    /// Assigns partitions to targets that existed before their owners were known. Repeats, because a target
    /// can inherit the partition of another.
    pub(crate) fn assign_partitions(&mut self, now: Instant) {
        loop {
            let free = |target: &&TargetEntry| matches!(target.owner, Owner::Unowned { partition: None, .. });
            let found: Vec<(TargetId, PartitionId)> = self
                .state
                .targets
                .iter()
                .filter(free)
                .filter_map(|target| Some((target.id.clone(), self.state.inherited_partition(target)?)))
                .collect();
            if found.is_empty() {
                return;
            }
            for (id, partition) in found {
                if let Some(Owner::Unowned { partition: place, .. }) =
                    self.state.targets.find_mut(id.as_str()).map(|target| &mut target.owner)
                {
                    *place = Some(partition);
                }
                self.refresh_visibility(&id, now);
            }
        }
    }

    /// The partition of a target has changed: clients that may no longer see it receive its destroy event.
    pub(crate) fn refresh_visibility(&mut self, id: &TargetId, now: Instant) {
        let Some(target) = self.state.targets.find(id.as_str()) else { return };
        let hidden: Vec<_> = self
            .state
            .discoverers(id.as_str())
            .into_iter()
            .filter(|(_, client)| {
                !self
                    .state
                    .clients
                    .get(*client)
                    .is_some_and(|entry| self.state.is_visible(entry, *client, target))
            })
            .collect();
        for (session, client) in hidden {
            self.send_event(client, &session, "Target.targetDestroyed", json!({"targetId": id.as_str()}));
            if let Some(target) = self.state.targets.find_mut(id.as_str()) {
                target.discoverers.remove(&session);
            }
        }
        self.send_target_created(id);
        self.offer(id, now);
    }
}
