//! Unanswered commands: our id to who asked, on which CDP session, and what the response means to us.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tabwire_api::{BrowserContextId, CdpSessionId, ClientId, PartitionId, TargetId};

use crate::guard::parts::NamedParts;
use crate::limits::{ATTACH_DEADLINE, JOIN_DEADLINE, PENDING_DEADLINE, START_DEADLINE};
use crate::routing::reply_ordering::DelayId;

/// The largest id the browser takes.
const LAST_ID: u64 = 0x7fff_ffff;

/// Who waits for a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Requester {
    /// The mux itself.
    Internal(InternalCommand),
    /// A client, under the id it chose.
    Client { client: ClientId, id: i64, handling: ResponseHandling },
}

/// What the mux asked for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InternalCommand {
    /// the control session.
    OpenControl,
    /// Discovery and auto-attach on the control session; the last of them means connected.
    InitControl,
    /// A client's browser-level CDP session.
    OpenRoot(ClientId),
    /// Attaching a client to a target because it asked for auto-attach.
    AutoAttach { browser_session: CdpSessionId, target: TargetId, delays: Vec<DelayId> },
    /// A target being created by a client that no longer waits for it.
    OrphanedTarget(ClientId, Option<PartitionId>),
    /// A browser context being made by a client that no longer waits for it.
    OrphanedContext(ClientId, Option<PartitionId>),
    /// A tab opened for nobody in particular, under the ticket it is reported with.
    OpenTab(u64, Option<PartitionId>),
    /// `Target.createBrowserContext` for a partition, with the caller's ticket.
    CreateContext(u64),
    /// One step of the end of a partition, under the ticket that is reported with.
    EndPartition(u64),
    /// The browser contexts that are there, in case an earlier daemon left some.
    ListContexts,
    /// A CDP session on a tab whose page is not known.
    AttachTab,
    /// The page in the tab that this CDP session is on.
    AutoAttachTab(CdpSessionId),
    /// Detaching a client that left; these contexts are gone when it is done.
    DetachRoot(Vec<BrowserContextId>),
    /// A CDP session of the mux on a target whose frames are wanted.
    AttachForFrames(TargetId),
    /// The frames of a target.
    GetFrameTree(TargetId),
    /// Nothing depends on the response.
    FireAndForget,
}

/// What a client's answer means to the mux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResponseHandling {
    /// Pass it on.
    PassThrough,
    /// A new target of this client's.
    CreateTarget {
        /// The context it is in; `None` is the default one.
        context: Option<BrowserContextId>,
        /// Where the mux has it go then.
        then: Option<String>,
    },
    /// A CDP session on this target, asked for by name.
    Attach(TargetId),
    /// A new browser context of this client's.
    CreateContext {
        /// Whether it ends with the CDP session it was asked for on.
        ends: bool,
    },
    /// The end of this browser context.
    DisposeContext(BrowserContextId),
    /// A list of targets, to be filtered.
    TargetList,
    /// A list of contexts, to be filtered.
    ContextList,
}

#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) requester: Requester,
    /// The CDP session the browser was asked on; `None` is the connection's root.
    pub(crate) session: Option<CdpSessionId>,
    pub(crate) since: Instant,
    /// Whether it gives a crashed page a new process, and so is answered after a crash.
    pub(crate) revives: bool,
    /// What its response is judged by, when it is to be judged.
    pub(crate) guarded: Option<Box<GuardedPending>>,
}

/// What is remembered of a command so that its response can be judged.
#[derive(Clone, Debug)]
pub(crate) struct GuardedPending {
    pub(crate) method: Box<str>,
    /// The ids that it named.
    pub(crate) names: Option<NamedParts>,
    /// The state of frames when it was sent.
    pub(crate) since: u64,
}

impl Pending {
    /// Whether it opens a CDP session of the mux's own, which is simply opened again after a loss.
    pub(crate) fn is_opening(&self) -> bool {
        matches!(
            self.requester,
            Requester::Internal(
                InternalCommand::OpenControl
                    | InternalCommand::InitControl
                    | InternalCommand::OpenRoot(_)
                    | InternalCommand::DetachRoot(_)
                    | InternalCommand::FireAndForget
            )
        )
    }

    /// What remains of it once its client no longer waits: what it makes must still be recognised.
    pub(crate) fn orphan(&self, partition: Option<PartitionId>, now: Instant) -> Option<Self> {
        let Requester::Client { client, handling, .. } = &self.requester else { return None };
        let internal = match handling {
            ResponseHandling::CreateTarget { .. } => InternalCommand::OrphanedTarget(*client, partition),
            ResponseHandling::CreateContext { .. } => InternalCommand::OrphanedContext(*client, partition),
            _ => return None,
        };
        Some(Self {
            requester: Requester::Internal(internal),
            session: self.session.clone(),
            since: now,
            revives: false,
            guarded: None,
        })
    }

    /// How long its response is waited for.
    pub(crate) fn deadline(&self) -> Duration {
        match self.requester {
            Requester::Internal(InternalCommand::AutoAttach { .. }) => ATTACH_DEADLINE,
            Requester::Internal(InternalCommand::OpenControl | InternalCommand::InitControl) => {
                START_DEADLINE
            }
            Requester::Internal(
                InternalCommand::FireAndForget
                | InternalCommand::OpenTab(..)
                | InternalCommand::OrphanedTarget(..)
                | InternalCommand::OrphanedContext(..)
                | InternalCommand::CreateContext(_)
                | InternalCommand::EndPartition(_)
                | InternalCommand::ListContexts
                | InternalCommand::AttachTab
                | InternalCommand::AutoAttachTab(_)
                | InternalCommand::AttachForFrames(_)
                | InternalCommand::GetFrameTree(_)
                | InternalCommand::DetachRoot(_),
            ) => JOIN_DEADLINE,
            // The client is let go much earlier; what comes late must still be detached.
            Requester::Internal(InternalCommand::OpenRoot(_)) => PENDING_DEADLINE,
            Requester::Client { .. } => PENDING_DEADLINE,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct PendingTable {
    next: u64,
    entries: BTreeMap<u64, Pending>,
}

impl PendingTable {
    /// Remembers a command and gives it an id that is not in use. Ids count up and start over only where the
    /// browser's ids end: it refuses what does not fit in 31 bits.
    pub(crate) fn insert(&mut self, pending: Pending) -> u64 {
        loop {
            self.next = if self.next >= LAST_ID { 1 } else { self.next + 1 };
            if !self.entries.contains_key(&self.next) {
                self.entries.insert(self.next, pending);
                return self.next;
            }
        }
    }

    /// Remembers a taken command again, under the id it had.
    pub(crate) fn put_back(&mut self, id: u64, pending: Pending) {
        self.entries.insert(id, pending);
    }

    pub(crate) fn take(&mut self, id: u64) -> Option<Pending> {
        self.entries.remove(&id)
    }

    pub(crate) fn find(&self, id: u64) -> Option<&Pending> {
        self.entries.get(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Pending)> {
        self.entries.iter().map(|(id, pending)| (*id, pending))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Pending> {
        self.entries.values_mut()
    }

    /// Takes every entry the predicate picks, oldest first.
    pub(crate) fn take_where(&mut self, pick: impl Fn(&Pending) -> bool) -> Vec<(u64, Pending)> {
        let ids: Vec<u64> = self.iter().filter(|(_, pending)| pick(pending)).map(|(id, _)| id).collect();
        ids.into_iter().filter_map(|id| self.entries.remove(&id).map(|pending| (id, pending))).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}
