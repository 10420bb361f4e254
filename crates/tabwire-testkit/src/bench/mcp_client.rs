//! An MCP client over a process's stdin and stdout that measures its calls. Ends the process on drop.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A client of one server process.
#[derive(Debug)]
pub struct McpClient {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl McpClient {
    /// Starts a server and initializes the connection.
    ///
    /// # Panics
    /// When it does not respond.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let (stdin, stdout) = (process.stdin.take().expect("piped"), process.stdout.take().expect("piped"));
        let mut client = Self { process, stdin, stdout: BufReader::new(stdout), next: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        client.request("initialize", &hello);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// The server's process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    fn send(&mut self, message: &Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).expect("it reads");
    }

    /// Sends a request and waits for the response.
    ///
    /// # Panics
    /// When the server ends.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.send(&message);
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).expect("it responds") > 0, "it ended");
            let response: Value = serde_json::from_str(&line).expect("a message");
            if response["id"] == self.next {
                return response;
            }
        }
    }

    /// Calls a tool and returns the duration.
    ///
    /// # Panics
    /// When the tool fails.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Duration {
        self.call_for_text(tool, arguments).0
    }

    /// Calls a tool and returns the duration and the text of the result.
    ///
    /// # Panics
    /// When the tool fails.
    pub fn call_for_text(&mut self, tool: &str, arguments: &Value) -> (Duration, String) {
        let before = Instant::now();
        let response = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let taken = before.elapsed();
        let failed = response["error"].is_object() || response["result"]["isError"] == true;
        assert!(!failed, "{tool} {arguments}: {response}");
        let parts = response["result"]["content"].as_array().cloned().unwrap_or_default();
        let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        (taken, texts.join("\n"))
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
