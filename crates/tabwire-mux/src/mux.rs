//! The mux itself: its state, and the doors through which frames and clock readings come in.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_wire::{BrowserContextId, CdpSessionId, ClientId, ErrorCode, TargetId};

use crate::backlog::Backlog;
use crate::browser_target::BrowserTargets;
use crate::claims::Claims;
use crate::client::{Client, ClientOptions, Standing, Wishes};
use crate::context_table::ContextTable;
use crate::counters::Counters;
use crate::downloads::Downloads;
use crate::frame_moves::FrameMoves;
use crate::frame_tree::FrameTree;
use crate::frame_watch::FrameWaits;
use crate::hold::HoldTable;
use crate::limits::{JOIN_DEADLINE, START_DEADLINE};
use crate::link::LinkState;
use crate::loss::LossSignals;
use crate::output::{CloseReason, FrameClass, Output};
use crate::pending::{Asker, Errand, Pending, PendingTable};
use crate::realm_table::{RealmPlace, RealmTable};
use crate::reply::{self, ProtocolError};
use crate::session_table::SessionTable;
use crate::target_entry::{NOBODY, Owner};
use crate::target_table::TargetTable;

/// Many clients over one browser.
#[derive(Debug)]
pub struct Mux {
    pub(crate) link: LinkState,
    pub(crate) house: Option<CdpSessionId>,
    pub(crate) furnishing: usize,
    /// Since when the link has been starting.
    pub(crate) starting_since: Option<Instant>,
    /// The last clock reading.
    pub(crate) clock: Option<Instant>,
    pub(crate) clients: BTreeMap<ClientId, Client>,
    pub(crate) sessions: SessionTable,
    pub(crate) targets: TargetTable,
    /// Browser contexts that were made through the mux.
    pub(crate) contexts: ContextTable,
    pub(crate) realms: RealmTable,
    /// The newest tab target of each context that has no page yet.
    pub(crate) open_tabs: BTreeMap<Option<BrowserContextId>, TargetId>,
    /// Targets that were created and not announced yet.
    pub(crate) claims: Claims,
    /// The browser targets our cdp sessions are attached to.
    pub(crate) browser_targets: BrowserTargets,
    pub(crate) downloads: Downloads,
    pub(crate) frames: FrameTree,
    pub(crate) frame_moves: FrameMoves,
    /// Commands that wait until the frames of their target are known.
    pub(crate) frame_waits: FrameWaits,
    /// Whether the house follows which addresses documents come from.
    pub(crate) follows_sources: bool,
    pub(crate) pending: PendingTable,
    pub(crate) holds: HoldTable,
    pub(crate) loss_signals: LossSignals,
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
    pub holds: usize,
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
            starting_since: None,
            clock: None,
            clients: BTreeMap::new(),
            sessions: SessionTable::default(),
            targets: TargetTable::default(),
            contexts: ContextTable::default(),
            realms: RealmTable::default(),
            open_tabs: BTreeMap::new(),
            claims: Claims::default(),
            browser_targets: BrowserTargets::default(),
            downloads: Downloads::default(),
            frames: FrameTree::default(),
            frame_moves: FrameMoves::default(),
            frame_waits: FrameWaits::default(),
            follows_sources: false,
            pending: PendingTable::default(),
            holds: HoldTable::default(),
            loss_signals: LossSignals::default(),
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
        let client_pending = |pending: &Pending| matches!(pending.asker, Asker::Client { .. });
        Leftovers {
            clients: self.clients.len(),
            sessions: self.sessions.iter().filter(|(_, session)| session.client().is_some()).count(),
            pending: self.pending.iter().filter(|(_, pending)| client_pending(pending)).count(),
            holds: self.holds.len(),
            contexts: self.contexts.owned(),
            targets: self
                .targets
                .iter()
                .filter(|target| matches!(target.owner, Owner::Client(_)) || target.paused.is_some())
                .count(),
        }
    }

    /// Which clients are attached to which targets, in the order of their cdp sessions.
    pub fn attachments(&self) -> impl Iterator<Item = (ClientId, &TargetId)> {
        self.sessions.iter().filter_map(|(_, session)| Some((session.client()?, session.target()?)))
    }

    /// Commands waiting for the browser, whoever asked.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The weak signs of a loss seen lately.
    #[must_use]
    pub const fn loss_signals(&self) -> &LossSignals {
        &self.loss_signals
    }

    /// A client arrives. What it sends before its cdp session is there is kept for it.
    pub fn client_joined(&mut self, client: ClientId, options: ClientOptions, now: Instant) {
        self.clock = Some(now);
        self.sequence += 1;
        let standing = Standing::Joining { since: None, backlog: Backlog::default() };
        let joined = self.sequence;
        if let Some(realm) = options.realm.clone().filter(|realm| !self.is_reserved(realm)) {
            self.reserve(realm, RealmPlace::Tabs(Vec::new()), now);
        }
        if options.guard.as_ref().is_some_and(|guard| guard.0.wants_sources()) {
            self.follow_sources(now);
        }
        let entry = Client { options, standing, wishes: Wishes::default(), joined, pending: 0 };
        self.clients.insert(client, entry);
        self.hold_documents(client, now);
        match self.link {
            LinkState::Connected => self.open_root(client, now),
            LinkState::Degraded => self.want_browser(now),
            LinkState::Starting | LinkState::Closing => {}
        }
    }

    /// A client is gone: its cdp sessions are detached, what it waited for is forgotten, its targets are
    /// released.
    pub fn client_left(&mut self, client: ClientId, now: Instant) {
        self.clock = Some(now);
        let Some(gone) = self.clients.remove(&client) else { return };
        let orphans = self.pending.take_where(|pending| match &pending.asker {
            Asker::Client { client: asker, .. } => *asker == client,
            Asker::House(_) => false,
        });
        self.holds.forget_client(client);
        let mut touched = BTreeSet::new();
        let ending = self.contexts.release(client);
        if gone.root().is_none() || self.house.is_none() {
            self.contexts_ended(&ending, now);
        }
        if let Some(root) = gone.root() {
            for (session, entry) in self.sessions.take_tree(root) {
                self.browser_targets.forget(&session);
                self.forget_download_wish(&session, now);
                self.targets.forget_session(&session);
                touched.extend(entry.target().cloned());
            }
            // Contexts made to end with their client are disposed of by the browser before it answers.
            if let Some(house) = self.house.clone() {
                let params = json!({"sessionId": root.as_str()});
                self.send(Some(&house), "Target.detachFromTarget", params, Errand::CloseRoot(ending), now);
            }
        }
        for (id, pending) in orphans {
            if let Some(orphan) = pending.orphan(gone.options.realm.clone(), now) {
                self.pending.put_back(id, orphan);
            }
        }
        self.forget_waiter(client, now);
        self.release_targets(client, gone.options.realm, now);
        for target in touched {
            self.repeat_settings(&target, now);
        }
    }

    /// Time passes: deadlines are enforced.
    pub fn tick(&mut self, now: Instant) {
        self.clock = Some(now);
        self.resume_overdue(now);
        self.claims.forget_overdue(now);
        self.contexts.forget_overdue(now);
        self.finish_endings(now);
        let expired =
            self.pending.take_where(|pending| now.duration_since(pending.since) > pending.deadline());
        for (id, pending) in expired {
            self.counters.expired += 1;
            let error = ProtocolError::ours(ErrorCode::Timeout, "The browser did not answer this command.");
            self.give_up(id, pending, &error, now);
        }
        let overdue = |since: Instant| now.duration_since(since) > START_DEADLINE;
        if self.link == LinkState::Starting && self.starting_since.is_some_and(overdue) {
            self.recovery_failed(now);
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
            self.dismiss(client, CloseReason::JoinFailed);
        }
    }

    /// Answers a command that the browser will not carry out.
    pub(crate) fn fail(&mut self, id: u64, pending: Pending, error: &ProtocolError, now: Instant) {
        match pending.asker {
            Asker::Client { client, id: client_id, .. } => {
                self.tell_failed(client, client_id, pending.session.as_ref(), error);
                self.command_settled(id, &NOBODY, now, |_, _| None);
            }
            Asker::House(errand) => self.errand_failed(id, errand, now),
        }
    }

    /// Answers a command that the browser may have carried out without saying so.
    pub(crate) fn give_up(&mut self, id: u64, pending: Pending, error: &ProtocolError, now: Instant) {
        let realm = match &pending.asker {
            Asker::Client { client, .. } => {
                self.clients.get(client).and_then(|client| client.options.realm.clone())
            }
            Asker::House(_) => None,
        };
        match (pending.orphan(realm, now), &pending.asker) {
            (Some(orphan), Asker::Client { client, id: client_id, .. }) => {
                self.tell_failed(*client, *client_id, pending.session.as_ref(), error);
                self.pending.put_back(id, orphan);
            }
            _ => self.fail(id, pending, error, now),
        }
    }

    fn tell_failed(
        &mut self,
        client: ClientId,
        id: i64,
        session: Option<&CdpSessionId>,
        error: &ProtocolError,
    ) {
        self.settle(client);
        let echo = self.echo(client, session);
        let frame = reply::error(id, echo.as_ref(), error);
        self.deliver(client, frame, FrameClass::Answer);
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
        let pending = Pending {
            asker: Asker::House(errand),
            session: session.cloned(),
            since: now,
            revives: false,
            guarded: None,
        };
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
