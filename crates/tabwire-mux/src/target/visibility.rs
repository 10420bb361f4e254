//! Which targets and browser contexts a client sees and may name.

use tabwire_api::{ClientId, PartitionId, TargetId};

use crate::client::state::{Client, Share};
use crate::partition::context_table::{ContextEntry, Creator};
use crate::routing::pending::{InternalCommand, PendingTable, Requester, ResponseHandling};
use crate::state::BrowserState;
use crate::target::entry::{Owner, TargetEntry};

impl BrowserState {
    fn is_in_partition(&self, client: &Client, target: &TargetEntry) -> bool {
        self.partition_of(target) == Some(client.options.partition.as_ref())
    }

    /// Whether a target is of a tab that the user opened, and the client's partition sees such tabs.
    pub(crate) fn is_user_tab(&self, client: &Client, target: &TargetEntry) -> bool {
        let sees = |partition: &PartitionId| self.partitions.sees_user_tabs(partition);
        client.options.partition.as_ref().is_some_and(sees)
            && matches!(target.owner, Owner::Unowned { .. })
            && self.partition_of(target) == Some(None)
    }

    /// Whether a client sees a target.
    pub(crate) fn is_visible(&self, client: &Client, id: ClientId, target: &TargetEntry) -> bool {
        let is_there = self.is_in_partition(client, target) || self.is_user_tab(client, target);
        if !is_there || Self::is_hidden(client, target) {
            return false;
        }
        match (&target.owner, client.options.share) {
            (Owner::Undecided { .. } | Owner::Unlinked | Owner::Unknown, _) => false,
            (_, Share::All) => true,
            (Owner::Nested, _) => false,
            (Owner::Client(owner), share) => {
                self.clients.shares_view(*owner, id)
                    || (share == Share::SessionTabs && self.clients.is_engine(*owner))
            }
            (Owner::Unowned { .. }, Share::Released | Share::SessionTabs) => true,
            (Owner::Unowned { .. }, _) if target.is_shared_worker() => self.serves_client(client, id, target),
            (Owner::Unowned { is_users, .. }, Share::UserTabs) => *is_users,
            (Owner::Unowned { .. }, Share::Own) => false,
        }
    }

    /// Whether a worker without an owner serves a page that a client sees.
    fn serves_client(&self, client: &Client, id: ClientId, worker: &TargetEntry) -> bool {
        let serves = |page: &TargetEntry| page.is_served_by(worker) && self.is_visible(client, id, page);
        self.targets.iter().any(serves)
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
            Some(entry) => self.is_visible(client, id, entry) || self.is_of_same_process(client, id, entry),
            None => match self.targets.unannounced().find(&TargetId::new(target)) {
                Some(Owner::Client(owner)) => self.clients.may_use_targets_of(id, *owner),
                _ => false,
            },
        }
    }

    /// Whether a list of targets for a client contains a target: one that it sees or is attached to.
    pub(crate) fn may_list_target(&self, id: ClientId, target: &str) -> bool {
        let is_shown = |client: &Client, entry: &TargetEntry| {
            self.is_visible(client, id, entry) || self.sessions.is_attached(id, target)
        };
        let client = self.clients.get(id);
        client.zip(self.targets.find(target)).is_some_and(|(client, entry)| is_shown(client, entry))
    }

    /// Whether a target belongs to another connection of the client's process, which may hand its id over.
    fn is_of_same_process(&self, client: &Client, id: ClientId, target: &TargetEntry) -> bool {
        let Owner::Client(owner) = &target.owner else { return false };
        self.partition_of(target) == Some(client.options.partition.as_ref())
            && self.clients.may_use_targets_of(id, *owner)
    }

    /// Whether a client may name a browser context: its own, its partition's, or one that no client created.
    pub(crate) fn may_name_context(&self, id: ClientId, context: &str, pending: &PendingTable) -> bool {
        let Some(client) = self.clients.get(id) else { return false };
        let partition = client.options.partition.as_ref();
        match self.partitions.contexts().find(context) {
            Some(ContextEntry {
                creator: Creator::Client { client: creator, .. }, partition: place, ..
            }) => {
                self.clients.may_use_targets_of(id, *creator)
                    || (client.options.share == Share::All && place.as_ref() == partition)
            }
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
            None => !self.may_be_anothers_new_context(id, context, pending),
        }
    }

    /// Whether an unknown context may be the one that another client is creating.
    fn may_be_anothers_new_context(&self, id: ClientId, context: &str, pending: &PendingTable) -> bool {
        let anothers = |requester: &Requester| match requester {
            Requester::Client { client, handling: ResponseHandling::CreateContext { .. }, .. } => {
                *client != id
            }
            Requester::Internal(InternalCommand::OrphanedContext(..) | InternalCommand::CreateContext(_)) => {
                true
            }
            _ => false,
        };
        pending.iter().any(|(_, pending)| anothers(&pending.requester))
            && !self
                .targets
                .iter()
                .any(|target| target.has_owner() && target.text("browserContextId") == Some(context))
    }
}
