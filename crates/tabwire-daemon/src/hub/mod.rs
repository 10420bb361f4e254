//! The hub of one browser: a single task that feeds its mux and executes the mux's outputs.
//!
//! The task reads the clients and the browser, and writes to them without waiting. A frame crosses the daemon without
//! a change of task, which keeps the added latency low.

pub(crate) mod attachments;
pub(crate) mod client_guard;
pub(crate) mod client_label;
pub(crate) mod clock;
pub(crate) mod downloads;
pub(crate) mod task;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tabwire_api::{BrowserContextId, ClientId, Failure, PartitionId, SessionKey, TargetId};
use tabwire_cdp::{CloseFrame, FrameSink, FrameSource, TaskGroup};
use tabwire_mux::{ClientOptions, Counters, LinkState, PartitionScope, ResourceCounts};
use tokio::sync::{mpsc, oneshot, watch};

use crate::browser::link::BrowserLink;
use crate::hub::client_guard::ClientGuard;
use crate::hub::task::HubTask;

/// A handle on one browser's hub.
#[derive(Clone, Debug)]
pub struct Hub {
    commands: mpsc::Sender<HubCommand>,
    state: watch::Receiver<HubState>,
}

/// The state of a hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HubState {
    /// The browser has not responded yet.
    Starting,
    /// Clients are served.
    Serving,
    /// The browser is gone, and why.
    Gone(Arc<str>),
}

/// Counters and sizes of a hub.
#[derive(Clone, Debug)]
pub struct HubFacts {
    /// Clients connected now.
    pub clients: usize,
    /// The link's state.
    pub link: LinkState,
    /// What the mux counted.
    pub counters: Counters,
    /// What clients hold in the mux.
    pub leftovers: ResourceCounts,
    /// Commands waiting for the browser.
    pub pending: usize,
    /// Events dropped for slow clients.
    pub events_dropped: u64,
    /// Partitions that live in the browser.
    pub partitions: usize,
    /// Commands of each client that wait for their response.
    client_pending: Vec<(ClientId, usize)>,
}

impl HubFacts {
    /// Commands of a client that wait for their response.
    pub(crate) fn pending_of(&self, client: ClientId) -> usize {
        self.client_pending.iter().find(|(id, _)| *id == client).map_or(0, |(_, pending)| *pending)
    }
}

/// The browser is gone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the browser is gone: {0}")]
pub struct HubGone(pub Arc<str>);

#[derive(Debug)]
pub(crate) enum HubCommand {
    Join(Box<JoinRequest>),
    OpenTab {
        url: String,
        partition: Option<PartitionId>,
        reply: oneshot::Sender<Result<TargetId, Failure>>,
    },
    MakeContext {
        proxy: Option<String>,
        reply: oneshot::Sender<Option<BrowserContextId>>,
    },
    Reserve {
        partition: PartitionId,
        guard: PartitionScope,
        reply: oneshot::Sender<()>,
    },
    EndPartition {
        partition: PartitionId,
        kept: Vec<TargetId>,
        reply: oneshot::Sender<()>,
    },
    Sources {
        target: TargetId,
        reply: oneshot::Sender<Vec<IpAddr>>,
    },
    Facts {
        reply: oneshot::Sender<HubFacts>,
    },
    Dismiss {
        client: ClientId,
        close_frame: CloseFrame,
    },
    DismissSession {
        session: SessionKey,
    },
    /// Disconnects all clients, for this reason.
    Leave(&'static str),
}

/// A client that joins.
#[derive(Debug)]
pub(crate) struct JoinRequest {
    pub(crate) source: FrameSource,
    pub(crate) sink: FrameSink,
    pub(crate) options: ClientOptions,
    /// Dropped when the client disconnects.
    pub(crate) guard: Option<ClientGuard>,
    pub(crate) reply: oneshot::Sender<ClientId>,
}

/// Commands in the queue of the hub's task.
const COMMANDS: usize = 64;

impl Hub {
    /// Starts serving a browser.
    #[must_use]
    pub fn start(link: BrowserLink, tasks: &TaskGroup) -> Self {
        let (commands, receiver) = mpsc::channel(COMMANDS);
        let (state, watcher) = watch::channel(HubState::Starting);
        tasks.start("hub", HubTask::new(link, receiver, state).run());
        Self { commands, state: watcher }
    }

    /// Waits until the browser has responded to its first command.
    ///
    /// # Errors
    /// When the browser goes away or takes too long.
    pub async fn ready(&self, deadline: Duration) -> Result<(), HubGone> {
        let mut state = self.state.clone();
        let waiting = state.wait_for(|state| *state != HubState::Starting);
        match tokio::time::timeout(deadline, waiting).await {
            Err(_) => Err(HubGone(Arc::from("it did not respond to its first command"))),
            Ok(Err(_)) => Err(self.gone_reason()),
            Ok(Ok(state)) => match &*state {
                HubState::Gone(reason) => Err(HubGone(reason.clone())),
                HubState::Starting | HubState::Serving => Ok(()),
            },
        }
    }

    /// Whether the browser is gone.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(*self.state.borrow(), HubState::Gone(_)) || self.commands.is_closed()
    }

    /// Waits until the browser is gone.
    pub async fn gone(&self) {
        let mut state = self.state.clone();
        let _ = state.wait_for(|state| matches!(state, HubState::Gone(_))).await;
    }

    /// Why the browser is gone.
    #[must_use]
    pub fn gone_reason(&self) -> HubGone {
        match &*self.state.borrow() {
            HubState::Gone(reason) => HubGone(reason.clone()),
            HubState::Starting | HubState::Serving => HubGone(Arc::from("its task has ended")),
        }
    }

    /// Adds a client, until its source ends.
    ///
    /// # Errors
    /// When the browser is gone.
    pub async fn join(
        &self,
        source: FrameSource,
        sink: FrameSink,
        options: ClientOptions,
    ) -> Result<ClientId, HubGone> {
        self.join_guarded(source, sink, options, None).await
    }

    /// Adds a client that holds a guard while it is connected.
    pub(crate) async fn join_guarded(
        &self,
        source: FrameSource,
        sink: FrameSink,
        options: ClientOptions,
        guard: Option<ClientGuard>,
    ) -> Result<ClientId, HubGone> {
        let (reply, response) = oneshot::channel();
        let command = HubCommand::Join(Box::new(JoinRequest { source, sink, options, guard, reply }));
        self.commands.send(command).await.map_err(|_| self.gone_reason())?;
        response.await.map_err(|_| self.gone_reason())
    }

    /// Opens a tab without an owner, which every client of the partition sees.
    ///
    /// # Errors
    /// When the browser is gone; the inner one when it refused.
    pub async fn open_tab(
        &self,
        url: &str,
        partition: Option<PartitionId>,
    ) -> Result<Result<TargetId, Failure>, HubGone> {
        self.request(|reply| HubCommand::OpenTab { url: url.to_owned(), partition, reply }).await
    }

    /// Creates a browser context for a partition. It outlives the daemon, and clients see it once it is reserved.
    ///
    /// # Errors
    /// When the browser is gone; `None` when it refused.
    pub async fn make_context(&self, proxy: Option<&str>) -> Result<Option<BrowserContextId>, HubGone> {
        self.request(|reply| HubCommand::MakeContext { proxy: proxy.map(str::to_owned), reply }).await
    }

    /// Reserves the context or tabs of a partition. This must happen before its clients join; for partitions of an earlier
    /// daemon, right after the claim.
    ///
    /// # Errors
    /// When the browser is gone.
    pub async fn reserve(&self, partition: PartitionId, guard: PartitionScope) -> Result<(), HubGone> {
        self.request(|reply| HubCommand::Reserve { partition, guard, reply }).await
    }

    /// Ends a partition: disconnects its clients, and disposes of its context or closes its tabs, except `kept` ones, which
    /// are the user's then. Returns when that is done, or after `PARTITION_END_DEADLINE`.
    ///
    /// # Errors
    /// When the browser is gone, and the partition with it.
    pub async fn end_partition(&self, partition: PartitionId, kept: Vec<TargetId>) -> Result<(), HubGone> {
        self.request(|reply| HubCommand::EndPartition { partition, kept, reply }).await
    }

    async fn request<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> HubCommand) -> Result<T, HubGone> {
        let (reply, response) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| self.gone_reason())?;
        response.await.map_err(|_| self.gone_reason())
    }

    /// The remote IP addresses that a page's documents came from, or may have come from. Empty when they are not tracked, or
    /// the browser is gone.
    pub async fn sources_of(&self, target: &TargetId) -> Vec<IpAddr> {
        self.request(|reply| HubCommand::Sources { target: target.clone(), reply }).await.unwrap_or_default()
    }

    /// Reads the hub's counters.
    ///
    /// # Errors
    /// When the browser is gone.
    pub async fn facts(&self) -> Result<HubFacts, HubGone> {
        self.request(|reply| HubCommand::Facts { reply }).await
    }

    /// Disconnects a client.
    pub(crate) async fn dismiss(&self, client: ClientId, close_frame: CloseFrame) {
        // If the browser is gone, so are its clients.
        let _ = self.commands.send(HubCommand::Dismiss { client, close_frame }).await;
    }

    /// Disconnects the CDP clients of a session; its engine stays.
    pub(crate) async fn dismiss_session(&self, session: SessionKey) {
        // If the browser is gone, so are its clients.
        let _ = self.commands.send(HubCommand::DismissSession { session }).await;
    }

    /// Disconnects all clients and releases the browser, which keeps running.
    pub async fn detach(&self) {
        self.leave("the daemon released it").await;
    }

    /// The same for another reason.
    pub(crate) async fn leave(&self, why: &'static str) {
        if self.commands.send(HubCommand::Leave(why)).await.is_ok() {
            self.gone().await;
        }
    }
}
