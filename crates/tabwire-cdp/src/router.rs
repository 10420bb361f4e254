//! Decides whose an incoming frame is: cdp session first, then id. Has no `async` and no sockets.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde_json::value::RawValue;
use tabwire_wire::CdpSessionId;
use tokio::sync::oneshot;

use crate::answer::Answer;
use crate::close_reason::CloseReason;
use crate::counters::Counters;
use crate::error::{CODE_SESSION_NOT_FOUND, CdpError, Method};
use crate::event::{Event, Subscriber};
use crate::limits::{EVENT_COPY_LIMIT, OVERSIZE_EXCERPT};
use crate::message::{Incoming, payload, protocol_error, recover_address};
use crate::pending::{Claim, CommandId, Outcome, Pending, PendingCommands};
use crate::pipe_framing::{Framed, Oversize};
use crate::session_state::SessionState;
use crate::session_table::{Delivery, SessionTable};
use crate::target_table::TargetTable;

/// Routes incoming frames to those who wait for them.
#[derive(Debug, Default)]
pub(crate) struct Router {
    state: Mutex<State>,
    ids_drawn: AtomicU64,
    /// Kept up to date before anybody hears of a change, once somebody asked for it.
    targets: OnceLock<Arc<TargetTable>>,
    pub(crate) counters: Counters,
}

#[derive(Debug, Default)]
struct State {
    pending: PendingCommands,
    sessions: SessionTable,
    closed: Option<CloseReason>,
}

/// What is left at the end of a test or a shutdown; all zero is clean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Commands under way.
    pub commands: usize,
    /// Cdp sessions known.
    pub sessions: usize,
    /// Event streams whose readers have not left.
    pub listeners: usize,
}

impl Router {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Draws a fresh command id.
    pub(crate) fn draw_id(&self) -> CommandId {
        CommandId::new(self.ids_drawn.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Registers a command just before it is sent.
    pub(crate) fn expect_answer(
        &self,
        id: CommandId,
        session: &SessionState,
        method: Method,
    ) -> Result<oneshot::Receiver<Outcome>, CdpError> {
        let mut state = self.lock();
        if let Some(reason) = &state.closed {
            return Err(CdpError::Closed { reason: reason.clone() });
        }
        session.check_alive()?;
        if let Some(session) = session.id() {
            state.sessions.finish_setup(session);
        }
        let (outcome, receiver) = oneshot::channel();
        state.pending.insert(id, Pending { session: session.id().cloned(), method, outcome });
        Ok(receiver)
    }

    /// Forgets a command whose caller left; says whether it was still waiting.
    pub(crate) fn forget(&self, id: CommandId) -> bool {
        self.lock().pending.forget(id)
    }

    pub(crate) fn subscribe(&self, session: Option<&CdpSessionId>, subscriber: Subscriber) {
        let mut state = self.lock();
        if let Some(reason) = &state.closed {
            subscriber.sender.end(CdpError::Closed { reason: reason.clone() });
            return;
        }
        state.sessions.subscribe(session, subscriber);
    }

    pub(crate) fn claim(
        &self,
        session: &CdpSessionId,
        make: impl FnOnce() -> Arc<SessionState>,
    ) -> Arc<SessionState> {
        let mut state = self.lock();
        if state.closed.is_some() { make() } else { state.sessions.claim(session, make) }
    }

    pub(crate) fn release(&self, session: &CdpSessionId) {
        self.lock().sessions.release(session);
    }

    /// Marks a session as gone because we know it before the browser says so.
    pub(crate) fn detach(&self, session: &CdpSessionId) {
        let mut state = self.lock();
        for gone in state.sessions.detach(session) {
            state.pending.fail_session(&gone);
        }
    }

    pub(crate) fn targets(&self) -> &Arc<TargetTable> {
        self.targets.get_or_init(Arc::default)
    }

    pub(crate) fn holdings(&self) -> Holdings {
        let state = self.lock();
        Holdings {
            commands: state.pending.len(),
            sessions: state.sessions.len(),
            listeners: state.sessions.listeners(),
        }
    }

    /// Ends everything that waits; the first reason stands. Says whether this call was the first.
    pub(crate) fn close(&self, reason: &CloseReason, unsent: &HashSet<CommandId>) -> bool {
        let mut state = self.lock();
        if state.closed.is_some() {
            return false;
        }
        state.closed = Some(reason.clone());
        state.pending.fail_all(reason, unsent);
        let error = CdpError::Closed { reason: reason.clone() };
        state.sessions.close(&error);
        drop(state);
        if let Some(targets) = self.targets.get() {
            targets.close(&error);
        }
        true
    }

    /// Takes one piece of what the browser sent. Never fails: what cannot be used is counted.
    pub(crate) fn receive(&self, framed: Framed) {
        match framed {
            Framed::Frame(frame) => self.receive_frame(frame),
            Framed::Oversize(oversize) => self.receive_oversize(&oversize),
        }
    }

    fn receive_frame(&self, frame: BytesMut) {
        let frame = frame.freeze();
        match serde_json::from_slice::<Incoming<'_>>(&frame) {
            Ok(incoming) => match incoming.id {
                Some(id) => self.receive_answer(&frame, id, &incoming),
                None if incoming.method.is_empty() => self.count_malformed("neither id nor method"),
                None => self.receive_event(&frame, &incoming),
            },
            Err(error) => self.receive_unreadable(&frame, &error),
        }
    }

    fn receive_answer(&self, frame: &Bytes, id: CommandId, incoming: &Incoming<'_>) {
        let Some(pending) = self.claim_answer(id, &incoming.session_id) else { return };
        let outcome = match incoming.error {
            None => Ok(Answer::new(pending.method, payload(frame, incoming.result))),
            Some(body) => Err(self.refusal(pending.method, pending.session, body)),
        };
        let _ = pending.outcome.send(outcome);
    }

    /// Reads the browser's error; one that says the session is unknown ends the session here too.
    fn refusal(&self, method: Method, session: Option<CdpSessionId>, body: &RawValue) -> CdpError {
        match (protocol_error(method, body), session) {
            (CdpError::Protocol { code: CODE_SESSION_NOT_FOUND, .. }, Some(session)) => {
                self.detach(&session);
                CdpError::SessionGone { session }
            }
            (error, _) => error,
        }
    }

    fn claim_answer(&self, id: CommandId, session: &str) -> Option<Pending> {
        match self.lock().pending.take_answered(id, session) {
            Claim::Owned(pending) => Some(pending),
            Claim::Misrouted => {
                Counters::raise(&self.counters.answers_misrouted);
                tracing::warn!(?id, session, "an answer names a cdp session it was not asked on");
                None
            }
            Claim::Unknown => {
                Counters::raise(&self.counters.answers_unknown);
                tracing::debug!(?id, session, "an answer nobody waits for");
                None
            }
        }
    }

    fn receive_event(&self, frame: &Bytes, incoming: &Incoming<'_>) {
        let method = incoming.method.as_ref();
        if incoming.session_id.is_empty()
            && let Some(targets) = self.targets.get()
            && let Some(params) = incoming.params
        {
            targets.observe(method, params.get());
        }
        let mut state = self.lock();
        if method == "Target.attachedToTarget" {
            state.announce_child(incoming);
        }
        if state.sessions.wants(&incoming.session_id, method) {
            let event = build_event(frame, incoming);
            if state.sessions.deliver(&event) == Delivery::Unclaimed {
                Counters::raise(&self.counters.events_unclaimed);
            }
        }
        if method == "Target.detachedFromTarget" {
            state.detach_child(incoming);
        }
    }

    fn receive_unreadable(&self, frame: &[u8], error: &serde_json::Error) {
        self.count_malformed(error);
        let head = frame.get(..OVERSIZE_EXCERPT).unwrap_or(frame);
        let tail = frame.get(frame.len().saturating_sub(OVERSIZE_EXCERPT)..).unwrap_or(frame);
        self.fail_owner(head, tail, |method| CdpError::Malformed { method, detail: error.to_string() });
    }

    fn receive_oversize(&self, oversize: &Oversize) {
        Counters::raise(&self.counters.frames_oversize);
        tracing::warn!(size = oversize.size, "a message from the browser is above the limit");
        self.fail_owner(&oversize.head, &oversize.tail, |method| CdpError::TooLarge {
            method,
            size: oversize.size,
            limit: oversize.limit,
        });
    }

    fn fail_owner(&self, head: &[u8], tail: &[u8], error: impl FnOnce(Method) -> CdpError) {
        if let Some((id, session)) = recover_address(head, tail)
            && let Some(pending) = self.claim_answer(id, session.as_ref().map_or("", CdpSessionId::as_str))
        {
            let _ = pending.outcome.send(Err(error(pending.method)));
        }
    }

    fn count_malformed(&self, detail: impl std::fmt::Display) {
        Counters::raise(&self.counters.frames_malformed);
        tracing::warn!(%detail, "a message from the browser cannot be read");
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChildSession {
    session_id: CdpSessionId,
}

impl State {
    fn announce_child(&mut self, incoming: &Incoming<'_>) {
        if let Some(child) = child_session(incoming) {
            self.sessions.announce(&child, named_session(incoming));
        }
    }

    fn detach_child(&mut self, incoming: &Incoming<'_>) {
        if let Some(child) = child_session(incoming) {
            for gone in self.sessions.detach(&child) {
                self.pending.fail_session(&gone);
            }
        }
    }
}

fn child_session(incoming: &Incoming<'_>) -> Option<CdpSessionId> {
    let child: ChildSession = serde_json::from_str(incoming.params?.get()).ok()?;
    Some(child.session_id)
}

fn named_session(incoming: &Incoming<'_>) -> Option<CdpSessionId> {
    (!incoming.session_id.is_empty()).then(|| CdpSessionId::new(&incoming.session_id))
}

fn build_event(frame: &Bytes, incoming: &Incoming<'_>) -> Event {
    let params = payload(frame, incoming.params);
    let params = if params.len() <= EVENT_COPY_LIMIT { Bytes::copy_from_slice(&params) } else { params };
    Event::new(named_session(incoming), &incoming.method, params)
}
