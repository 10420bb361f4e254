//! What a client has asked for and was told, as far as it matters when its browser goes: unanswered requests, cdp
//! sessions that it believes in, and what is to be put in force again. Plain state: no sockets, no clock.

use std::collections::{BTreeMap, VecDeque};

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_cdp::envelope::{BrowserFrameKind, ClientEnvelope, peek_browser_frame, peek_client_frame};
use tabwire_mux::WeakSignal;

use crate::limits::{CHROME_QUEUE_BYTES, CHROME_REMEMBERED};

/// The first id of requests of our own, far above what clients count to.
const OWN_IDS: i64 = 9_000_000_000_000;

/// A client's standing with its browser.
#[derive(Debug, Default)]
pub(super) struct ClientMemory {
    /// Unanswered requests.
    pending: BTreeMap<i64, Pending>,
    /// Cdp sessions the client was told of, with the one they hang below and their target.
    sessions: Vec<Announced>,
    discover: Option<Value>,
    auto_attach: Option<Value>,
    queue: VecDeque<BytesMut>,
    queued_bytes: usize,
}

#[derive(Debug)]
struct Pending {
    /// The cdp session it was made on.
    session: Option<String>,
    /// Whether it asks for what has happened when the browser is gone.
    is_close: bool,
}

#[derive(Debug)]
struct Announced {
    session: String,
    parent: Option<String>,
    target: Option<Value>,
}

/// Too much waits for a browser.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QueueFull;

impl ClientMemory {
    /// Notes a request that goes to the browser.
    pub(super) fn asked(&mut self, envelope: &ClientEnvelope<'_>) {
        if self.pending.len() < CHROME_REMEMBERED {
            let (session, is_close) =
                (envelope.session.map(str::to_owned), envelope.method == "Browser.close");
            self.pending.insert(envelope.id, Pending { session, is_close });
        }
        if envelope.session.is_some() {
            return;
        }
        let params = || envelope.params.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        match envelope.method {
            "Target.setAutoAttach" => self.auto_attach = params(),
            "Target.setDiscoverTargets" => self.discover = params(),
            _ => {}
        }
    }

    /// Notes what the browser says to the client; a sign that it may be going is handed back.
    pub(super) fn told(&mut self, frame: &[u8]) -> Option<WeakSignal> {
        let envelope = peek_browser_frame(frame).ok()?;
        match envelope.kind {
            BrowserFrameKind::Answer { id, .. } => {
                let id = i64::try_from(id).ok()?;
                self.pending.remove(&id);
                None
            }
            BrowserFrameKind::Event { method: "Target.attachedToTarget" } => {
                self.attached(frame, envelope.session);
                None
            }
            BrowserFrameKind::Event { method: "Target.detachedFromTarget" } => {
                let params = params_of(frame)?;
                let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
                self.sessions.retain(|known| known.session != session);
                Some(WeakSignal::DetachedFromTarget)
            }
            BrowserFrameKind::Event { method: "Inspector.detached" } => Some(WeakSignal::InspectorDetached),
            BrowserFrameKind::Event { .. } | BrowserFrameKind::Neither => None,
        }
    }

    fn attached(&mut self, frame: &[u8], parent: Option<&str>) {
        let Some(params) = params_of(frame) else { return };
        let Some(session) = params.get("sessionId").and_then(Value::as_str) else { return };
        if self.sessions.len() < CHROME_REMEMBERED {
            let target = params.pointer("/targetInfo/targetId").cloned();
            let parent = parent.map(str::to_owned);
            self.sessions.push(Announced { session: session.to_owned(), parent, target });
        }
    }

    /// Keeps a request until there is a browser.
    ///
    /// # Errors
    /// When too much waits already.
    pub(super) fn keep(&mut self, frame: BytesMut) -> Result<(), QueueFull> {
        if self.queued_bytes + frame.len() > CHROME_QUEUE_BYTES {
            return Err(QueueFull);
        }
        self.queued_bytes += frame.len();
        self.queue.push_back(frame);
        Ok(())
    }

    /// Takes what waits, in its order.
    pub(super) fn take_queue(&mut self) -> VecDeque<BytesMut> {
        self.queued_bytes = 0;
        std::mem::take(&mut self.queue)
    }

    /// The browser is gone: what the client is owed. Every request gets an answer, every cdp session its end; the
    /// youngest sessions go first, so that children go before their parents.
    pub(super) fn lose(&mut self) -> Vec<BytesMut> {
        let message =
            "BROWSER_GONE: the browser went away before it answered; the command may or may not have run.";
        let mut owed: Vec<Value> = std::mem::take(&mut self.pending)
            .into_iter()
            .map(|(id, Pending { session, is_close })| match is_close {
                true => with_session(json!({"id": id, "result": {}}), session),
                false => {
                    with_session(json!({"id": id, "error": {"code": -32000, "message": message}}), session)
                }
            })
            .collect();
        while let Some(Announced { session, parent, target }) = self.sessions.pop() {
            let mut params = json!({"sessionId": session});
            if let (Some(target), Some(members)) = (target, params.as_object_mut()) {
                members.insert("targetId".to_owned(), target);
            }
            owed.push(with_session(json!({"method": "Target.detachedFromTarget", "params": params}), parent));
        }
        owed.iter().map(frame_of).collect()
    }

    /// What is sent to a new browser before anything of the client's: what the client has wished for on its root. A
    /// client that never asked to be attached to anything is not attached to anything now either.
    pub(super) fn bootstrap(&self) -> Vec<(i64, BytesMut)> {
        let nothing = json!({"autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true});
        let discover = self.discover.clone().map(|params| ("Target.setDiscoverTargets", params));
        let attach = ("Target.setAutoAttach", self.auto_attach.clone().unwrap_or(nothing));
        discover
            .into_iter()
            .chain([attach])
            .zip(OWN_IDS..)
            .map(|((method, params), id)| {
                (id, frame_of(&json!({"id": id, "method": method, "params": params})))
            })
            .collect()
    }
}

/// Whether a frame answers one of our own requests, and whether well.
pub(super) fn own_answer(frame: &[u8], own: &[i64]) -> Option<(i64, bool)> {
    let envelope = peek_browser_frame(frame).ok()?;
    let BrowserFrameKind::Answer { id, .. } = envelope.kind else { return None };
    let id = i64::try_from(id).ok().filter(|id| own.contains(id))?;
    let is_error = serde_json::from_slice::<Value>(frame).ok()?.get("error").is_some();
    Some((id, !is_error))
}

/// The answer of a browser that is gone to being closed.
pub(super) fn empty_answer(frame: &[u8]) -> Option<BytesMut> {
    let envelope = peek_client_frame(frame).ok()?;
    let session = envelope.session.map(str::to_owned);
    Some(frame_of(&with_session(json!({"id": envelope.id, "result": {}}), session)))
}

/// The answer to a request that nobody will answer any more.
pub(super) fn error_answer(frame: &[u8], message: &str) -> Option<BytesMut> {
    let envelope = peek_client_frame(frame).ok()?;
    let session = envelope.session.map(str::to_owned);
    let answer = json!({"id": envelope.id, "error": {"code": -32000, "message": message}});
    Some(frame_of(&with_session(answer, session)))
}

fn with_session(mut message: Value, session: Option<String>) -> Value {
    if let (Some(session), Some(members)) = (session, message.as_object_mut()) {
        members.insert("sessionId".to_owned(), Value::String(session));
    }
    message
}

fn params_of(frame: &[u8]) -> Option<Value> {
    serde_json::from_slice::<Value>(frame).ok()?.get_mut("params").map(Value::take)
}

fn frame_of(message: &Value) -> BytesMut {
    BytesMut::from(message.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(memory: &mut ClientMemory, request: &Value) {
        let text = request.to_string();
        memory.asked(&peek_client_frame(text.as_bytes()).unwrap());
    }

    fn texts(frames: &[BytesMut]) -> Vec<Value> {
        frames.iter().map(|frame| serde_json::from_slice(frame).unwrap()).collect()
    }

    #[test]
    fn every_unanswered_request_is_answered_and_every_session_ended_children_first() {
        let mut memory = ClientMemory::default();
        ask(&mut memory, &json!({"id": 1, "method": "Page.enable", "sessionId": "P"}));
        ask(&mut memory, &json!({"id": 2, "method": "Browser.getVersion"}));
        for (session, parent) in [("P", None), ("C", Some("P"))] {
            let mut event = json!({"method": "Target.attachedToTarget",
                "params": {"sessionId": session, "targetInfo": {"targetId": format!("t{session}")}}});
            if let Some(parent) = parent {
                event["sessionId"] = json!(parent);
            }
            assert_eq!(memory.told(event.to_string().as_bytes()), None);
        }
        memory.told(br#"{"id":2,"result":{}}"#);
        let owed = texts(&memory.lose());
        assert_eq!(owed.len(), 3);
        assert_eq!((&owed[0]["id"], &owed[0]["sessionId"]), (&json!(1), &json!("P")));
        assert!(owed[0]["error"]["message"].as_str().unwrap().starts_with("BROWSER_GONE"));
        assert_eq!((&owed[1]["params"]["sessionId"], &owed[1]["sessionId"]), (&json!("C"), &json!("P")));
        assert_eq!((&owed[2]["params"]["sessionId"], owed[2].get("sessionId")), (&json!("P"), None));
        assert!(memory.lose().is_empty(), "and once only");
    }

    #[test]
    fn attach_and_detach_events_are_followed_and_the_latter_is_a_weak_signal() {
        let mut memory = ClientMemory::default();
        memory.told(br#"{"method":"Target.attachedToTarget","params":{"sessionId":"S","targetInfo":{"targetId":"t"}}}"#);
        let gone = br#"{"method":"Target.detachedFromTarget","params":{"sessionId":"S"}}"#;
        assert_eq!(memory.told(gone), Some(WeakSignal::DetachedFromTarget));
        let detached = br#"{"method":"Inspector.detached","params":{"reason":"Render process gone."}}"#;
        assert_eq!(memory.told(detached), Some(WeakSignal::InspectorDetached));
        assert!(memory.lose().is_empty());
    }

    #[test]
    fn the_bootstrap_is_what_the_client_had_asked_for_on_its_root() {
        let mut memory = ClientMemory::default();
        let wish = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        ask(&mut memory, &json!({"id": 1, "method": "Target.setAutoAttach", "params": wish}));
        let on_page = json!({"autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true});
        ask(
            &mut memory,
            &json!({"id": 2, "method": "Target.setAutoAttach", "params": on_page, "sessionId": "P"}),
        );
        let sent = memory.bootstrap();
        let texts = texts(&sent.iter().map(|(_, frame)| frame.clone()).collect::<Vec<_>>());
        assert_eq!(texts, [json!({"id": OWN_IDS, "method": "Target.setAutoAttach", "params": wish})]);
        ask(
            &mut memory,
            &json!({"id": 3, "method": "Target.setDiscoverTargets", "params": {"discover": true}}),
        );
        let methods: Vec<_> = memory.bootstrap().iter().map(|(id, _)| *id).collect();
        assert_eq!(methods, [OWN_IDS, OWN_IDS + 1], "discovery first, then attaching");
    }

    #[test]
    fn a_client_that_never_attached_automatically_does_not_begin_to() {
        let sent = ClientMemory::default().bootstrap();
        let text: Value = serde_json::from_slice(&sent[0].1).unwrap();
        assert_eq!((sent.len(), &text["params"]["autoAttach"]), (1, &json!(false)));
    }

    #[test]
    fn answers_to_our_own_requests_are_known_and_only_those() {
        let own = [OWN_IDS];
        let answer = format!("{{\"id\":{OWN_IDS},\"result\":{{}}}}");
        assert_eq!(own_answer(answer.as_bytes(), &own), Some((OWN_IDS, true)));
        let error = format!("{{\"id\":{OWN_IDS},\"error\":{{\"code\":-32000,\"message\":\"no\"}}}}");
        assert_eq!(own_answer(error.as_bytes(), &own), Some((OWN_IDS, false)));
        for other in [&br#"{"id":7,"result":{}}"#[..], br#"{"method":"Target.attachedToTarget","params":{}}"#]
        {
            assert_eq!(own_answer(other, &own), None);
        }
    }

    #[test]
    fn a_browser_that_goes_while_it_is_being_closed_is_closed() {
        let mut memory = ClientMemory::default();
        ask(&mut memory, &json!({"id": 5, "method": "Browser.close"}));
        assert_eq!(texts(&memory.lose()), [json!({"id": 5, "result": {}})]);
    }

    #[test]
    fn closing_a_browser_that_is_gone_is_answered_with_the_same_id() {
        let answer = empty_answer(br#"{"id":-9999,"method":"Browser.close"}"#).unwrap();
        assert_eq!(texts(&[answer])[0], json!({"id": -9999, "result": {}}));
    }

    #[test]
    fn what_waits_is_bounded_and_keeps_its_order() {
        let mut memory = ClientMemory::default();
        for text in ["a", "b"] {
            memory.keep(BytesMut::from(text)).unwrap();
        }
        assert_eq!(memory.take_queue(), ["a", "b"]);
        let large = BytesMut::zeroed(CHROME_QUEUE_BYTES);
        memory.keep(large).unwrap();
        assert_eq!(memory.keep(BytesMut::from("c")), Err(QueueFull));
    }
}
