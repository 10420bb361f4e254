//! CDP sessions without `flatten`, for older clients: their frames travel inside `Target.sendMessageToTarget` and
//! `Target.receivedMessageFromTarget`.
//!
//! The browser only ever gets flat sessions, so that every command and event passes the same checks. The mux unwraps the
//! commands of such a client, and wraps its frames as they leave.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId, TargetId};
use tabwire_cdp::envelope::{peek_browser_frame, peek_client_frame};
use tabwire_cdp::page_frames::to_page;
use tabwire_cdp::reply::{self, ProtocolError};

use crate::mux::Mux;
use crate::output::Output;
use crate::routing::from_client::Command;
use crate::routing::pending::ResponseHandling;
use crate::state::BrowserState;

/// Sessions of one client that are not flat; further ones are flat.
const NON_FLAT_SESSIONS: usize = 4_096;

/// Sessions nested in each other; a page has one level of workers below it, and those may have workers.
const DEPTH: usize = 8;

/// The sessions of one client that are not flat.
#[derive(Debug, Default)]
pub(crate) struct NonFlatSessions {
    /// Parent and target of each. They stay after their end, for frames that are still queued.
    sessions: BTreeMap<CdpSessionId, (CdpSessionId, TargetId)>,
    /// Attachments that were requested and are not announced yet: on which session, to which target.
    requested: Vec<(CdpSessionId, TargetId)>,
    /// Sessions whose children, attached by `Target.setAutoAttach`, are not flat.
    parents: BTreeSet<CdpSessionId>,
}

impl NonFlatSessions {
    /// A session was announced: records it if it is not flat.
    pub(crate) fn attached(&mut self, session: &str, parent: &CdpSessionId, target: &TargetId) {
        let requested = self.requested.iter().position(|(on, wanted)| on == parent && wanted == target);
        if let Some(requested) = requested {
            self.requested.remove(requested);
        } else if !self.parents.contains(parent) {
            return;
        }
        if self.sessions.len() < NON_FLAT_SESSIONS {
            self.sessions.insert(CdpSessionId::new(session), (parent.clone(), target.clone()));
        }
    }

    /// A request to attach has its response.
    pub(crate) fn responded(&mut self, parent: &CdpSessionId, target: &TargetId) {
        self.requested.retain(|(on, wanted)| on != parent || wanted != target);
    }

    /// The frame as the client receives it: wrapped once for each session it is inside of.
    fn wrap(&self, mut frame: BytesMut, root: Option<&CdpSessionId>) -> BytesMut {
        for _ in 0..DEPTH {
            let Ok(envelope) = peek_browser_frame(&frame) else { return frame };
            let (Some(session), Some(member)) = (envelope.session, envelope.session_member.clone()) else {
                return frame;
            };
            let Some((id, (parent, target))) = self.sessions.get_key_value(session) else { return frame };
            // The inner message has no `sessionId`: the envelope names it, as Chromium does without
            // `flatten`.
            let mut inner = BytesMut::from(frame.get(..member.start).unwrap_or_default());
            inner.extend_from_slice(frame.get(member.end..).unwrap_or_default());
            let params = json!({
                "sessionId": id.as_str(),
                "message": String::from_utf8_lossy(&inner),
                "targetId": target.as_str(),
            });
            let outer = Some(parent).filter(|parent| Some(*parent) != root);
            frame = reply::event("Target.receivedMessageFromTarget", outer, params);
        }
        frame
    }
}

impl Mux {
    /// `Target.attachToTarget` or a page's `Target.setAutoAttach` without `flatten`: sent with it.
    pub(crate) fn attach_without_flatten(
        &mut self,
        command: &Command<'_>,
        params: &Value,
        target: Option<TargetId>,
        now: Instant,
    ) {
        let Some(client) = self.state.clients.get_mut(command.client) else { return };
        let handling = match target {
            Some(target) => {
                client.non_flat.requested.push((command.session.clone(), target.clone()));
                ResponseHandling::Attach(target)
            }
            None => {
                client.non_flat.parents.insert(command.session.clone());
                ResponseHandling::PassThrough
            }
        };
        let mut params = params.clone();
        if let Some(members) = params.as_object_mut() {
            // The browser would wrap all messages of a session without `flatten` as text, and no check could
            // read them.
            members.insert("flatten".to_owned(), Value::Bool(true));
        }
        self.forward_rewritten(command, &params, handling, now);
    }

    /// Forwards a command with other parameters.
    pub(crate) fn forward_rewritten(
        &mut self,
        command: &Command<'_>,
        params: &Value,
        handling: ResponseHandling,
        now: Instant,
    ) {
        let session = (!command.on_root).then_some(&command.session);
        let frame = reply::command(command.envelope.id, session, command.envelope.method, params);
        match peek_client_frame(&frame) {
            Ok(envelope) => {
                let (client, session) = (command.client, command.session.clone());
                let rewritten =
                    Command { client, envelope, frame: &frame, session, on_root: command.on_root };
                self.forward(&rewritten, handling, now);
            }
            Err(error) => self.refuse(command, &ProtocolError::invalid_params(error)),
        }
    }

    /// `Target.sendMessageToTarget`: handles the command inside it. The errors are the browser's.
    pub(crate) fn command_inside(&mut self, command: &Command<'_>, params: &Value, now: Instant) {
        let text = |field: &str| params.get(field).and_then(Value::as_str);
        let refused = |message: &str| ProtocolError::chrome(-32602, message);
        let session = match (text("sessionId"), text("targetId")) {
            (Some(session), _) => self.state.non_flat_session(command, |id, _| id.as_str() == session),
            (None, Some(target)) => {
                let found = self.state.non_flat_session(command, |_, attached| attached.as_str() == target);
                found.map_err(|_| refused("No session for given target id"))
            }
            (None, None) => Err(refused("Session id must be specified")),
        };
        let session = match session {
            Ok(session) => session,
            Err(error) => return self.refuse(command, &error),
        };
        let Some(message) = text("message") else {
            return self.refuse(command, &ProtocolError::invalid_params("message: string value expected"));
        };
        let inner = to_page(BytesMut::from(message.as_bytes()), session.as_str());
        // A message that names another session would leave the one that the command is for.
        if peek_client_frame(&inner).ok().and_then(|inner| inner.session) != Some(session.as_str()) {
            return self.refuse(command, &refused("Message must be a command without a session id"));
        }
        self.respond(command, json!({}));
        self.route_command(command.client, &inner, now);
    }
}

impl BrowserState {
    /// Wraps the frames of clients with sessions that are not flat.
    pub(crate) fn wrap_frames(&self, outputs: &mut [Output]) {
        for output in outputs {
            if let Output::ToClient { client, frame, .. } = output
                && let Some(entry) = self.clients.get(*client)
                && !entry.non_flat.sessions.is_empty()
            {
                *frame = entry.non_flat.wrap(std::mem::take(frame), entry.root());
            }
        }
    }

    fn non_flat_session(
        &self,
        command: &Command<'_>,
        is_it: impl Fn(&CdpSessionId, &TargetId) -> bool,
    ) -> Result<CdpSessionId, ProtocolError> {
        let sessions = self.clients.get(command.client).map(|client| &client.non_flat.sessions);
        let here = |(id, (parent, target)): &(&CdpSessionId, &(CdpSessionId, TargetId))| {
            *parent == command.session && is_it(id, target) && self.sessions.find(id.as_str()).is_some()
        };
        let found = sessions.into_iter().flatten().find(here).map(|(id, _)| id.clone());
        found.ok_or_else(|| ProtocolError::chrome(-32602, "No session with given id"))
    }

    /// A session of a client was announced.
    pub(crate) fn note_non_flat(
        &mut self,
        client: ClientId,
        session: &str,
        parent: &CdpSessionId,
        target: &TargetId,
    ) {
        if let Some(client) = self.clients.get_mut(client) {
            client.non_flat.attached(session, parent, target);
        }
    }
}
