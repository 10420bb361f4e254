//! A minimal MCP client: JSON lines to a process and back.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::world::World;

/// How long one response may take.
const TIMEOUT: Duration = Duration::from_secs(40);

/// A client of one `tabwire mcp` process.
pub(crate) struct McpClient {
    pub(crate) process: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// Responses that arrived while another was awaited.
    early: HashMap<u64, Value>,
    /// Messages that are not responses.
    pub(crate) notifications: Vec<Value>,
    /// Everything that arrived, unchanged.
    pub(crate) transcript: String,
}

impl McpClient {
    /// Starts a server and sends the handshake.
    pub(crate) fn start(world: &World, arguments: &[&str]) -> Self {
        let mut client = Self::start_silently(world, arguments);
        let greeted = client.ask("initialize", hello("2025-11-25"));
        assert_eq!(greeted["result"]["serverInfo"]["name"], "tabwire", "{greeted}");
        client.notify("notifications/initialized", json!({}));
        client
    }

    /// Starts a server for a client that gives itself this name.
    pub(crate) fn start_as(world: &World, name: &str, arguments: &[&str]) -> Self {
        let mut client = Self::start_silently(world, arguments);
        let mut greeting = hello("2025-11-25");
        greeting["clientInfo"]["name"] = json!(name);
        client.ask("initialize", greeting);
        client.notify("notifications/initialized", json!({}));
        client
    }

    /// Starts a server without a handshake.
    pub(crate) fn start_silently(world: &World, arguments: &[&str]) -> Self {
        let arguments = [&["mcp"], arguments].concat();
        Self::of(world.command(env!("CARGO_BIN_EXE_tabwire"), &arguments))
    }

    /// Starts a server by this command and sends the handshake.
    pub(crate) fn start_by(command: Command) -> Self {
        let mut client = Self::of(command);
        client.ask("initialize", hello("2025-11-25"));
        client.notify("notifications/initialized", json!({}));
        client
    }

    fn of(mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).spawn().expect("the binary starts");
        let stdout = process.stdout.take().expect("piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stdin = process.stdin.take();
        Self {
            process,
            stdin,
            lines,
            next: 0,
            early: HashMap::new(),
            notifications: Vec::new(),
            transcript: String::new(),
        }
    }

    fn write(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("still open");
        stdin.write_all(format!("{message}\n").as_bytes()).and_then(|()| stdin.flush()).expect("it reads");
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request without waiting; returns its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Waits for the response to a request.
    pub(crate) fn response(&mut self, id: u64) -> Value {
        loop {
            if let Some(response) = self.early.remove(&id) {
                return response;
            }
            let message = self.next_message().unwrap_or_else(|error| panic!("no response to {id}: {error}"));
            match message["id"].as_u64() {
                Some(number) if message.get("method").is_none() => {
                    self.early.insert(number, message);
                }
                _ => self.notifications.push(message),
            }
        }
    }

    /// The next request of the server.
    pub(crate) fn next_question(&mut self) -> Value {
        loop {
            let message = self.next_message().expect("a question");
            match (message.get("method"), message.get("id")) {
                (Some(_), Some(_)) => return message,
                (None, Some(id)) => panic!("a response before the server's request: {id} {message}"),
                _ => self.notifications.push(message),
            }
        }
    }

    /// Responds to a request of the server.
    pub(crate) fn reply(&mut self, id: &Value, result: Value) {
        self.write(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// The id of the next response.
    pub(crate) fn next_response_id(&mut self) -> u64 {
        loop {
            let message = self.next_message().expect("a response");
            if let Some(id) = message["id"].as_u64().filter(|_| message.get("method").is_none()) {
                return id;
            }
        }
    }

    /// The next message; every line must be one.
    pub(crate) fn next_message(&mut self) -> Result<Value, RecvTimeoutError> {
        let line = self.lines.recv_timeout(TIMEOUT)?;
        self.transcript.push_str(&line);
        self.transcript.push('\n');
        let message: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("no frame ({error}): {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        Ok(message)
    }

    /// Sends a request and waits for its response.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.response(id)
    }

    /// Calls a tool; returns its whole result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let response = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        response.get("result").cloned().unwrap_or_else(|| panic!("{tool} is a protocol error: {response}"))
    }

    /// Calls a tool that must succeed; returns its text.
    pub(crate) fn text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments.clone());
        assert_ne!(result["isError"], true, "{tool} {arguments}: {result}");
        text_of(&result)
    }

    /// Calls a tool that must fail; returns its text.
    pub(crate) fn failure(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        text_of(&result)
    }

    /// Closes stdin, as an exiting client does.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        self.close();
        // It has exited, or the test has failed already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The parameters of `initialize`.
pub(crate) fn hello(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test-client", "version": "1"}})
}

/// The text of a result, which every client shows to its model.
pub(crate) fn text_of(result: &Value) -> String {
    let blocks = result["content"].as_array().cloned().unwrap_or_default();
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
