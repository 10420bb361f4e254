//! Routes frames from clients: checks them, renumbers them and forwards them.

use std::time::Instant;

use bytes::BytesMut;
use serde_json::json;
use tabwire_api::{CdpSessionId, ClientId, ErrorCode};
use tabwire_cdp::envelope::{ClientEnvelope, PeekError, peek_client_frame};
use tabwire_cdp::reply::{self, ProtocolError};

use crate::client::state::ClientState;
use crate::limits::PENDING_PER_CLIENT;
use crate::mux::Mux;
use crate::output::{CloseReason, FrameClass, Output};
use crate::routing::pending::{Pending, Requester, ResponseHandling};
use crate::routing::rewrite;
use crate::session::table::{Session, SessionOwner};

/// A client's command, on a CDP session that the client owns.
pub(crate) struct Command<'a> {
    pub(crate) client: ClientId,
    pub(crate) envelope: ClientEnvelope<'a>,
    pub(crate) frame: &'a [u8],
    /// The CDP session that the browser receives it on.
    pub(crate) session: CdpSessionId,
    /// Whether that is the client's root session, whose id the client never sees.
    pub(crate) on_root: bool,
}

impl Mux {
    /// Handles a frame from a client.
    pub fn from_client(&mut self, client: ClientId, frame: BytesMut, now: Instant) {
        self.router.set_clock(now);
        self.counters.from_clients += 1;
        let Some(entry) = self.state.clients.get(client) else { return };
        match &entry.state {
            ClientState::Served { .. } => self.route_command(client, &frame, now),
            ClientState::Joining { .. } => {
                if !self.refused_while_joining(client, &frame) {
                    self.queue_frame(client, frame);
                }
            }
            ClientState::Leaving { .. } => {}
        }
    }

    fn queue_frame(&mut self, client: ClientId, frame: BytesMut) {
        let Some(entry) = self.state.clients.get_mut(client) else { return };
        if entry.backlog_mut().is_some_and(|backlog| !backlog.try_push(frame)) {
            self.disconnect(client, CloseReason::BacklogFull);
        }
    }

    /// Refuses a frame that cannot succeed: a client without a root session has no other session either.
    fn refused_while_joining(&mut self, client: ClientId, frame: &[u8]) -> bool {
        let envelope = match peek_client_frame(frame) {
            Ok(envelope) => envelope,
            Err(error) => {
                self.refuse_unreadable(client, &error);
                return true;
            }
        };
        let Some(session) = envelope.session.map(CdpSessionId::new) else { return false };
        let refusal = reply::error(envelope.id, Some(&session), &ProtocolError::no_session());
        self.router.deliver(client, refusal, FrameClass::Response);
        true
    }

    pub(crate) fn route_command(&mut self, client: ClientId, frame: &[u8], now: Instant) {
        let envelope = match peek_client_frame(frame) {
            Ok(envelope) => envelope,
            Err(error) => return self.refuse_unreadable(client, &error),
        };
        if self.queued_behind_query(client, frame) {
            return;
        }
        let Some(entry) = self.state.clients.get(client) else { return };
        let Some(root) = entry.root() else { return };
        let (session, on_root) = match envelope.session {
            None => (root.clone(), true),
            Some(named) => match self.state.sessions.find_entry(named) {
                Some((id, session)) if session.owner == SessionOwner::Client(client) && id != root => {
                    (id.clone(), false)
                }
                _ => {
                    let error = ProtocolError::no_session();
                    let frame = reply::error(envelope.id, Some(&CdpSessionId::new(named)), &error);
                    return self.router.deliver(client, frame, FrameClass::Response);
                }
            },
        };
        let command = Command { client, envelope, frame, session, on_root };
        if entry.pending >= PENDING_PER_CLIENT {
            let error = ProtocolError::tabwire(
                ErrorCode::Backpressure,
                "Too many commands of this connection are pending; wait for some of them.",
            );
            return self.refuse(&command, &error);
        }
        if self.waits_for_targets(&command, now)
            || self.waits_for_frames(&command, now)
            || self.blocked_by_guard(&command)
        {
            return;
        }
        self.state.note_use(&command);
        self.record_page_use(&command, now);
        self.dispatch(&command, now);
    }

    fn dispatch(&mut self, command: &Command<'_>, now: Instant) {
        let method = command.envelope.method;
        let session = self.state.sessions.find(command.session.as_str());
        let target = session.and_then(|session| session.target().cloned());
        let auto = session.is_some_and(Session::is_auto);
        match target {
            None => self.browser_command(command, now),
            // A page's CDP session accepts these commands too, for any target and context.
            Some(_)
                if ["Target.", "Browser.", "Storage."].iter().any(|domain| method.starts_with(domain)) =>
            {
                self.browser_command(command, now);
            }
            Some(target) if method == "Runtime.runIfWaitingForDebugger" => {
                let browser = self.state.sessions.browser_session_of(&command.session).cloned();
                let browser = browser.unwrap_or_else(|| command.session.clone());
                if self.state.ends_pause(&browser, &target, &command.session) {
                    return self.forward(command, ResponseHandling::PassThrough, now);
                }
                let done = self.resumed_through(&browser, &target, now);
                // The browser may hold the target for this session as well, because it attached the session
                // itself.
                if done && auto {
                    self.respond(command, json!({}));
                } else {
                    self.forward(command, ResponseHandling::PassThrough, now);
                }
            }
            Some(_) => self.forward(command, ResponseHandling::PassThrough, now),
        }
    }

    /// Forwards a client's command to the browser under an id of the mux.
    pub(crate) fn forward(&mut self, command: &Command<'_>, handling: ResponseHandling, now: Instant) {
        let revives = matches!(
            command.envelope.method,
            "Page.navigate" | "Page.reload" | "Page.navigateToHistoryEntry"
        );
        let requester = Requester::Client { client: command.client, id: command.envelope.id, handling };
        let guarded = self.guarded_pending(command);
        let session = Some(command.session.clone());
        let pending = Pending { requester, session, since: now, revives, guarded };
        let id = self.router.pending_mut().insert(pending);
        if let Some(client) = self.state.clients.get_mut(command.client) {
            client.pending += 1;
        }
        self.state.record_setting(id, command);
        let root = command.on_root.then_some(&command.session);
        let frame = rewrite::to_browser(command.frame, &command.envelope.id_span, id, root);
        self.router.push(Output::ToBrowser(frame));
    }

    /// Responds to a client's command without the browser.
    pub(crate) fn respond(&mut self, command: &Command<'_>, result: serde_json::Value) {
        let echo = (!command.on_root).then_some(&command.session);
        let frame = reply::result(command.envelope.id, echo, result);
        self.router.deliver(command.client, frame, FrameClass::Response);
    }

    /// Refuses a client's command.
    pub(crate) fn refuse(&mut self, command: &Command<'_>, error: &ProtocolError) {
        let echo = (!command.on_root).then_some(&command.session);
        let frame = reply::error(command.envelope.id, echo, error);
        self.router.deliver(command.client, frame, FrameClass::Response);
    }

    fn refuse_unreadable(&mut self, client: ClientId, error: &PeekError) {
        self.counters.malformed += 1;
        let frame = match error {
            PeekError::NoMethod { id } => {
                let error = ProtocolError::chrome(-32600, "Message must have string 'method' property");
                reply::error(*id, None, &error)
            }
            PeekError::BadSession { id } => {
                let sentence = "Message may have string 'sessionId' property";
                reply::error(*id, None, &ProtocolError::chrome(-32600, sentence))
            }
            PeekError::NoId | PeekError::Malformed(_) => {
                let number = if matches!(error, PeekError::NoId) { -32600 } else { -32700 };
                let error = serde_json::json!({"error": {"code": number, "message": error.to_string()}});
                BytesMut::from(error.to_string().as_bytes())
            }
        };
        self.router.deliver(client, frame, FrameClass::Response);
    }
}
