//! What is open between a client and the daemon, seen in passing: should the daemon die, each request still gets one
//! answer, and a new daemon is greeted in the client's own words.
//!
//! Looks at lines of a bounded length; changes none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tabwire_wire::Failure;

use super::lines::Piece;
use crate::limits::{MCP_FIRST_WORDS_BYTES, MCP_SEEN_CALLS};

/// How an answer of the daemon begins; its number follows.
const ANSWER: &[u8] = br#"{"jsonrpc":"2.0","id":"#;

/// What a client said first, to be repeated to another daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FirstWords {
    /// Its greeting, once.
    pub(super) initialize: String,
    /// That it takes the answer.
    pub(super) initialized: String,
}

#[derive(Debug, Default)]
struct Open {
    /// Requests that were not answered yet, by number as it was written; whether each calls a tool.
    waiting: BTreeMap<String, bool>,
    /// What the daemon asked of the client and was not answered.
    questions: BTreeSet<String>,
    first_words: FirstWords,
    /// The number of the client's greeting, if it came on this connection.
    greeting: Option<String>,
}

impl Open {
    /// Whether the client has greeted nobody, or was answered and can be repeated.
    fn is_settled(&self) -> bool {
        let greeting = self.greeting.as_ref();
        greeting.is_none_or(|id| !self.waiting.contains_key(id) && !self.first_words.initialize.is_empty())
    }
}

/// What is open between a client and the daemon.
#[derive(Debug, Default)]
pub(super) struct PendingCalls(Mutex<Open>);

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<&'a str>,
}

impl PendingCalls {
    /// Nothing is open with a client that has said this already.
    pub(super) fn after(first_words: FirstWords) -> Self {
        Self(Mutex::new(Open { first_words, ..Open::default() }))
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a client says.
    pub(super) fn asked(&self, piece: Piece<'_>) {
        let Piece::Line(line) = piece else { return };
        let Ok(message) = serde_json::from_slice::<Message<'_>>(line) else { return };
        let mut open = self.open();
        match (message.id, message.method) {
            (Some(id), Some(method)) => {
                if method == "initialize" {
                    open.first_words.initialize = repeatable(line);
                    open.greeting = Some(id.get().to_owned());
                }
                if open.waiting.len() < MCP_SEEN_CALLS {
                    open.waiting.insert(id.get().to_owned(), method == "tools/call");
                }
            }
            (Some(id), None) => {
                open.questions.remove(id.get());
            }
            (None, Some("notifications/initialized")) => open.first_words.initialized = repeatable(line),
            (None, _) => {}
        }
    }

    /// Notes what the daemon says.
    pub(super) fn answered(&self, piece: Piece<'_>) {
        match piece {
            Piece::Line(line) => {
                let Ok(Message { id: Some(id), method }) = serde_json::from_slice(line) else { return };
                let mut open = self.open();
                if method.is_none() {
                    open.waiting.remove(id.get());
                } else if open.questions.len() < MCP_SEEN_CALLS {
                    open.questions.insert(id.get().to_owned());
                }
            }
            // A picture, say. The daemon writes the number first.
            Piece::Head(head) => {
                let number = head.strip_prefix(ANSWER).map(serde_json::Deserializer::from_slice);
                let number = number.and_then(|rest| rest.into_iter::<&RawValue>().next());
                if let Some(Ok(id)) = number {
                    self.open().waiting.remove(id.get());
                }
            }
            Piece::Rest(_) => {}
        }
    }

    /// What another daemon is to be told first; nothing when the client could not be carried over.
    ///
    /// A question that is open would be answered to the new daemon, which may have asked another by that number.
    pub(super) fn to_repeat(&self) -> Option<FirstWords> {
        let open = self.open();
        (open.questions.is_empty() && open.is_settled()).then(|| open.first_words.clone())
    }

    /// The last answers, when the daemon will give none.
    pub(super) fn last_answers(&self, told: &Failure) -> Vec<Value> {
        let waiting = std::mem::take(&mut self.open().waiting);
        let hint = told.hint.as_deref().unwrap_or_default();
        let text = format!("{}: {}\nnext: {hint}", told.code, told.message);
        let answers = waiting.into_iter().map(|(id, is_call)| {
            let id: Value = serde_json::from_str(&id).unwrap_or(Value::Null);
            if is_call {
                let result = json!({"content": [{"type": "text", "text": text}], "isError": true});
                json!({"jsonrpc": "2.0", "id": id, "result": result})
            } else {
                let data = json!({"code": told.code, "hint": hint});
                let message = format!("{}: {}", told.code, told.message);
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": message, "data": data}})
            }
        });
        answers.collect()
    }
}

/// A line as it can be repeated; nothing when it is longer than anything a client would say there.
fn repeatable(line: &[u8]) -> String {
    let text = std::str::from_utf8(line).unwrap_or_default().trim_end();
    if text.len() <= MCP_FIRST_WORDS_BYTES { text.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use tabwire_wire::ErrorCode;

    use super::*;
    use crate::commands::mcp::lines::Lines;

    fn gone() -> Failure {
        Failure::new(ErrorCode::OutcomeUnknown, "The daemon ended.").with_hint("Look first.")
    }

    #[test]
    fn what_is_not_answered_gets_one_last_answer() {
        let (pending, mut lines) = (PendingCalls::default(), Lines::default());
        let said = "{\"id\":1,\"method\":\"tools/call\"}\n{\"method\":\"notifications/x\"}\n{\"method\":\"ping\",\"id\":\"a\"}\n";
        for piece in said.as_bytes().chunks(7) {
            lines.take(piece, |piece| pending.asked(piece));
        }
        pending.asked(Piece::Line(br#"{"id":2,"method":"tools/list"}"#));
        pending.answered(Piece::Line(br#"{"jsonrpc":"2.0","id":2,"result":{}}"#));
        pending.asked(Piece::Line(br#"{"id":"3,","method":"tools/call"}"#));
        pending.answered(Piece::Head(br#"{"jsonrpc":"2.0","id":"3,","result":{"content":[{"data":"iVB"#));
        pending.answered(Piece::Line(br#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}"#));
        let last = pending.last_answers(&gone());
        assert_eq!(last.len(), 2, "{last:?}");
        assert_eq!(last[0]["error"]["code"], -32603);
        assert_eq!((&last[1]["id"], &last[1]["result"]["isError"]), (&json!(1), &json!(true)));
        assert_eq!(
            last[1]["result"]["content"][0]["text"],
            "OUTCOME_UNKNOWN: The daemon ended.\nnext: Look first."
        );
        assert!(pending.last_answers(&gone()).is_empty(), "one answer each");
    }

    #[test]
    fn a_client_is_carried_over_in_its_own_words_unless_something_would_be_mixed_up() {
        let pending = PendingCalls::default();
        assert_eq!(pending.to_repeat(), Some(FirstWords::default()), "who never greets needs no greeting");
        let hello = r#"{"id":0,"method":"initialize","params":{"clientInfo":{"name":"x"}}}"#;
        pending.asked(Piece::Line(hello.as_bytes()));
        assert_eq!(pending.to_repeat(), None, "its greeting is not answered yet");
        pending.answered(Piece::Line(br#"{"jsonrpc":"2.0","id":0,"result":{}}"#));
        let taken = r#"{"method":"notifications/initialized"}"#;
        pending.asked(Piece::Line(taken.as_bytes()));
        let words = FirstWords { initialize: hello.to_owned(), initialized: taken.to_owned() };
        assert_eq!(pending.to_repeat(), Some(words.clone()));
        pending.answered(Piece::Line(br#"{"id":0,"method":"elicitation/create"}"#));
        assert_eq!(pending.to_repeat(), None, "a question is open");
        pending.asked(Piece::Line(br#"{"id":0,"result":{"action":"decline"}}"#));
        assert_eq!(pending.to_repeat(), Some(words.clone()));
        assert_eq!(PendingCalls::after(words.clone()).to_repeat(), Some(words));
        let long =
            format!("{{\"id\":9,\"method\":\"initialize\",\"x\":\"{}\"}}", "x".repeat(MCP_FIRST_WORDS_BYTES));
        pending.asked(Piece::Line(long.as_bytes()));
        pending.answered(Piece::Line(br#"{"id":9,"result":{}}"#));
        assert_eq!(pending.to_repeat(), None, "too long to be repeated");
    }
}
