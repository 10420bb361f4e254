//! A CDP client: its options, its state and its pending commands.

use std::time::Instant;

use tabwire_api::{CdpSessionId, PartitionId, TargetId};

use crate::client::backlog::Backlog;
use crate::guard::SharedGuard;
use crate::session::non_flat::NonFlatSessions;

/// Which targets a client sees besides its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// None.
    #[default]
    Own,
    /// Those that the user opened, or that were there before any client.
    UserTabs,
    /// All without an owner, and the engine's.
    SessionTabs,
    /// All without an owner.
    Released,
    /// All targets, including other clients'.
    All,
}

/// What a client receives before it is disconnected because the browser is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// Error responses for its pending commands.
    #[default]
    Close,
    /// Also the detach and destroy events of its sessions and targets. For the Chrome shim, whose own client stays
    /// connected while the browser is replaced.
    SendDetachEvents,
}

/// The page that a client sees first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FirstPage {
    /// None in particular.
    #[default]
    Any,
    /// A page of its own, opened when it first looks for targets and closed when it leaves without using it.
    Opens,
    /// This one.
    Is(TargetId),
}

/// What a connection is to the session and to other connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Whether it is the engine of a session.
    pub is_engine: bool,
    /// Connections with the same name are one client: they see each other's targets, and own them together.
    pub view: Option<Box<str>>,
    /// The process of the client. Connections of one process may name each other's targets, but are not shown them.
    pub process: Option<u32>,
    /// Whether it lists targets for clients that have no connection yet: it sees the targets of its process, and its
    /// first page becomes that of the next connection.
    pub is_discovery: bool,
}

impl Identity {
    /// Whether this connection sees the targets of another as its own.
    pub(crate) fn views(&self, other: &Self) -> bool {
        let is_plain = !other.is_engine && other.view.is_none();
        let is_listed = self.is_discovery && is_plain && self.process == other.process;
        is_listed || (self.view.is_some() && self.view == other.view)
    }
}

/// How a client is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientOptions {
    /// Which targets it sees.
    pub share: Share,
    /// What it receives when the browser is lost.
    pub on_loss: OnLoss,
    /// Its partition of the browser; it sees no other partition, even with [`Share::All`].
    pub partition: Option<PartitionId>,
    /// Decides which commands and events pass. Without one, all pass.
    pub guard: Option<SharedGuard>,
    /// The page it sees first.
    pub first_page: FirstPage,
    /// Whether each of its pages gets a window of its own, so that none is behind another.
    pub opens_windows: bool,
    /// Its relation to other connections.
    pub identity: Identity,
}

/// The state of a client.
#[derive(Debug)]
pub(crate) enum ClientState {
    /// Its browser-level CDP session is being opened; its frames are queued.
    Joining { since: Option<Instant>, backlog: Backlog },
    /// Served through this browser-level CDP session.
    Served { root: CdpSessionId },
    /// Being disconnected; its frames are ignored.
    Leaving { root: Option<CdpSessionId> },
}

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) options: ClientOptions,
    pub(crate) state: ClientState,
    /// The number of its pending commands.
    pub(crate) pending: usize,
    /// The page it sees first, once it is open.
    pub(crate) first_page: Option<TargetId>,
    /// Frames that wait until the targets are ready to be listed.
    pub(crate) waiting: Option<Backlog>,
    /// Whether the descriptions of targets were requested for the next frame.
    pub(crate) has_fresh_targets: bool,
    /// Its sessions without `flatten`.
    pub(crate) non_flat: NonFlatSessions,
    /// Whether it has sent `Browser.close`.
    pub(crate) has_closed: bool,
}

impl Client {
    pub(crate) fn new(options: ClientOptions) -> Self {
        let first_page = match &options.first_page {
            FirstPage::Is(target) => Some(target.clone()),
            FirstPage::Any | FirstPage::Opens => None,
        };
        let state = ClientState::Joining { since: None, backlog: Backlog::default() };
        Self {
            options,
            state,
            pending: 0,
            first_page,
            waiting: None,
            has_fresh_targets: false,
            non_flat: NonFlatSessions::default(),
            has_closed: false,
        }
    }

    /// Whether it has looked for no targets yet, and a page is to be opened for it.
    pub(crate) fn lacks_first_page(&self) -> bool {
        self.options.first_page == FirstPage::Opens && self.first_page.is_none()
    }

    pub(crate) fn root(&self) -> Option<&CdpSessionId> {
        match &self.state {
            ClientState::Served { root } => Some(root),
            ClientState::Leaving { root } => root.as_ref(),
            ClientState::Joining { .. } => None,
        }
    }

    /// The frames queued while it joins.
    pub(crate) fn backlog_mut(&mut self) -> Option<&mut Backlog> {
        match &mut self.state {
            ClientState::Joining { backlog, .. } => Some(backlog),
            ClientState::Served { .. } | ClientState::Leaving { .. } => None,
        }
    }
}
