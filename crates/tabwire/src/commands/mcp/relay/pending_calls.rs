//! Tracks the pending requests and the handshake of an MCP client. When the daemon dies, each request still gets one
//! response, and the next daemon gets the same handshake.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tabwire_api::Failure;

use super::lines::Piece;

/// Longest handshake message of a client that is replayed to another daemon; the environment carries it there.
const HANDSHAKE_BYTES: usize = 48 * 1024;

/// Pending requests that are tracked.
const TRACKED_CALLS: usize = 1024;

/// Start of a response of the daemon; the id follows.
const RESPONSE_START: &[u8] = br#"{"jsonrpc":"2.0","id":"#;

/// The client's handshake, to be replayed to another daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientHandshake {
    /// The `initialize` request.
    pub(crate) initialize: String,
    /// The `initialized` notification.
    pub(crate) initialized: String,
}

#[derive(Debug, Default)]
struct State {
    /// Requests without a response, by id as written; the value is whether it calls a tool.
    waiting: BTreeMap<String, bool>,
    /// Requests of the daemon to the client without a response.
    server_requests: BTreeSet<String>,
    handshake: ClientHandshake,
    /// The id of the `initialize` request on this connection.
    initialize_id: Option<String>,
}

impl State {
    /// Whether the handshake is complete and can be replayed, or has not begun.
    fn is_settled(&self) -> bool {
        let initialize_id = self.initialize_id.as_ref();
        initialize_id.is_none_or(|id| !self.waiting.contains_key(id) && !self.handshake.initialize.is_empty())
    }
}

#[derive(Debug, Default)]
pub(crate) struct PendingCalls(Mutex<State>);

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<&'a str>,
}

impl PendingCalls {
    /// No pending requests, after this handshake.
    pub(crate) fn after(handshake: ClientHandshake) -> Self {
        Self(Mutex::new(State { handshake, ..State::default() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a message of the client.
    pub(crate) fn record_client(&self, piece: Piece<'_>) {
        let Piece::Line(line) = piece else { return };
        let Ok(message) = serde_json::from_slice::<Message<'_>>(line) else { return };
        let mut state = self.state();
        match (message.id, message.method) {
            (Some(id), Some(method)) => {
                if method == "initialize" {
                    state.handshake.initialize = replayable(line);
                    state.initialize_id = Some(id.get().to_owned());
                }
                if state.waiting.len() < TRACKED_CALLS {
                    state.waiting.insert(id.get().to_owned(), method == "tools/call");
                }
            }
            (Some(id), None) => {
                state.server_requests.remove(id.get());
            }
            (None, Some("notifications/initialized")) => state.handshake.initialized = replayable(line),
            (None, _) => {}
        }
    }

    /// Records a message of the daemon.
    pub(crate) fn record_daemon(&self, piece: Piece<'_>) {
        match piece {
            Piece::Line(line) => {
                let Ok(Message { id: Some(id), method }) = serde_json::from_slice(line) else { return };
                let mut state = self.state();
                if method.is_none() {
                    state.waiting.remove(id.get());
                } else if state.server_requests.len() < TRACKED_CALLS {
                    state.server_requests.insert(id.get().to_owned());
                }
            }
            // A long response, such as a screenshot. The daemon writes the id first.
            Piece::Head(head) => {
                let number = head.strip_prefix(RESPONSE_START).map(serde_json::Deserializer::from_slice);
                let number = number.and_then(|rest| rest.into_iter::<&RawValue>().next());
                if let Some(Ok(id)) = number {
                    self.state().waiting.remove(id.get());
                }
            }
            Piece::Rest(_) => {}
        }
    }

    /// The handshake for the next daemon; `None` when the client cannot be moved: the client would respond to a pending
    /// request of the old daemon, and the new one may have used the same id.
    pub(crate) fn handshake_to_replay(&self) -> Option<ClientHandshake> {
        let state = self.state();
        (state.server_requests.is_empty() && state.is_settled()).then(|| state.handshake.clone())
    }

    /// Failure responses to all pending requests.
    pub(crate) fn failure_responses(&self, failure: &Failure) -> Vec<Value> {
        let waiting = std::mem::take(&mut self.state().waiting);
        let hint = failure.hint();
        let text = format!("{}: {}\nnext: {hint}", failure.code, failure.message);
        let responses = waiting.into_iter().map(|(id, is_call)| {
            let id: Value = serde_json::from_str(&id).unwrap_or(Value::Null);
            if is_call {
                let result = json!({"content": [{"type": "text", "text": text}], "isError": true});
                json!({"jsonrpc": "2.0", "id": id, "result": result})
            } else {
                let data = json!({"code": failure.code, "hint": hint});
                let message = format!("{}: {}", failure.code, failure.message);
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": message, "data": data}})
            }
        });
        responses.collect()
    }
}

/// A line that can be replayed; empty when it is too long.
fn replayable(line: &[u8]) -> String {
    let text = std::str::from_utf8(line).unwrap_or_default().trim_end();
    if text.len() <= HANDSHAKE_BYTES { text.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use tabwire_api::ErrorCode;

    use super::super::lines::Lines;
    use super::*;

    fn gone() -> Failure {
        Failure::new(ErrorCode::OutcomeUnknown, "The daemon ended.").with_remedy("Look first.")
    }

    #[test]
    fn pending_requests_get_one_failure_response() {
        let (pending, mut lines) = (PendingCalls::default(), Lines::default());
        let said = "{\"id\":1,\"method\":\"tools/call\"}\n{\"method\":\"notifications/x\"}\n{\"method\":\"ping\",\"id\":\"a\"}\n";
        for piece in said.as_bytes().chunks(7) {
            lines.take(piece, |piece| pending.record_client(piece));
        }
        pending.record_client(Piece::Line(br#"{"id":2,"method":"tools/list"}"#));
        pending.record_daemon(Piece::Line(br#"{"jsonrpc":"2.0","id":2,"result":{}}"#));
        pending.record_client(Piece::Line(br#"{"id":"3,","method":"tools/call"}"#));
        pending
            .record_daemon(Piece::Head(br#"{"jsonrpc":"2.0","id":"3,","result":{"content":[{"data":"iVB"#));
        pending.record_daemon(Piece::Line(br#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}"#));
        let last = pending.failure_responses(&gone());
        assert_eq!(last.len(), 2, "{last:?}");
        assert_eq!(last[0]["error"]["code"], -32603);
        assert_eq!((&last[1]["id"], &last[1]["result"]["isError"]), (&json!(1), &json!(true)));
        assert_eq!(
            last[1]["result"]["content"][0]["text"],
            "OUTCOME_UNKNOWN: The daemon ended.\nnext: Look first."
        );
        assert!(pending.failure_responses(&gone()).is_empty(), "one response each");
    }

    #[test]
    fn a_client_is_moved_with_its_handshake_unless_ids_could_clash() {
        let pending = PendingCalls::default();
        assert_eq!(
            pending.handshake_to_replay(),
            Some(ClientHandshake::default()),
            "no handshake, none to replay"
        );
        let hello = r#"{"id":0,"method":"initialize","params":{"clientInfo":{"name":"x"}}}"#;
        pending.record_client(Piece::Line(hello.as_bytes()));
        assert_eq!(pending.handshake_to_replay(), None, "initialize has no response yet");
        pending.record_daemon(Piece::Line(br#"{"jsonrpc":"2.0","id":0,"result":{}}"#));
        let taken = r#"{"method":"notifications/initialized"}"#;
        pending.record_client(Piece::Line(taken.as_bytes()));
        let words = ClientHandshake { initialize: hello.to_owned(), initialized: taken.to_owned() };
        assert_eq!(pending.handshake_to_replay(), Some(words.clone()));
        pending.record_daemon(Piece::Line(br#"{"id":0,"method":"elicitation/create"}"#));
        assert_eq!(pending.handshake_to_replay(), None, "a server request is pending");
        pending.record_client(Piece::Line(br#"{"id":0,"result":{"action":"decline"}}"#));
        assert_eq!(pending.handshake_to_replay(), Some(words.clone()));
        assert_eq!(PendingCalls::after(words.clone()).handshake_to_replay(), Some(words));
        let long =
            format!("{{\"id\":9,\"method\":\"initialize\",\"x\":\"{}\"}}", "x".repeat(HANDSHAKE_BYTES));
        pending.record_client(Piece::Line(long.as_bytes()));
        pending.record_daemon(Piece::Line(br#"{"id":9,"result":{}}"#));
        assert_eq!(pending.handshake_to_replay(), None, "too long to be replayed");
    }
}
