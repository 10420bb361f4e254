//! The mux itself: its state, and the doors through which frames and clock readings come in.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_wire::{BrowserContextId, CdpSessionId, ClientId, ErrorCode, TargetId};

use crate::client::{Client, ClientOptions, OnLoss, Standing};
use crate::counters::Counters;
use crate::gate::GateTable;
use crate::limits::{JOIN_DEADLINE, PENDING_DEADLINE, TAB_LINK_DEADLINE};
use crate::link::LinkState;
use crate::output::{CloseReason, FrameClass, Output};
use crate::pending::{Asker, Errand, Pending, PendingTable};
use crate::reply::{self, ProtocolError};
use crate::session_table::{Session, SessionOwner, SessionTable};
use crate::target_entry::Owner;
use crate::target_table::TargetTable;

/// Many clients over one browser.
#[derive(Debug)]
pub struct Mux {
    pub(crate) link: LinkState,
    pub(crate) house: Option<CdpSessionId>,
    pub(crate) furnishing: usize,
    pub(crate) clients: HashMap<ClientId, Client>,
    pub(crate) sessions: SessionTable,
    pub(crate) targets: TargetTable,
    /// Browser contexts that clients made.
    pub(crate) contexts: HashMap<BrowserContextId, ClientId>,
    /// The newest tab target of each context that has no page yet.
    pub(crate) open_tabs: HashMap<Option<BrowserContextId>, TargetId>,
    pub(crate) pending: PendingTable,
    pub(crate) gates: GateTable,
    pub(crate) counters: Counters,
    /// Orders arrivals of clients and releases of targets.
    pub(crate) sequence: u64,
    pub(crate) outbox: Vec<Output>,
}

/// What is still held; all zero once every client has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Clients.
    pub clients: usize,
    /// Cdp sessions owned by clients.
    pub sessions: usize,
    /// Unanswered commands of clients.
    pub pending: usize,
    /// Frames held back.
    pub gates: usize,
    /// Browser contexts owned by clients.
    pub contexts: usize,
    /// Targets owned by clients, or paused for them.
    pub targets: usize,
}

impl Default for Mux {
    fn default() -> Self {
        Self::new()
    }
}

impl Mux {
    /// A mux whose link is not up yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            link: LinkState::Starting,
            house: None,
            furnishing: 0,
            clients: HashMap::new(),
            sessions: SessionTable::default(),
            targets: TargetTable::default(),
            contexts: HashMap::new(),
            open_tabs: HashMap::new(),
            pending: PendingTable::default(),
            gates: GateTable::default(),
            counters: Counters::default(),
            sequence: 0,
            outbox: Vec::new(),
        }
    }

    /// Takes what is to be done, in order.
    pub fn take_outputs(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outbox)
    }

    /// Where the link stands.
    #[must_use]
    pub const fn link(&self) -> LinkState {
        self.link
    }

    /// Running totals.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// What clients still hold.
    #[must_use]
    pub fn leftovers(&self) -> Leftovers {
        let client_session = |session: &Session| matches!(session.owner, SessionOwner::Client(_));
        let client_pending = |pending: &Pending| matches!(pending.asker, Asker::Client { .. });
        Leftovers {
            clients: self.clients.len(),
            sessions: self.sessions.iter().filter(|(_, session)| client_session(session)).count(),
            pending: self.pending.iter().filter(|(_, pending)| client_pending(pending)).count(),
            gates: self.gates.len(),
            contexts: self.contexts.len(),
            targets: self
                .targets
                .iter()
                .filter(|target| matches!(target.owner, Owner::Client(_)) || target.paused.is_some())
                .count(),
        }
    }

    /// Commands waiting for the browser, whoever asked.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// A client arrives. What it sends before its cdp session is there is kept for it.
    pub fn client_joined(&mut self, client: ClientId, options: ClientOptions, now: Instant) {
        self.sequence += 1;
        let standing = Standing::Joining { since: None, queue: VecDeque::new() };
        self.clients.insert(client, Client { options, standing, joined: self.sequence, pending: 0 });
        match self.link {
            LinkState::Connected => self.open_root(client, now),
            LinkState::Degraded => self.outbox.push(Output::WantBrowser),
            LinkState::Starting | LinkState::Closing => {}
        }
    }

    /// A client is gone: its cdp sessions are detached, what it waited for is forgotten, its targets are
    /// released.
    pub fn client_left(&mut self, client: ClientId, now: Instant) {
        let Some(gone) = self.clients.remove(&client) else { return };
        self.pending.take_where(|pending| match &pending.asker {
            Asker::Client { client: asker, .. } => *asker == client,
            Asker::House(_) => false,
        });
        self.gates.forget_client(client);
        if let Some(root) = gone.root() {
            for (session, _) in self.sessions.take_tree(root) {
                self.targets.forget_session(&session);
            }
            self.house_command("Target.detachFromTarget", json!({"sessionId": root.as_str()}), now);
        }
        self.forget_waiter(client, now);
        self.release_targets(client, now);
    }

    /// Time passes: deadlines are enforced.
    pub fn tick(&mut self, now: Instant) {
        self.resume_overdue(now);
        let expired = self.pending.take_where(|pending| now.duration_since(pending.since) > PENDING_DEADLINE);
        for (_, pending) in expired {
            self.counters.expired += 1;
            let error = ProtocolError::ours(ErrorCode::Timeout, "The browser did not answer this command.");
            self.fail(pending, &error);
        }
        let unlinked: Vec<TargetId> = self
            .targets
            .iter()
            .filter(|target| match target.owner {
                Owner::Unlinked { since } => now.duration_since(since) > TAB_LINK_DEADLINE,
                _ => false,
            })
            .map(|target| target.id.clone())
            .collect();
        for target in unlinked {
            self.decide(&target, Owner::Nobody { released: 0 }, now);
        }
        let stuck: Vec<ClientId> = self
            .clients
            .iter()
            .filter(|(_, client)| match client.standing {
                Standing::Joining { since: Some(since), .. } => now.duration_since(since) > JOIN_DEADLINE,
                _ => false,
            })
            .map(|(id, _)| *id)
            .collect();
        for client in stuck {
            self.outbox.push(Output::CloseClient { client, reason: CloseReason::JoinFailed });
        }
    }

    /// The browser is gone: everything sent gets an answer, clients that stay wait for it to come back.
    pub fn browser_lost(&mut self, _now: Instant) {
        let lost = self.pending.take_where(|_| true);
        let error = ProtocolError::ours(
            ErrorCode::OutcomeUnknown,
            "BROWSER_GONE: the browser went away before it answered; the command may or may not have run.",
        );
        for (_, pending) in lost {
            self.fail(pending, &error);
        }
        for (client, frame) in self.gates.open_all() {
            self.deliver(client, frame, FrameClass::Answer);
        }
        self.link = LinkState::Degraded;
        self.house = None;
        self.furnishing = 0;
        self.tell_detached();
        self.sessions.clear();
        self.targets.clear();
        self.contexts.clear();
        self.open_tabs.clear();
        for (id, client) in &mut self.clients {
            match client.options.on_loss {
                OnLoss::Close => {
                    self.outbox.push(Output::CloseClient { client: *id, reason: CloseReason::BrowserGone });
                }
                OnLoss::Keep => {
                    client.standing = Standing::Joining { since: None, queue: VecDeque::new() };
                }
            }
        }
    }

    /// Tells clients that stay that their targets are gone.
    fn tell_detached(&mut self) {
        let mut events = Vec::new();
        for (id, session) in self.sessions.iter() {
            let (SessionOwner::Client(client), Some(target)) = (session.owner, session.target()) else {
                continue;
            };
            let keeps =
                self.clients.get(&client).is_some_and(|client| client.options.on_loss == OnLoss::Keep);
            if keeps {
                let parent = session.parent.clone();
                events.push((client, parent, json!({"sessionId": id.as_str(), "targetId": target.as_str()})));
            }
        }
        for (client, parent, params) in events {
            let root = self.clients.get(&client).and_then(Client::root);
            let session = parent.filter(|parent| Some(parent) != root);
            let frame = reply::event("Target.detachedFromTarget", session.as_ref(), params);
            self.deliver(client, frame, FrameClass::Event);
        }
    }

    /// Answers a command that can no longer be answered by the browser.
    pub(crate) fn fail(&mut self, pending: Pending, error: &ProtocolError) {
        match pending.asker {
            Asker::Client { client, id, .. } => {
                self.settle(client);
                let echo = self.echo(client, pending.session.as_ref());
                let frame = reply::error(id, echo.as_ref(), error);
                self.deliver(client, frame, FrameClass::Answer);
            }
            Asker::House(errand) => self.errand_failed(errand),
        }
    }

    /// One of the client's commands is answered.
    pub(crate) fn settle(&mut self, client: ClientId) {
        if let Some(client) = self.clients.get_mut(&client) {
            client.pending = client.pending.saturating_sub(1);
        }
    }

    /// The session an answer must carry: none when the client asked on its root.
    pub(crate) fn echo(&self, client: ClientId, session: Option<&CdpSessionId>) -> Option<CdpSessionId> {
        let root = self.clients.get(&client).and_then(Client::root);
        session.filter(|session| Some(*session) != root).cloned()
    }

    pub(crate) fn deliver(&mut self, client: ClientId, frame: BytesMut, class: FrameClass) {
        self.outbox.push(Output::ToClient { client, frame, class });
    }

    /// Sends an event of ours on one of a client's browser-level cdp sessions.
    pub(crate) fn tell(&mut self, client: ClientId, session: &CdpSessionId, method: &str, params: Value) {
        let echo = self.echo(client, Some(session));
        let frame = reply::event(method, echo.as_ref(), params);
        self.deliver(client, frame, FrameClass::Event);
    }

    /// Sends a command of the mux's own.
    pub(crate) fn send(
        &mut self,
        session: Option<&CdpSessionId>,
        method: &str,
        params: Value,
        errand: Errand,
        now: Instant,
    ) -> u64 {
        let pending = Pending { asker: Asker::House(errand), session: session.cloned(), since: now };
        let id = self.pending.insert(pending);
        self.outbox.push(Output::ToBrowser(reply::command(id, session, method, params)));
        id
    }

    /// Sends a command on the house session whose answer does not matter.
    pub(crate) fn house_command(&mut self, method: &str, params: Value, now: Instant) {
        if let Some(house) = self.house.clone() {
            self.send(Some(&house), method, params, Errand::Chore, now);
        }
    }
}
