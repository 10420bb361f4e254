//! Partitions: parts of one browser whose clients do not see each other's targets.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tabwire_api::{BrowserContextId, PartitionId, TargetId};

use crate::partition::context_table::ContextTable;

/// Tabs listed for one partition of a browser of the user.
const TABS_LISTED: usize = 512;

/// The part of the browser that a partition has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartitionScope {
    /// Its own browser context, which replaces the default one for its clients.
    Context(BrowserContextId),
    /// Tabs in the default context beside other partitions: these, and the popups they open.
    Tabs(Vec<TargetId>),
}

/// A partition that is being ended.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    /// The ticket that its end is reported with.
    pub(crate) ticket: u64,
    pub(crate) partition: PartitionId,
    /// Its browser contexts, which are being disposed of.
    pub(crate) contexts: Vec<BrowserContextId>,
    /// Tabs that stay open.
    pub(crate) kept: Vec<TargetId>,
    /// Pending commands that end it.
    pub(crate) commands: usize,
    pub(crate) until: Instant,
}

/// All partitions of a browser.
#[derive(Debug, Default)]
pub(crate) struct PartitionTable {
    partitions: BTreeMap<PartitionId, PartitionScope>,
    endings: Vec<Ending>,
    /// Whether the contexts that predate the link are listed.
    contexts_listed: bool,
    contexts: ContextTable,
    /// Whether the browser is the user's: partitions of tabs also see the tabs that no client opened.
    is_users_browser: bool,
}

impl PartitionTable {
    /// The browser is the user's, with tabs that the user opened.
    pub(crate) fn set_users_browser(&mut self) {
        self.is_users_browser = true;
    }

    /// Whether clients of a partition also see the tabs that the user opened.
    pub(crate) fn sees_user_tabs(&self, partition: &PartitionId) -> bool {
        self.is_users_browser && matches!(self.partitions.get(partition), Some(PartitionScope::Tabs(_)))
    }

    pub(crate) fn contexts(&self) -> &ContextTable {
        &self.contexts
    }

    pub(crate) fn contexts_mut(&mut self) -> &mut ContextTable {
        &mut self.contexts
    }

    /// Marks the contexts that predate the link as listed; returns whether they were not yet.
    pub(crate) fn begin_listing(&mut self) -> bool {
        !std::mem::replace(&mut self.contexts_listed, true)
    }

    pub(crate) fn push_ending(&mut self, ending: Ending) {
        self.endings.push(ending);
    }

    pub(crate) fn take_endings(&mut self) -> Vec<Ending> {
        std::mem::take(&mut self.endings)
    }

    /// A command that ends a partition is done.
    pub(crate) fn end_command_done(&mut self, ticket: u64) {
        for ending in self.endings.iter_mut().filter(|ending| ending.ticket == ticket) {
            ending.commands = ending.commands.saturating_sub(1);
        }
    }

    /// The browser is lost. The contexts of partitions stay known, so that no client gets the default one instead.
    pub(crate) fn browser_lost(&mut self) {
        self.contexts.clear();
        self.contexts_listed = false;
    }

    pub(crate) fn insert(&mut self, partition: PartitionId, place: PartitionScope) {
        self.partitions.insert(partition, place);
    }

    pub(crate) fn find(&self, partition: &PartitionId) -> Option<&PartitionScope> {
        self.partitions.get(partition)
    }

    pub(crate) fn take(&mut self, partition: &PartitionId) -> Option<PartitionScope> {
        self.partitions.remove(partition)
    }

    /// Whether a partition is reserved or being ended.
    pub(crate) fn is_known(&self, partition: &PartitionId) -> bool {
        self.partitions.contains_key(partition)
            || self.endings.iter().any(|ending| ending.partition == *partition)
    }

    pub(crate) fn len(&self) -> usize {
        self.partitions.len()
    }

    /// Whether there is no partition, so that all clients share one view.
    pub(crate) fn is_empty(&self) -> bool {
        self.partitions.is_empty() && self.endings.is_empty()
    }

    /// The partition that a tab was listed for.
    pub(crate) fn listing(&self, target: &TargetId) -> Option<&PartitionId> {
        let lists =
            |place: &PartitionScope| matches!(place, PartitionScope::Tabs(tabs) if tabs.contains(target));
        self.partitions.iter().find(|(_, place)| lists(place)).map(|(partition, _)| partition)
    }

    /// Lists a tab of a partition in a browser of the user, for the case that it comes back.
    pub(crate) fn list_tab(&mut self, partition: &PartitionId, tab: TargetId) {
        let Some(PartitionScope::Tabs(tabs)) = self.partitions.get_mut(partition) else { return };
        if self.is_users_browser && !tabs.contains(&tab) {
            if tabs.len() >= TABS_LISTED {
                tabs.remove(0);
            }
            tabs.push(tab);
        }
    }

    /// Whether a partition shares the default context with others.
    pub(crate) fn shares_default_context(&self) -> bool {
        self.partitions.values().any(|place| matches!(place, PartitionScope::Tabs(_)))
    }
}
