//! Lines of JSON on stdin and stdout.

use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

/// The client has closed stdin, or the agent is to end.
#[derive(Debug)]
pub(super) struct Ended;

/// The connection to the client. A thread reads, so that a turn can wait for several events.
#[derive(Debug)]
pub(super) struct Connection {
    messages: Receiver<Value>,
    next: u64,
}

impl Connection {
    pub(super) fn start() -> Self {
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                let Ok(message) = serde_json::from_str(&line) else { continue };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { messages, next: 1_000 }
    }

    pub(super) fn next(&self) -> Result<Value, Ended> {
        self.messages.recv().map_err(|_| Ended)
    }

    /// Sends a request and waits for its response. A cancellation counts as an empty response.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> Result<Value, Ended> {
        self.next += 1;
        let id = self.next;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.next()?;
            if message["id"] == id && message.get("method").is_none() {
                return Ok(message);
            }
        }
    }

    /// Waits for the cancellation. Returns whether the turn goes on, which it does not.
    pub(super) fn wait_for_cancel(&self) -> Result<bool, Ended> {
        while self.next()?["method"] != "session/cancel" {}
        Ok(false)
    }

    pub(super) fn respond(&self, id: &Value, result: &Value) {
        self.write(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    pub(super) fn fail(&self, id: &Value, code: i64, message: &str) {
        self.write(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}));
    }

    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn write(&self, message: &Value) {
        self.write_line(&message.to_string());
    }

    pub(super) fn write_line(&self, line: &str) {
        let mut stdout = std::io::stdout().lock();
        // A client that is gone closes stdin too, which ends the agent.
        let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    }
}
