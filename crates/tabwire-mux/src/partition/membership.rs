//! The partition of a target, and what belongs to a partition.

use std::time::Instant;

use serde_json::Value;
use tabwire_api::{BrowserContextId, ClientId, PartitionId, TargetId};

use crate::partition::context_table::{ContextEntry, Creator};
use crate::partition::table::PartitionScope;
use crate::state::BrowserState;
use crate::target::entry::{Owner, TargetEntry};

impl BrowserState {
    /// Contexts without a creator or partition belong to a client of an earlier daemon; no client sees them.
    pub(crate) fn contexts_listed(&mut self, result: &Value) {
        let contexts = result.get("browserContextIds").and_then(Value::as_array);
        for context in contexts.into_iter().flatten().filter_map(Value::as_str) {
            self.partitions.contexts_mut().found(context);
        }
    }

    /// A tab is gone. In a browser of the user it may come back: the user paused everything, or visited a page that is closed
    /// to extensions. It is in the same partition then.
    pub(crate) fn keep_partition(&mut self, id: &str) {
        let Some(page) = self.targets.find(id).filter(|page| page.target_type() == "page") else { return };
        if let (Some(Some(partition)), id) = (self.partition_of(page), page.id.clone()) {
            let partition = partition.clone();
            self.partitions.list_tab(&partition, id);
        }
    }

    /// Whether a target is a kept tab or a part of one.
    pub(super) fn is_kept(&self, kept: &[TargetId], target: &TargetEntry) -> bool {
        let parent = target.text("parentFrameId").and_then(|frame| self.targets.page_of_frame(frame));
        [Some(&target.id), target.counterpart.as_ref(), parent.map(|page| &page.id)]
            .into_iter()
            .flatten()
            .any(|id| kept.contains(id))
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
}
