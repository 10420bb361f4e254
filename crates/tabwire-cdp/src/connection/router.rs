//! Routes incoming frames: events by CDP session, responses by CDP session and command id.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde_json::value::RawValue;
use tabwire_api::CdpSessionId;
use tokio::sync::oneshot;

use crate::connection::close_reason::CloseReason;
use crate::connection::pending::{CommandId, Lookup, Outcome, Pending, PendingCommands};
use crate::error::{CODE_SESSION_NOT_FOUND, CdpError, Method};
use crate::limits::OVERSIZE_EXCERPT;
use crate::protocol::event::{Event, Subscriber};
use crate::protocol::message::{Incoming, payload, protocol_error, recover_route};
use crate::protocol::response::Response;
use crate::session::state::SessionState;
use crate::session::table::SessionTable;
use crate::target::table::TargetTable;
use crate::transport::pipe_framing::{Oversize, ReceivedFrame};

/// Event parameters up to this size are copied out of the read buffer: 16 KiB.
///
/// A slow reader then keeps only its own few bytes alive, not a whole read chunk for each event.
const EVENT_COPY_LIMIT: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Router {
    state: Mutex<State>,
    last_id: AtomicU64,
    /// Updated before event listeners run. Created with the first `TargetRegistry`.
    targets: OnceLock<Arc<TargetTable>>,
}

#[derive(Debug, Default)]
struct State {
    pending: PendingCommands,
    sessions: SessionTable,
    closed: Option<CloseReason>,
}

/// What a connection holds; all zero after a clean shutdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceCounts {
    /// Pending commands.
    pub commands: usize,
    /// Known CDP sessions.
    pub sessions: usize,
    /// Event streams whose readers are alive.
    pub listeners: usize,
}

impl Router {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates a command id.
    pub(crate) fn next_id(&self) -> CommandId {
        CommandId::new(self.last_id.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Registers a command before it is sent.
    pub(crate) fn register(
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

    /// Removes a command whose caller dropped it. Returns whether it was pending.
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

    /// Marks a session as detached before the browser's event arrives.
    pub(crate) fn detach(&self, session: &CdpSessionId) {
        let mut state = self.lock();
        for gone in state.sessions.detach(session) {
            state.pending.fail_session(&gone);
        }
    }

    pub(crate) fn targets(&self) -> &Arc<TargetTable> {
        self.targets.get_or_init(Arc::default)
    }

    pub(crate) fn resource_counts(&self) -> ResourceCounts {
        let state = self.lock();
        ResourceCounts {
            commands: state.pending.len(),
            sessions: state.sessions.len(),
            listeners: state.sessions.listeners(),
        }
    }

    /// Fails everything pending. The first reason wins; returns whether this call was the first.
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

    /// Routes one frame. A frame without a receiver is logged and dropped.
    pub(crate) fn receive(&self, frame: ReceivedFrame) {
        match frame {
            ReceivedFrame::Frame(frame) => self.receive_frame(frame),
            ReceivedFrame::Oversize(oversize) => self.receive_oversize(&oversize),
        }
    }

    fn receive_frame(&self, frame: BytesMut) {
        let frame = frame.freeze();
        match serde_json::from_slice::<Incoming<'_>>(&frame) {
            Ok(incoming) => match incoming.id {
                Some(id) => self.receive_response(&frame, id, &incoming),
                None if incoming.method.is_empty() => log_malformed("neither id nor method"),
                None => self.receive_event(&frame, &incoming),
            },
            Err(error) => self.receive_malformed(&frame, &error),
        }
    }

    fn receive_response(&self, frame: &Bytes, id: CommandId, incoming: &Incoming<'_>) {
        let Some(pending) = self.take_pending(id, &incoming.session_id) else { return };
        let outcome = match incoming.error {
            None => Ok(Response::new(pending.method, payload(frame, incoming.result))),
            Some(body) => Err(self.command_error(pending.method, pending.session, body)),
        };
        let _ = pending.outcome.send(outcome);
    }

    /// Reads the browser's error. `Session not found` also ends the session on this side.
    fn command_error(&self, method: Method, session: Option<CdpSessionId>, body: &RawValue) -> CdpError {
        match (protocol_error(method, body), session) {
            (CdpError::Protocol { code: CODE_SESSION_NOT_FOUND, .. }, Some(session)) => {
                self.detach(&session);
                CdpError::SessionGone { session }
            }
            (error, _) => error,
        }
    }

    fn take_pending(&self, id: CommandId, session: &str) -> Option<Pending> {
        match self.lock().pending.take(id, session) {
            Lookup::Owned(pending) => Some(pending),
            Lookup::Misrouted => {
                tracing::warn!(?id, session, "response on a CDP session other than its command's");
                None
            }
            Lookup::Unknown => {
                tracing::debug!(?id, session, "response without a pending command");
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
            state.sessions.deliver(&build_event(frame, incoming));
        }
        if method == "Target.detachedFromTarget" {
            state.detach_child(incoming);
        }
    }

    fn receive_malformed(&self, frame: &[u8], error: &serde_json::Error) {
        log_malformed(error);
        let head = frame.get(..OVERSIZE_EXCERPT).unwrap_or(frame);
        let tail = frame.get(frame.len().saturating_sub(OVERSIZE_EXCERPT)..).unwrap_or(frame);
        self.fail_command(head, tail, |method| CdpError::Malformed { method, detail: error.to_string() });
    }

    fn receive_oversize(&self, oversize: &Oversize) {
        tracing::warn!(size = oversize.size, "message from the browser exceeds the size limit");
        self.fail_command(&oversize.head, &oversize.tail, |method| CdpError::TooLarge {
            method,
            size: oversize.size,
            limit: oversize.limit,
        });
    }

    fn fail_command(&self, head: &[u8], tail: &[u8], error: impl FnOnce(Method) -> CdpError) {
        if let Some((id, session)) = recover_route(head, tail)
            && let Some(pending) = self.take_pending(id, session.as_ref().map_or("", CdpSessionId::as_str))
        {
            let _ = pending.outcome.send(Err(error(pending.method)));
        }
    }
}

fn log_malformed(detail: impl std::fmt::Display) {
    tracing::warn!(%detail, "malformed message from the browser");
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
