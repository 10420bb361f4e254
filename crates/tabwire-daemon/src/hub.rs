//! One browser's hub: the single task that feeds its mux and carries out what the mux wants.
//!
//! Everything of a browser happens in this one task: reading clients and browser, and writing to them without
//! waiting. A frame so crosses the daemon without changing tasks. Knows nothing of sessions or HTTP.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tabwire_cdp::{FrameSink, FrameSource, TaskGroup};
use tabwire_mux::{ClientOptions, Counters, Leftovers, LinkState, RealmPlace};
use tabwire_wire::{BrowserContextId, ClientId, Failure, RealmId, TargetId};
use tokio::sync::{mpsc, oneshot, watch};

use crate::browser_link::BrowserLink;
use crate::hub_task::HubTask;
use crate::place::Place;

/// A handle on one browser's hub.
#[derive(Clone, Debug)]
pub struct Hub {
    commands: mpsc::Sender<HubCommand>,
    state: watch::Receiver<HubState>,
}

/// Where a hub stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HubState {
    /// The browser has not answered yet.
    Starting,
    /// Clients are served.
    Serving,
    /// The browser is gone, and why.
    Gone(Arc<str>),
}

/// What a hub tells of itself.
#[derive(Clone, Debug)]
pub struct HubFacts {
    /// Clients connected now.
    pub clients: usize,
    /// The link's state.
    pub link: LinkState,
    /// What the mux counted.
    pub counters: Counters,
    /// What clients hold in the mux.
    pub leftovers: Leftovers,
    /// Commands waiting for the browser.
    pub pending: usize,
    /// Events dropped for slow clients.
    pub events_dropped: u64,
    /// Realms that live in the browser.
    pub realms: usize,
}

/// The browser is gone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the browser is gone: {0}")]
pub struct HubGone(pub Arc<str>);

#[derive(Debug)]
pub(crate) enum HubCommand {
    Join(Box<Joining>),
    OpenTab { url: String, realm: Option<RealmId>, reply: oneshot::Sender<Result<TargetId, Failure>> },
    MakeContext { proxy: Option<String>, reply: oneshot::Sender<Option<BrowserContextId>> },
    Reserve { realm: RealmId, place: RealmPlace, reply: oneshot::Sender<()> },
    EndRealm { realm: RealmId, reply: oneshot::Sender<()> },
    Sources { target: TargetId, reply: oneshot::Sender<Vec<IpAddr>> },
    Facts { reply: oneshot::Sender<HubFacts> },
    Dismiss { client: ClientId },
    LetGo,
}

/// A client that wants in.
#[derive(Debug)]
pub(crate) struct Joining {
    pub(crate) source: FrameSource,
    pub(crate) sink: FrameSink,
    pub(crate) options: ClientOptions,
    /// Given back when the client has left.
    pub(crate) place: Option<Place>,
    pub(crate) reply: oneshot::Sender<ClientId>,
}

/// Commands that may wait for the hub's task.
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

    /// Waits until clients are served.
    ///
    /// # Errors
    /// When the browser goes away or takes too long.
    pub async fn ready(&self, deadline: Duration) -> Result<(), HubGone> {
        let mut state = self.state.clone();
        let waiting = state.wait_for(|state| *state != HubState::Starting);
        match tokio::time::timeout(deadline, waiting).await {
            Err(_) => Err(HubGone(Arc::from("it did not answer its first command"))),
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

    /// Why it is gone.
    #[must_use]
    pub fn gone_reason(&self) -> HubGone {
        match &*self.state.borrow() {
            HubState::Gone(reason) => HubGone(reason.clone()),
            HubState::Starting | HubState::Serving => HubGone(Arc::from("its task has ended")),
        }
    }

    /// Adds a client; it is served until its source ends.
    ///
    /// # Errors
    /// When the browser is gone.
    pub async fn join(
        &self,
        source: FrameSource,
        sink: FrameSink,
        options: ClientOptions,
    ) -> Result<ClientId, HubGone> {
        self.join_in_place(source, sink, options, None).await
    }

    /// Adds a client that holds a place as long as it is there.
    pub(crate) async fn join_in_place(
        &self,
        source: FrameSource,
        sink: FrameSink,
        options: ClientOptions,
        place: Option<Place>,
    ) -> Result<ClientId, HubGone> {
        let (reply, answer) = oneshot::channel();
        let command = HubCommand::Join(Box::new(Joining { source, sink, options, place, reply }));
        self.commands.send(command).await.map_err(|_| self.gone_reason())?;
        answer.await.map_err(|_| self.gone_reason())
    }

    /// Opens a tab that belongs to nobody, so that every client of the realm is shown it.
    ///
    /// # Errors
    /// When the browser is gone; the inner one when it refused.
    pub async fn open_tab(
        &self,
        url: &str,
        realm: Option<RealmId>,
    ) -> Result<Result<TargetId, Failure>, HubGone> {
        self.ask(|reply| HubCommand::OpenTab { url: url.to_owned(), realm, reply }).await
    }

    /// Makes a browser context for a realm to live in. It outlives the daemon, and nobody is shown it until it
    /// is reserved.
    ///
    /// # Errors
    /// When the browser is gone; `None` when it refused.
    pub async fn make_context(&self, proxy: Option<&str>) -> Result<Option<BrowserContextId>, HubGone> {
        self.ask(|reply| HubCommand::MakeContext { proxy: proxy.map(str::to_owned), reply }).await
    }

    /// Gives a realm its place. To be done before its clients join: right after the claim for realms of an
    /// earlier daemon.
    ///
    /// # Errors
    /// When the browser is gone.
    pub async fn reserve(&self, realm: RealmId, place: RealmPlace) -> Result<(), HubGone> {
        self.ask(|reply| HubCommand::Reserve { realm, place, reply }).await
    }

    /// Ends a realm: lets its clients go, disposes of its context or closes its tabs, and forgets it. Answers
    /// when nothing of it is left, or when that takes longer than `REALM_END_DEADLINE`.
    ///
    /// # Errors
    /// When the browser is gone, and the realm with it.
    pub async fn end_realm(&self, realm: RealmId) -> Result<(), HubGone> {
        self.ask(|reply| HubCommand::EndRealm { realm, reply }).await
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> HubCommand) -> Result<T, HubGone> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| self.gone_reason())?;
        answer.await.map_err(|_| self.gone_reason())
    }

    /// The addresses that what a page shows came from, or may have come from; none when that is not followed, or the
    /// browser is gone and shows nothing.
    pub async fn sources_of(&self, target: &TargetId) -> Vec<IpAddr> {
        self.ask(|reply| HubCommand::Sources { target: target.clone(), reply }).await.unwrap_or_default()
    }

    /// Asks how the hub is.
    ///
    /// # Errors
    /// When the browser is gone.
    pub async fn facts(&self) -> Result<HubFacts, HubGone> {
        self.ask(|reply| HubCommand::Facts { reply }).await
    }

    /// Disconnects a client, as if it had hung up.
    pub(crate) async fn dismiss(&self, client: ClientId) {
        // A browser that is gone has no clients.
        let _ = self.commands.send(HubCommand::Dismiss { client }).await;
    }

    /// Lets the browser go: clients are disconnected, the browser itself is left running.
    pub async fn let_go(&self) {
        if self.commands.send(HubCommand::LetGo).await.is_ok() {
            self.gone().await;
        }
    }
}
