//! The mux: combines its parts, handles joining and leaving clients, and enforces deadlines.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId, ErrorCode, TargetId};
use tabwire_cdp::reply::{self, ProtocolError};

use crate::client::state::ClientOptions;
use crate::control::link::{Control, LinkState};
use crate::control::loss::LossSignals;
use crate::counters::Counters;
use crate::downloads::Downloads;
use crate::guard::{GuardState, SharedGuard};
use crate::limits::JOIN_DEADLINE;
use crate::output::{CloseReason, FrameClass, Output};
use crate::partition::table::PartitionScope;
use crate::routing::Router;
use crate::routing::pending::{InternalCommand, Pending, Requester};
use crate::session::exposed_protocol::Exposures;
use crate::state::BrowserState;
use crate::target::entry::{Owner, UNOWNED};

/// Many clients over one browser.
#[derive(Debug, Default)]
pub struct Mux {
    pub(crate) state: BrowserState,
    pub(crate) control: Control,
    pub(crate) guard: GuardState,
    pub(crate) router: Router,
    pub(crate) downloads: Downloads,
    pub(crate) exposures: Exposures,
    pub(crate) counters: Counters,
}

/// The state that clients still occupy; all zero once every client has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceCounts {
    /// Clients.
    pub clients: usize,
    /// CDP sessions owned by clients.
    pub sessions: usize,
    /// Pending commands of clients.
    pub pending: usize,
    /// Delayed replies.
    pub holds: usize,
    /// Browser contexts owned by clients.
    pub contexts: usize,
    /// Targets owned by clients, or paused for them.
    pub targets: usize,
}

impl Mux {
    /// A mux whose link is not started yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the pending outputs, in order.
    pub fn take_outputs(&mut self) -> Vec<Output> {
        let mut outputs =
            if self.exposures.is_empty() { self.router.take_outputs() } else { self.outputs_with_pages() };
        self.state.wrap_frames(&mut outputs);
        outputs
    }

    /// Whether a client has sent `Browser.close`.
    #[must_use]
    pub fn has_closed_browser(&self, client: ClientId) -> bool {
        self.state.clients.get(client).is_some_and(|client| client.has_closed)
    }

    /// The state of the link.
    #[must_use]
    pub const fn link(&self) -> LinkState {
        self.control.state()
    }

    /// Running totals.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// The state that clients still occupy.
    #[must_use]
    pub fn resource_counts(&self) -> ResourceCounts {
        let client_pending = |pending: &Pending| matches!(pending.requester, Requester::Client { .. });
        ResourceCounts {
            clients: self.state.clients.len(),
            sessions: self.state.sessions.iter().filter(|(_, session)| session.client().is_some()).count(),
            pending: self.router.pending().iter().filter(|(_, pending)| client_pending(pending)).count(),
            holds: self.router.delayed_replies(),
            contexts: self.state.partitions.contexts().owned(),
            targets: self
                .state
                .targets
                .iter()
                .filter(|target| matches!(target.owner, Owner::Client(_)) || target.paused.is_some())
                .count(),
        }
    }

    /// Which clients are attached to which targets, in the order of their CDP sessions.
    pub fn attachments(&self) -> impl Iterator<Item = (ClientId, &TargetId)> {
        self.state.sessions.iter().filter_map(|(_, session)| Some((session.client()?, session.target()?)))
    }

    /// Pending commands of all clients and of the mux itself.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.router.pending().len()
    }

    /// Commands of a client that wait for their response.
    #[must_use]
    pub fn pending_of(&self, client: ClientId) -> usize {
        self.state.clients.get(client).map_or(0, |client| client.pending)
    }

    /// The recent weak loss signals.
    #[must_use]
    pub const fn loss_signals(&self) -> &LossSignals {
        self.control.loss_signals()
    }

    /// A client joins. Its frames are queued until its CDP session is open.
    pub fn client_joined(&mut self, client: ClientId, options: ClientOptions, now: Instant) {
        self.router.set_clock(now);
        if let Some(partition) =
            options.partition.clone().filter(|partition| !self.state.is_reserved(partition))
        {
            self.reserve(partition, PartitionScope::Tabs(Vec::new()), now);
        }
        if let Some(SharedGuard(guard)) = &options.guard {
            if guard.wants_addresses() || guard.pauses_documents() {
                self.attach_to_pages(now);
            }
            if guard.wants_addresses() {
                self.follow_addresses(now);
            }
        }
        self.state.clients.join(client, options);
        self.pause_documents(client, now);
        match self.control.state() {
            LinkState::Connected => self.open_root(client, now),
            LinkState::Lost => self.disconnect(client, CloseReason::BrowserGone),
            LinkState::Starting => {}
        }
    }

    /// A client is gone: its CDP sessions are detached, its pending commands dropped, its targets released.
    pub fn client_left(&mut self, client: ClientId, now: Instant) {
        self.router.set_clock(now);
        let Some(gone) = self.state.clients.remove(client) else { return };
        let orphans = self.router.pending_mut().take_where(|pending| match &pending.requester {
            Requester::Client { client: requester, .. } => *requester == client,
            Requester::Internal(_) => false,
        });
        self.router.drop_replies(client);
        let mut touched = BTreeSet::new();
        let heir = self.state.clients.heir_of(&gone);
        let ending = self.state.partitions.contexts_mut().release(client, heir);
        if gone.root().is_none() || self.control.session().is_none() {
            self.state.contexts_ended(&ending, now);
        }
        // One detach ends the root's sessions in the browser, without an event for each: the tables drop them here.
        if let Some(root) = gone.root() {
            for (session, entry) in self.state.sessions.take_tree(root) {
                if entry.is_handed_over {
                    let params = json!({"sessionId": session.as_str()});
                    self.control_command("Target.detachFromTarget", params, now);
                }
                self.remove_download_options(&session, now);
                self.state.targets.forget_session(&session);
                touched.extend(entry.target().cloned());
            }
            // The browser disposes of contexts with `disposeOnDetach` before it responds.
            if let Some(control) = self.control.session() {
                let params = json!({"sessionId": root.as_str()});
                self.router.send(
                    Some(&control),
                    "Target.detachFromTarget",
                    params,
                    InternalCommand::DetachRoot(ending),
                    now,
                );
            }
        }
        for (id, pending) in orphans {
            if let Some(orphan) = pending.orphan(gone.options.partition.clone(), now) {
                self.router.pending_mut().put_back(id, orphan);
            }
        }
        self.end_exposures_of(client, now);
        self.forget_waiter(client, now);
        if heir.is_none() {
            self.close_unused_pages(client, now);
        }
        self.release_targets(client, heir, gone.options.partition, now);
        for target in touched {
            self.repeat_settings(&target, now);
        }
    }

    /// Time passes: deadlines are enforced.
    pub fn tick(&mut self, now: Instant) {
        self.router.set_clock(now);
        self.resume_overdue(now);
        self.fail_on_crashed(now);
        self.state.targets.unannounced_mut().forget_overdue(now);
        self.state.partitions.contexts_mut().forget_overdue(now);
        self.finish_endings(now);
        let expired = self
            .router
            .pending_mut()
            .take_where(|pending| now.duration_since(pending.since) > pending.deadline());
        for (id, pending) in expired {
            self.counters.expired += 1;
            let error = ProtocolError::tabwire(
                ErrorCode::Timeout,
                "The browser did not respond to this command in time.",
            );
            self.give_up(id, pending, &error, now);
        }
        if self.control.is_start_overdue(now) {
            self.start_failed(now);
        }
        let stuck =
            self.state.clients.joining_since_before(|since| now.duration_since(since) > JOIN_DEADLINE);
        for client in stuck {
            self.disconnect(client, CloseReason::JoinFailed);
        }
    }

    /// Sends an error response for a command that the browser will not run.
    pub(crate) fn fail(&mut self, id: u64, pending: Pending, error: &ProtocolError, now: Instant) {
        match pending.requester {
            Requester::Client { client, id: client_id, .. } => {
                self.send_error(client, client_id, pending.session.as_ref(), error);
                self.resolve_owners(id, &UNOWNED, now, |_, _| None);
            }
            Requester::Internal(internal) => self.internal_command_failed(id, internal, now),
        }
    }

    /// Sends an error response for a command that the browser may have run without responding.
    pub(crate) fn give_up(&mut self, id: u64, pending: Pending, error: &ProtocolError, now: Instant) {
        let partition = match &pending.requester {
            Requester::Client { client, .. } => self.state.clients.partition(*client).cloned(),
            Requester::Internal(_) => None,
        };
        match (pending.orphan(partition, now), &pending.requester) {
            (Some(orphan), Requester::Client { client, id: client_id, .. }) => {
                self.send_error(*client, *client_id, pending.session.as_ref(), error);
                self.router.pending_mut().put_back(id, orphan);
            }
            _ => self.fail(id, pending, error, now),
        }
    }

    fn send_error(
        &mut self,
        client: ClientId,
        id: i64,
        session: Option<&CdpSessionId>,
        error: &ProtocolError,
    ) {
        self.state.clients.command_finished(client);
        let echo = self.state.clients.reply_session(client, session);
        let frame = reply::error(id, echo.as_ref(), error);
        self.router.deliver(client, frame, FrameClass::Response);
    }

    /// Sends an event of the mux on one of a client's browser-level CDP sessions.
    pub(crate) fn send_event(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        method: &str,
        params: Value,
    ) {
        let echo = self.state.clients.reply_session(client, Some(session));
        let frame = reply::event(method, echo.as_ref(), params);
        self.router.deliver(client, frame, FrameClass::Event);
    }

    /// Sends a command on the control session and ignores the response.
    pub(crate) fn control_command(&mut self, method: &str, params: Value, now: Instant) {
        if let Some(control) = self.control.session() {
            self.router.send(Some(&control), method, params, InternalCommand::FireAndForget, now);
        }
    }
}
