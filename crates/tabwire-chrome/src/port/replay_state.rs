//! The state of one client that a browser loss affects: pending requests, its CDP sessions, and the settings to send to
//! the next browser. Has no sockets and no clock.

use std::collections::{BTreeMap, VecDeque};

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_cdp::envelope::{BrowserFrameKind, ClientEnvelope, peek_browser_frame, peek_client_frame};
use tabwire_mux::WeakSignal;

/// Bytes of requests that one client may queue while the browser restarts.
const QUEUE_BYTES: usize = 16 * 1024 * 1024;

/// Pending requests and CDP sessions of one client that are tracked, each.
const TRACKED: usize = 10_000;

/// The first id of bootstrap requests, far above the ids of clients.
const BOOTSTRAP_IDS: i64 = 9_000_000_000_000;

#[derive(Debug, Default)]
pub(super) struct ReplayState {
    /// Requests without a response, by id.
    pending: BTreeMap<i64, Pending>,
    /// The client's CDP sessions, oldest first.
    sessions: Vec<AttachedSession>,
    /// Parameters of the last `Target.setDiscoverTargets` on the root session.
    discover: Option<Value>,
    /// Parameters of the last `Target.setAutoAttach` on the root session.
    auto_attach: Option<Value>,
    /// Requests that wait for a browser.
    queue: VecDeque<BytesMut>,
    queued_bytes: usize,
}

#[derive(Debug)]
struct Pending {
    session: Option<String>,
    /// `Browser.close` succeeds when the browser is gone.
    is_close: bool,
}

#[derive(Debug)]
struct AttachedSession {
    id: String,
    parent: Option<String>,
    target: Option<Value>,
}

/// The queue has reached its limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QueueFull;

impl ReplayState {
    /// Records a request that is sent to the browser.
    pub(super) fn record_request(&mut self, envelope: &ClientEnvelope<'_>) {
        if self.pending.len() < TRACKED {
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

    /// Records a frame of the browser. Returns the weak disconnect signal in it.
    pub(super) fn record_frame(&mut self, frame: &[u8]) -> Option<WeakSignal> {
        let envelope = peek_browser_frame(frame).ok()?;
        match envelope.kind {
            BrowserFrameKind::Response { id, .. } => {
                let id = i64::try_from(id).ok()?;
                self.pending.remove(&id);
                None
            }
            BrowserFrameKind::Event { method: "Target.attachedToTarget" } => {
                self.record_attached(frame, envelope.session);
                None
            }
            BrowserFrameKind::Event { method: "Target.detachedFromTarget" } => {
                let params = params_of(frame)?;
                let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
                self.sessions.retain(|known| known.id != session);
                Some(WeakSignal::DetachedFromTarget)
            }
            BrowserFrameKind::Event { method: "Inspector.detached" } => Some(WeakSignal::InspectorDetached),
            BrowserFrameKind::Event { .. } | BrowserFrameKind::Neither => None,
        }
    }

    fn record_attached(&mut self, frame: &[u8], parent: Option<&str>) {
        let Some(params) = params_of(frame) else { return };
        let Some(session) = params.get("sessionId").and_then(Value::as_str) else { return };
        if self.sessions.len() < TRACKED {
            let target = params.pointer("/targetInfo/targetId").cloned();
            let parent = parent.map(str::to_owned);
            self.sessions.push(AttachedSession { id: session.to_owned(), parent, target });
        }
    }

    /// Queues a request until a browser is connected.
    ///
    /// # Errors
    /// When the queue is full.
    pub(super) fn queue(&mut self, frame: BytesMut) -> Result<(), QueueFull> {
        if self.queued_bytes + frame.len() > QUEUE_BYTES {
            return Err(QueueFull);
        }
        self.queued_bytes += frame.len();
        self.queue.push_back(frame);
        Ok(())
    }

    /// Takes the queued requests, oldest first.
    pub(super) fn take_queue(&mut self) -> VecDeque<BytesMut> {
        self.queued_bytes = 0;
        std::mem::take(&mut self.queue)
    }

    /// The frames that the client gets when the browser is gone: a response to every pending request, a detach event for
    /// every CDP session. The youngest sessions come first, so that children detach before their parents.
    pub(super) fn take_loss_frames(&mut self) -> Vec<BytesMut> {
        let message =
            "BROWSER_GONE: the browser exited before it responded; the command may or may not have run.";
        let mut frames: Vec<Value> = std::mem::take(&mut self.pending)
            .into_iter()
            .map(|(id, Pending { session, is_close })| match is_close {
                true => with_session(json!({"id": id, "result": {}}), session),
                false => {
                    with_session(json!({"id": id, "error": {"code": -32000, "message": message}}), session)
                }
            })
            .collect();
        while let Some(AttachedSession { id, parent, target }) = self.sessions.pop() {
            let mut params = json!({"sessionId": id});
            if let (Some(target), Some(members)) = (target, params.as_object_mut()) {
                members.insert("targetId".to_owned(), target);
            }
            frames
                .push(with_session(json!({"method": "Target.detachedFromTarget", "params": params}), parent));
        }
        frames.iter().map(to_frame).collect()
    }

    /// The requests that a new browser gets before the client's own: the client's last settings on its root session.
    /// Auto-attach is switched off for a client that never switched it on: the daemon's default is on.
    pub(super) fn bootstrap(&self) -> Vec<(i64, BytesMut)> {
        let off = json!({"autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true});
        let discover = self.discover.clone().map(|params| ("Target.setDiscoverTargets", params));
        let attach = ("Target.setAutoAttach", self.auto_attach.clone().unwrap_or(off));
        discover
            .into_iter()
            .chain([attach])
            .zip(BOOTSTRAP_IDS..)
            .map(|((method, params), id)| {
                (id, to_frame(&json!({"id": id, "method": method, "params": params})))
            })
            .collect()
    }
}

/// The id of the bootstrap request that a frame responds to, and whether it succeeded.
pub(super) fn bootstrap_response(frame: &[u8], own: &[i64]) -> Option<(i64, bool)> {
    let envelope = peek_browser_frame(frame).ok()?;
    let BrowserFrameKind::Response { id, .. } = envelope.kind else { return None };
    let id = i64::try_from(id).ok().filter(|id| own.contains(id))?;
    let is_error = serde_json::from_slice::<Value>(frame).ok()?.get("error").is_some();
    Some((id, !is_error))
}

/// A successful response to `Browser.close` without a browser.
pub(super) fn empty_response(frame: &[u8]) -> Option<BytesMut> {
    let envelope = peek_client_frame(frame).ok()?;
    let session = envelope.session.map(str::to_owned);
    Some(to_frame(&with_session(json!({"id": envelope.id, "result": {}}), session)))
}

/// An error response to a request.
pub(super) fn error_response(frame: &[u8], message: &str) -> Option<BytesMut> {
    let envelope = peek_client_frame(frame).ok()?;
    let session = envelope.session.map(str::to_owned);
    let response = json!({"id": envelope.id, "error": {"code": -32000, "message": message}});
    Some(to_frame(&with_session(response, session)))
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

fn to_frame(message: &Value) -> BytesMut {
    BytesMut::from(message.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(state: &mut ReplayState, request: &Value) {
        let text = request.to_string();
        state.record_request(&peek_client_frame(text.as_bytes()).unwrap());
    }

    fn texts(frames: &[BytesMut]) -> Vec<Value> {
        frames.iter().map(|frame| serde_json::from_slice(frame).unwrap()).collect()
    }

    #[test]
    fn loss_completes_pending_requests_and_detaches_children_first() {
        let mut state = ReplayState::default();
        send(&mut state, &json!({"id": 1, "method": "Page.enable", "sessionId": "P"}));
        send(&mut state, &json!({"id": 2, "method": "Browser.getVersion"}));
        for (session, parent) in [("P", None), ("C", Some("P"))] {
            let mut event = json!({"method": "Target.attachedToTarget",
                "params": {"sessionId": session, "targetInfo": {"targetId": format!("t{session}")}}});
            if let Some(parent) = parent {
                event["sessionId"] = json!(parent);
            }
            assert_eq!(state.record_frame(event.to_string().as_bytes()), None);
        }
        state.record_frame(br#"{"id":2,"result":{}}"#);
        let frames = texts(&state.take_loss_frames());
        assert_eq!(frames.len(), 3);
        assert_eq!((&frames[0]["id"], &frames[0]["sessionId"]), (&json!(1), &json!("P")));
        assert!(frames[0]["error"]["message"].as_str().unwrap().starts_with("BROWSER_GONE"));
        assert_eq!((&frames[1]["params"]["sessionId"], &frames[1]["sessionId"]), (&json!("C"), &json!("P")));
        assert_eq!((&frames[2]["params"]["sessionId"], frames[2].get("sessionId")), (&json!("P"), None));
        assert!(state.take_loss_frames().is_empty(), "and once only");
    }

    #[test]
    fn detach_events_remove_sessions_and_are_weak_signals() {
        let mut state = ReplayState::default();
        state.record_frame(br#"{"method":"Target.attachedToTarget","params":{"sessionId":"S","targetInfo":{"targetId":"t"}}}"#);
        let gone = br#"{"method":"Target.detachedFromTarget","params":{"sessionId":"S"}}"#;
        assert_eq!(state.record_frame(gone), Some(WeakSignal::DetachedFromTarget));
        let detached = br#"{"method":"Inspector.detached","params":{"reason":"Render process gone."}}"#;
        assert_eq!(state.record_frame(detached), Some(WeakSignal::InspectorDetached));
        assert!(state.take_loss_frames().is_empty());
    }

    #[test]
    fn the_bootstrap_repeats_the_settings_of_the_root_session() {
        let mut state = ReplayState::default();
        let params = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        send(&mut state, &json!({"id": 1, "method": "Target.setAutoAttach", "params": params}));
        let on_page = json!({"autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true});
        send(
            &mut state,
            &json!({"id": 2, "method": "Target.setAutoAttach", "params": on_page, "sessionId": "P"}),
        );
        let sent = state.bootstrap();
        let texts = texts(&sent.iter().map(|(_, frame)| frame.clone()).collect::<Vec<_>>());
        assert_eq!(texts, [json!({"id": BOOTSTRAP_IDS, "method": "Target.setAutoAttach", "params": params})]);
        send(
            &mut state,
            &json!({"id": 3, "method": "Target.setDiscoverTargets", "params": {"discover": true}}),
        );
        let methods: Vec<_> = state.bootstrap().iter().map(|(id, _)| *id).collect();
        assert_eq!(methods, [BOOTSTRAP_IDS, BOOTSTRAP_IDS + 1], "discovery first, then attaching");
    }

    #[test]
    fn the_bootstrap_switches_auto_attach_off_by_default() {
        let sent = ReplayState::default().bootstrap();
        let text: Value = serde_json::from_slice(&sent[0].1).unwrap();
        assert_eq!((sent.len(), &text["params"]["autoAttach"]), (1, &json!(false)));
    }

    #[test]
    fn only_responses_to_bootstrap_requests_are_recognized() {
        let own = [BOOTSTRAP_IDS];
        let response = format!("{{\"id\":{BOOTSTRAP_IDS},\"result\":{{}}}}");
        assert_eq!(bootstrap_response(response.as_bytes(), &own), Some((BOOTSTRAP_IDS, true)));
        let error = format!("{{\"id\":{BOOTSTRAP_IDS},\"error\":{{\"code\":-32000,\"message\":\"no\"}}}}");
        assert_eq!(bootstrap_response(error.as_bytes(), &own), Some((BOOTSTRAP_IDS, false)));
        for other in [&br#"{"id":7,"result":{}}"#[..], br#"{"method":"Target.attachedToTarget","params":{}}"#]
        {
            assert_eq!(bootstrap_response(other, &own), None);
        }
    }

    #[test]
    fn a_loss_during_browser_close_is_a_success() {
        let mut state = ReplayState::default();
        send(&mut state, &json!({"id": 5, "method": "Browser.close"}));
        assert_eq!(texts(&state.take_loss_frames()), [json!({"id": 5, "result": {}})]);
    }

    #[test]
    fn the_response_to_browser_close_has_the_same_id() {
        let response = empty_response(br#"{"id":-9999,"method":"Browser.close"}"#).unwrap();
        assert_eq!(texts(&[response])[0], json!({"id": -9999, "result": {}}));
    }

    #[test]
    fn the_queue_is_bounded_and_ordered() {
        let mut state = ReplayState::default();
        for text in ["a", "b"] {
            state.queue(BytesMut::from(text)).unwrap();
        }
        assert_eq!(state.take_queue(), ["a", "b"]);
        let large = BytesMut::zeroed(QUEUE_BYTES);
        state.queue(large).unwrap();
        assert_eq!(state.queue(BytesMut::from("c")), Err(QueueFull));
    }
}
