//! Infers the owner of a target that the browser announces, from its context, opener, page or origin.
//!
//! A target belongs to the client that created it: directly, in a context it created, or as the opener of a
//! popup. Targets that existed before any client, or that the user opened, have no owner.

use tabwire_api::{BrowserContextId, TargetId};

use crate::control::link::LinkState;
use crate::routing::pending::{InternalCommand, PendingTable, Requester, ResponseHandling};
use crate::state::BrowserState;
use crate::target::entry::{Owner, TargetEntry, UNOWNED};

impl BrowserState {
    /// The owner of a target that the browser has just announced. `pending` are the commands without a response.
    pub(crate) fn infer_owner(&self, id: &TargetId, link: LinkState, pending: &PendingTable) -> Owner {
        let Some(entry) = self.targets.find(id.as_str()) else { return UNOWNED };
        // While the link starts, the browser lists targets that existed before any client.
        if link == LinkState::Starting {
            return Owner::Unowned { is_users: true, partition: self.inherited_partition(entry) };
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
        if let Some(partition) = self.partitions.listing(id) {
            return Owner::Unowned { is_users: true, partition: Some(partition.clone()) };
        }
        if let Some(owner) = self.owner_by_opener(entry) {
            return owner;
        }
        // The event of a new target precedes the response that tells which command created it.
        let commands = self.commands_that_may_have_made(entry, pending);
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

    /// The owner of a target that some unknown client caused. Only clients that see released targets see it; if its
    /// partition is unknown too, no client does.
    fn unknown_owner(&self, entry: &TargetEntry) -> Owner {
        match self.only_partition(entry) {
            Some(partition) => Owner::Unowned { is_users: false, partition: partition.cloned() },
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
            (_, Some(partition)) => Owner::Unowned { is_users: true, partition: partition.cloned() },
            (_, None) => Owner::Unknown,
        }
    }

    /// Pending commands one of which may have created a target, when its context does not determine its
    /// owner.
    fn commands_that_may_have_made(&self, entry: &TargetEntry, pending: &PendingTable) -> Vec<u64> {
        let shared = |context: &Option<BrowserContextId>| {
            context
                .as_ref()
                .is_none_or(|context| self.partitions.contexts().client_of(context.as_str()).is_none())
        };
        let context = entry.context();
        // Chromium can announce a page before the response to the command that created its context.
        let strange_context = context.is_some()
            && !self
                .targets
                .iter()
                .any(|other| other.id != entry.id && other.has_owner() && other.context() == context);
        pending
            .iter()
            .filter(|(_, pending)| match &pending.requester {
                Requester::Client { handling: ResponseHandling::CreateTarget { context, .. }, .. } => {
                    shared(context)
                }
                Requester::Internal(
                    InternalCommand::OrphanedTarget(..)
                    | InternalCommand::OpenTab(..)
                    | InternalCommand::OpenFirstPage(_),
                ) => true,
                Requester::Client { handling: ResponseHandling::CreateContext { .. }, .. }
                | Requester::Internal(
                    InternalCommand::OrphanedContext(..) | InternalCommand::CreateContext(_),
                ) => strange_context,
                _ => false,
            })
            .map(|(id, _)| id)
            .collect()
    }
}
