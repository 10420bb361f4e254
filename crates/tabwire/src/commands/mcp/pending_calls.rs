//! Which requests a client waits for, seen in passing: should the daemon die, each still gets one answer.
//!
//! Looks at whole lines of a bounded length; changes none.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::limits::{MCP_SEEN_BYTES, MCP_SEEN_CALLS};

/// Puts lines together from pieces; a line that is too long is let go unseen.
#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    is_too_long: bool,
}

impl Lines {
    /// Takes a piece; `see` is shown each line that ends in it.
    pub(super) fn take(&mut self, piece: &[u8], mut see: impl FnMut(&[u8])) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.is_too_long |= self.line.len() + part.len() > MCP_SEEN_BYTES;
            if !self.is_too_long {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                if !self.is_too_long {
                    see(&self.line);
                }
                self.line = Vec::new();
                self.is_too_long = false;
            }
        }
    }
}

/// The requests that were not answered yet, by id as it was written; whether each calls a tool.
#[derive(Debug, Default)]
pub(super) struct PendingCalls {
    waiting: Mutex<BTreeMap<String, bool>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<&'a str>,
}

impl PendingCalls {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<String, bool>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a client asks.
    pub(super) fn asked(&self, line: &[u8]) {
        let Ok(Message { id: Some(id), method: Some(method) }) = serde_json::from_slice(line) else { return };
        let mut waiting = self.waiting();
        if waiting.len() < MCP_SEEN_CALLS {
            waiting.insert(id.get().to_owned(), method == "tools/call");
        }
    }

    /// Notes what the daemon answers.
    pub(super) fn answered(&self, line: &[u8]) {
        if let Ok(Message { id: Some(id), method: None }) = serde_json::from_slice(line) {
            self.waiting().remove(id.get());
        }
    }

    /// The last answers, when the daemon will give none: what was asked may or may not have been done.
    pub(super) fn last_answers(&self) -> Vec<Value> {
        let told = "OUTCOME_UNKNOWN: The daemon ended during the call; it may or may not have been done.\n\
                    next: Look at the page with `snapshot` before doing it again.";
        let waiting = std::mem::take(&mut *self.waiting());
        let answers = waiting.into_iter().map(|(id, is_call)| {
            let id: Value = serde_json::from_str(&id).unwrap_or(Value::Null);
            if is_call {
                let result = json!({"content": [{"type": "text", "text": told}], "isError": true});
                json!({"jsonrpc": "2.0", "id": id, "result": result})
            } else {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "The daemon ended."}})
            }
        });
        answers.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_answered_gets_one_last_answer() {
        let (pending, mut lines) = (PendingCalls::default(), Lines::default());
        let said = "{\"id\":1,\"method\":\"tools/call\"}\n{\"method\":\"notifications/x\"}\n{\"method\":\"ping\",\"id\":\"a\"}\n";
        for piece in said.as_bytes().chunks(7) {
            lines.take(piece, |line| pending.asked(line));
        }
        pending.asked(br#"{"id":2,"method":"tools/list"}"#);
        pending.answered(br#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        pending.answered(br#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}"#);
        let last = pending.last_answers();
        assert_eq!(last.len(), 2, "{last:?}");
        assert_eq!(last[0]["error"]["code"], -32603);
        assert_eq!((&last[1]["id"], &last[1]["result"]["isError"]), (&json!(1), &json!(true)));
        assert!(pending.last_answers().is_empty(), "one answer each");
        let long = vec![b'x'; MCP_SEEN_BYTES + 1];
        lines.take(&long, |_| panic!("too long"));
        lines.take(b"\n{}\n", |line| assert_eq!(line, b"{}\n"));
    }
}
