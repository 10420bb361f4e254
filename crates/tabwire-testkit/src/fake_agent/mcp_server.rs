//! The MCP server that the client gave the agent, started at its first call.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A stdio MCP server.
#[derive(Debug)]
pub(super) struct McpServer {
    pub(super) name: String,
    command: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl McpServer {
    pub(super) fn new(server: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        Self {
            name: text(&server["name"]),
            command: text(&server["command"]),
            arguments: list(&server["args"]).iter().map(text).collect(),
            environment: list(&server["env"])
                .iter()
                .map(|one| (text(&one["name"]), text(&one["value"])))
                .collect(),
            running: None,
        }
    }

    /// Calls a tool; returns the text of the result, or of the error.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> String {
        if self.running.is_none() {
            self.running = self.start();
        }
        let Some(running) = &mut self.running else { return "the MCP server does not start".to_owned() };
        let response = running.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let content = response["result"]["content"].as_array().cloned().unwrap_or_default();
        let texts: Vec<&str> = content.iter().filter_map(|part| part["text"].as_str()).collect();
        if texts.is_empty() { response.to_string() } else { texts.join("\n") }
    }

    fn start(&self) -> Option<Running> {
        let mut command = Command::new(&self.command);
        command.args(&self.arguments).envs(self.environment.iter().cloned());
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let (input, output) = (process.stdin.take()?, BufReader::new(process.stdout.take()?));
        let mut running = Running { process, input, output, next: 0 };
        let client = json!({"name": "fake-agent", "version": "9.8.7"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": client});
        running.request("initialize", &params);
        running.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        Some(running)
    }
}

impl Running {
    fn send(&mut self, message: &Value) {
        let _ = writeln!(self.input, "{message}").and_then(|()| self.input.flush());
    }

    /// Sends a request and waits for its response. Requests of the server are declined.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap_or_default() == 0 {
                return json!({"error": "the MCP server has ended"});
            }
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if message.get("method").is_some() {
                if message.get("id").is_some() {
                    self.send(
                        &json!({"jsonrpc": "2.0", "id": message["id"], "result": {"action": "decline"}}),
                    );
                }
            } else if message["id"] == id {
                return message;
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
