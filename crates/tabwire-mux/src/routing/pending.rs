//! Pending commands: the mux's id, the requester, the CDP session, and how the response is handled.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tabwire_api::{BrowserContextId, CdpSessionId, ClientId, PartitionId, TargetId};

use crate::guard::parts::NamedParts;
use crate::limits::{JOIN_DEADLINE, PENDING_DEADLINE, START_DEADLINE};
use crate::routing::reply_ordering::DelayId;
use crate::session::exposed_protocol::{ExposureId, ExposureStep};

/// How long the browser may take to attach a client for its auto-attach; the client's responses wait for it.
const ATTACH_DEADLINE: Duration = Duration::from_secs(10);

/// The largest id that the browser accepts.
const LAST_ID: u64 = 0x7fff_ffff;

/// The requester of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Requester {
    /// The mux itself.
    Internal(InternalCommand),
    /// A client, with the id it chose.
    Client { client: ClientId, id: i64, handling: ResponseHandling },
}

/// A command that the mux sends for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InternalCommand {
    /// Opens the control session.
    OpenControl,
    /// Starts discovery or auto-attach on the control session; after the last one the link is connected.
    InitControl,
    /// Opens a client's browser-level CDP session.
    OpenRoot(ClientId),
    /// Attaches a client to a target because of its `Target.setAutoAttach`.
    AutoAttach { browser_session: CdpSessionId, target: TargetId, delays: Vec<DelayId> },
    /// Creates a target for a client that no longer waits for it.
    OrphanedTarget(ClientId, Option<PartitionId>),
    /// Creates a browser context for a client that no longer waits for it.
    OrphanedContext(ClientId, Option<PartitionId>),
    /// Opens the first page of a client.
    OpenFirstPage(ClientId),
    /// Lists all targets, for a client that waits for their titles.
    RefreshTargets(ClientId),
    /// Opens a tab of the session, with the caller's ticket.
    OpenTab(u64, Option<PartitionId>),
    /// `Target.createBrowserContext` for a partition, with the caller's ticket.
    CreateContext(u64),
    /// One step of the end of a partition, with the ticket of `end_partition`.
    EndPartition(u64),
    /// Lists the existing browser contexts: an earlier daemon may have left some.
    ListContexts,
    /// Attaches to a tab whose page is not known.
    AttachTab,
    /// Auto-attaches to the page in the tab that this CDP session is on.
    AutoAttachTab(CdpSessionId),
    /// Detaches a client that left; the browser disposes of these contexts with it.
    DetachRoot(Vec<BrowserContextId>),
    /// Attaches to a target whose frames a guard needs.
    AttachForFrames(TargetId),
    /// Requests the frame tree of a target.
    GetFrameTree(TargetId),
    /// One step of exposing the protocol to a page.
    Expose(ExposureId, ExposureStep),
    /// Detaches a session that the mux gave to a client, for this client: its command's id, and the session
    /// that the client sent it on.
    DetachForClient { client: ClientId, id: i64, session: Option<CdpSessionId> },
    /// Its response is ignored.
    FireAndForget,
}

/// How the mux handles the response to a client's command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResponseHandling {
    /// Forward it.
    PassThrough,
    /// Record a new target of this client.
    CreateTarget {
        /// The context it is in; `None` is the default one.
        context: Option<BrowserContextId>,
        /// The URL that the mux navigates it to afterwards.
        then: Option<String>,
    },
    /// Record a CDP session on this target, which the client attached to.
    Attach(TargetId),
    /// Record a new browser context of this client.
    CreateContext {
        /// Whether it is disposed of with the CDP session that created it.
        ends: bool,
    },
    /// Remove this browser context.
    DisposeContext(BrowserContextId),
    /// Filter the list of targets.
    TargetList,
    /// Filter the list of contexts.
    ContextList,
}

#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) requester: Requester,
    /// The CDP session that the browser received it on; `None` is the connection's root.
    pub(crate) session: Option<CdpSessionId>,
    pub(crate) since: Instant,
    /// Whether it gives a crashed page a new process, so that the browser responds to it after a crash.
    pub(crate) revives: bool,
    /// Facts for the check of its response, if a guard checks it.
    pub(crate) guarded: Option<Box<GuardedPending>>,
}

/// The facts about a command that the check of its response needs.
#[derive(Clone, Debug)]
pub(crate) struct GuardedPending {
    pub(crate) method: Box<str>,
    /// The ids that it named.
    pub(crate) names: Option<NamedParts>,
    /// The state of frames when it was sent.
    pub(crate) since: u64,
}

impl Pending {
    /// Whether it only opens or detaches sessions of the mux, or its response is ignored: such a command needs no
    /// error when the browser is lost.
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

    /// What remains of the command when its client no longer waits: targets and contexts that it creates must
    /// still be recorded.
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

    /// How long to wait for its response.
    pub(crate) fn deadline(&self) -> Duration {
        match self.requester {
            Requester::Internal(InternalCommand::AutoAttach { .. }) => ATTACH_DEADLINE,
            Requester::Internal(InternalCommand::OpenControl | InternalCommand::InitControl) => {
                START_DEADLINE
            }
            Requester::Internal(
                InternalCommand::FireAndForget
                | InternalCommand::OpenTab(..)
                | InternalCommand::OpenFirstPage(_)
                | InternalCommand::RefreshTargets(_)
                | InternalCommand::OrphanedTarget(..)
                | InternalCommand::OrphanedContext(..)
                | InternalCommand::CreateContext(_)
                | InternalCommand::EndPartition(_)
                | InternalCommand::ListContexts
                | InternalCommand::AttachTab
                | InternalCommand::AutoAttachTab(_)
                | InternalCommand::AttachForFrames(_)
                | InternalCommand::GetFrameTree(_)
                | InternalCommand::DetachForClient { .. }
                | InternalCommand::Expose(..)
                | InternalCommand::DetachRoot(_),
            ) => JOIN_DEADLINE,
            // The client is disconnected much earlier; a session that opens late must still be detached.
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
    /// Adds a command under a free id. Ids count up and start over after 31 bits, because the browser rejects
    /// larger ones.
    pub(crate) fn insert(&mut self, pending: Pending) -> u64 {
        loop {
            self.next = if self.next >= LAST_ID { 1 } else { self.next + 1 };
            if !self.entries.contains_key(&self.next) {
                self.entries.insert(self.next, pending);
                return self.next;
            }
        }
    }

    /// Adds a removed command again, under its previous id.
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

    /// Removes and returns all matching commands, oldest first.
    pub(crate) fn take_where(&mut self, pick: impl Fn(&Pending) -> bool) -> Vec<(u64, Pending)> {
        let ids: Vec<u64> = self.iter().filter(|(_, pending)| pick(pending)).map(|(id, _)| id).collect();
        ids.into_iter().filter_map(|id| self.entries.remove(&id).map(|pending| (id, pending))).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}
