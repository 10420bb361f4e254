//! Frames from the browser: answers go to who asked, events to who owns the cdp session.

use std::ops::Range;
use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_cdp::envelope::{BrowserFrameKind, peek_browser_frame};
use tabwire_wire::{BrowserContextId, CdpSessionId, ClientId, ErrorCode, TargetId};

use crate::client::Client;
use crate::mux::Mux;
use crate::output::FrameClass;
use crate::pending::{Asker, Errand, Meaning, Pending};
use crate::reply::{self, ProtocolError};
use crate::rewrite;
use crate::session_table::{Session, SessionKind, SessionOwner};

/// An answer that arrived, with what is needed to pass it on.
struct Arrived {
    frame: BytesMut,
    id_span: Range<usize>,
    cut: Option<Range<usize>>,
}

/// The part of an answer the mux reads when it concerns itself.
struct Body(Value);

impl Body {
    fn read(frame: &[u8]) -> Self {
        Self(serde_json::from_slice(frame).unwrap_or(Value::Null))
    }

    fn result(&self) -> Option<&Value> {
        self.0.get("result")
    }

    fn text(&self, field: &str) -> Option<&str> {
        self.result()?.get(field)?.as_str()
    }
}

impl Mux {
    /// Takes a frame from the browser.
    pub fn from_browser(&mut self, frame: BytesMut, now: Instant) {
        self.counters.from_browser += 1;
        let Ok(envelope) = peek_browser_frame(&frame) else {
            self.counters.malformed += 1;
            return;
        };
        match envelope.kind {
            BrowserFrameKind::Answer { id, id_span } => {
                let on = envelope.session.map(CdpSessionId::new);
                let cut = envelope.session_member;
                self.route_answer(id, on.as_ref(), Arrived { frame, id_span, cut }, now);
            }
            BrowserFrameKind::Event { method } => {
                let Some(session) = envelope.session else {
                    // Events on the connection's root: only the attachments of our own house arrive there.
                    return;
                };
                match self.sessions.find_entry(session) {
                    None => self.counters.events_unowned += 1,
                    Some((_, Session { owner: SessionOwner::House, .. })) => {
                        if method.starts_with("Target.")
                            && self.house.as_ref().is_some_and(|id| id.as_str() == session)
                        {
                            let method = method.to_owned();
                            let params = read_params(&frame);
                            self.on_house_event(&method, &params, now);
                        }
                    }
                    Some((id, Session { owner: SessionOwner::Client(client), .. })) => {
                        let (id, client) = (id.clone(), *client);
                        if method.starts_with("Target.") {
                            let method = method.to_owned();
                            let cut = envelope.session_member;
                            self.on_client_target_event(client, &id, &method, frame, cut, now);
                        } else {
                            let class = class_of(method);
                            let cut = envelope.session_member;
                            self.pass_event(client, &id, frame, cut, class);
                        }
                    }
                }
            }
            BrowserFrameKind::Neither => self.counters.malformed += 1,
        }
    }

    /// The browser sent an answer too large to take; who asked is told so.
    pub fn oversize_from_browser(&mut self, head: &[u8], size: usize) {
        let digits: Vec<u8> = head
            .strip_prefix(br#"{"id":"#)
            .map(|rest| rest.iter().copied().take_while(u8::is_ascii_digit).collect())
            .unwrap_or_default();
        let id = std::str::from_utf8(&digits).ok().and_then(|text| text.parse().ok());
        if let Some(pending) = id.and_then(|id: u64| self.pending.take(id)) {
            let sentence =
                format!("The browser's answer of {size} bytes is larger than the ceiling for one message.");
            self.fail(pending, &ProtocolError::ours(ErrorCode::CdpError, sentence));
        }
    }

    /// Passes an event on to the client that owns its session.
    fn pass_event(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        frame: BytesMut,
        cut: Option<Range<usize>>,
        class: FrameClass,
    ) {
        let on_root = self.clients.get(&client).and_then(Client::root) == Some(session);
        let frame = match cut {
            Some(member) if on_root => rewrite::event_to_root(frame, &member),
            _ => frame,
        };
        self.deliver(client, frame, class);
    }

    /// `Target.*` events on a client's session: children come and go.
    fn on_client_target_event(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        method: &str,
        frame: BytesMut,
        cut: Option<Range<usize>>,
        now: Instant,
    ) {
        match method {
            "Target.attachedToTarget" => {
                let params = read_params(&frame);
                let on_browser = self.sessions.find(session.as_str()).is_some_and(Session::is_browser);
                let (child, target, target_type) = (
                    params.get("sessionId").and_then(Value::as_str).unwrap_or_default(),
                    params.pointer("/targetInfo/targetId").and_then(Value::as_str).unwrap_or_default(),
                    params.pointer("/targetInfo/type").and_then(Value::as_str).unwrap_or_default(),
                );
                let auto = on_browser && self.auto_attach_under_way(session, target);
                let kind = if target_type == "browser" {
                    SessionKind::Browser { discover: None, auto_attach: None }
                } else {
                    SessionKind::Target { target: TargetId::new(target), auto }
                };
                let owner = SessionOwner::Client(client);
                let entry = Session { owner, parent: Some(session.clone()), kind };
                self.sessions.insert(CdpSessionId::new(child), entry);
                if auto {
                    self.tell_attached(client, session, &params);
                } else {
                    self.pass_event(client, session, frame, cut, FrameClass::Event);
                }
            }
            "Target.detachedFromTarget" => {
                let params = read_params(&frame);
                let child = params.get("sessionId").and_then(Value::as_str).map(CdpSessionId::new);
                self.pass_event(client, session, frame, cut, FrameClass::Event);
                if let Some(child) = child {
                    self.session_gone(&child, now);
                }
            }
            _ => self.pass_event(client, session, frame, cut, FrameClass::Event),
        }
    }

    /// A cdp session ended: what was asked on it will not be answered by the browser any more.
    pub(crate) fn session_gone(&mut self, session: &CdpSessionId, now: Instant) {
        for (id, gone) in self.sessions.take_tree(session) {
            self.targets.forget_session(&id);
            let lost = self.pending.take_where(|pending| pending.session.as_ref() == Some(&id));
            let error =
                ProtocolError::like_chrome(-32001, "Session closed: the target it was attached to is gone.");
            for (_, pending) in lost {
                self.fail(pending, &error);
            }
            if let (SessionOwner::Client(client), Some(target)) = (gone.owner, gone.target()) {
                let still = self
                    .sessions
                    .iter()
                    .any(|(_, other)| other.owner == gone.owner && other.target() == Some(target));
                if !still {
                    let target = target.clone();
                    self.client_resumes(client, &target, now);
                }
            }
        }
    }

    fn route_answer(&mut self, id: u64, on: Option<&CdpSessionId>, arrived: Arrived, now: Instant) {
        let Some(pending) = self.pending.get(id) else {
            self.counters.answers_unknown += 1;
            return;
        };
        if pending.session.as_ref() != on && !is_no_session(&arrived.frame) {
            self.counters.answers_misrouted += 1;
            return;
        }
        let Some(Pending { asker, session, .. }) = self.pending.take(id) else { return };
        match asker {
            Asker::House(errand) => self.errand_answered(errand, &Body::read(&arrived.frame), now),
            Asker::Client { client, id: client_id, meaning } => {
                self.settle(client);
                self.client_answered(client, client_id, (id, meaning), session.as_ref(), arrived, now);
            }
        }
    }

    fn errand_answered(&mut self, errand: Errand, body: &Body, now: Instant) {
        let Some(result) = body.result() else {
            // Discovery and auto-attach work without a filter on every browser we know; a refusal of the
            // house itself ends the link by its deadline.
            if errand == Errand::FurnishHouse {
                self.house_furnished(now);
            }
            return self.errand_failed(errand);
        };
        match errand {
            Errand::OpenHouse => self.house_opened(result, now),
            Errand::FurnishHouse => self.house_furnished(now),
            Errand::OpenRoot(client) => self.root_opened(client, result, now),
            Errand::AutoAttach { gates, .. } => self.pass_gates(&gates),
            Errand::Chore => {}
        }
    }

    fn client_answered(
        &mut self,
        client: ClientId,
        client_id: i64,
        (id, meaning): (u64, Meaning),
        session: Option<&CdpSessionId>,
        arrived: Arrived,
        now: Instant,
    ) {
        match meaning {
            Meaning::Plain => self.pass_answer(client, client_id, session, arrived),
            Meaning::CreateContext => {
                if let Some(context) = Body::read(&arrived.frame).text("browserContextId") {
                    self.contexts.insert(BrowserContextId::new(context), client);
                }
                self.pass_answer(client, client_id, session, arrived);
            }
            Meaning::CreateTarget(_) => {
                let body = Body::read(&arrived.frame);
                self.create_answered(id, body.text("targetId").map(|target| (client, target)), now);
                let frame = self.readdress(client, client_id, session, arrived);
                match session {
                    Some(session) => self.hold_for_attachments(client, session, frame),
                    None => self.deliver(client, frame, FrameClass::Answer),
                }
            }
            Meaning::TargetList => {
                self.pass_filtered(client, client_id, session, arrived, "targetInfos", |mux, info| {
                    let id = info.get("targetId").and_then(Value::as_str).unwrap_or_default();
                    let ours = info.get("type").and_then(Value::as_str) == Some("browser");
                    if ours || !mux.may_name_target(client, id) {
                        return false;
                    }
                    mux.privatise(client, info);
                    true
                });
            }
            Meaning::ContextList => {
                self.pass_filtered(client, client_id, session, arrived, "browserContextIds", |mux, id| {
                    id.as_str().is_some_and(|id| mux.may_name_context(client, id))
                });
            }
        }
    }

    fn pass_filtered(
        &mut self,
        client: ClientId,
        client_id: i64,
        session: Option<&CdpSessionId>,
        arrived: Arrived,
        list: &str,
        keep: impl Fn(&Self, &mut Value) -> bool,
    ) {
        let Body(mut body) = Body::read(&arrived.frame);
        let Some(items) = body.pointer_mut(&format!("/result/{list}")).and_then(Value::as_array_mut) else {
            return self.pass_answer(client, client_id, session, arrived);
        };
        items.retain_mut(|item| keep(self, item));
        let result = body.get_mut("result").map_or(json!({}), Value::take);
        let echo = self.echo(client, session);
        let frame = reply::result(client_id, echo.as_ref(), result);
        self.deliver(client, frame, FrameClass::Answer);
    }

    fn pass_answer(&mut self, client: ClientId, id: i64, session: Option<&CdpSessionId>, arrived: Arrived) {
        let frame = self.readdress(client, id, session, arrived);
        self.deliver(client, frame, FrameClass::Answer);
    }

    /// Gives an answer the client's id, and takes the root's session off it.
    fn readdress(
        &self,
        client: ClientId,
        id: i64,
        session: Option<&CdpSessionId>,
        arrived: Arrived,
    ) -> BytesMut {
        let cut = if self.echo(client, session).is_none() { arrived.cut } else { None };
        rewrite::to_client(arrived.frame, &arrived.id_span, id, cut.as_ref())
    }
}

fn read_params(frame: &[u8]) -> Value {
    let mut frame: Value = serde_json::from_slice(frame).unwrap_or(Value::Null);
    frame.get_mut("params").map_or(Value::Null, Value::take)
}

/// Whether this is the browser's complaint about a cdp session it does not know, which it may send without one.
fn is_no_session(frame: &[u8]) -> bool {
    let body = Body::read(frame);
    body.0.pointer("/error/code").and_then(Value::as_i64) == Some(-32001)
}

fn class_of(method: &str) -> FrameClass {
    match method {
        "Network.dataReceived" | "Network.resourceChangedPriority" => FrameClass::Droppable,
        _ => FrameClass::Event,
    }
}
