//! A hand-written MCP client over HTTP, so that a test controls every header.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};

use crate::mcp::client::hello;
use crate::support::world::World;

/// A running `tabwire mcp --http`.
pub(crate) struct McpHttp {
    process: Child,
    host: String,
    path: String,
}

/// One client of it.
#[derive(Clone)]
pub(crate) struct HttpClient {
    host: String,
    path: String,
    session: Option<String>,
    next: u64,
}

/// A response.
pub(crate) struct HttpReply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl McpHttp {
    /// Starts the command and reads the URL.
    pub(crate) fn open(world: &World, arguments: &[&str]) -> Self {
        let mut process = world.start(&[&["mcp", "--http"], arguments].concat());
        let stdout = process.stdout.take().expect("piped");
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address).expect("an address");
        let Some(rest) = address.trim().strip_prefix("http://") else {
            panic!("no address, but {address:?}; {:?}", process.wait_with_output());
        };
        let (host, path) = rest.split_once('/').expect("a path");
        Self { process, host: host.to_owned(), path: format!("/{path}") }
    }

    /// The printed URL.
    pub(crate) fn address(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }

    /// A client after its handshake.
    pub(crate) fn greet(&self) -> HttpClient {
        let mut client =
            HttpClient { host: self.host.clone(), path: self.path.clone(), session: None, next: 0 };
        let reply = client.post(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello("2025-11-25")}),
            &[],
        );
        assert_eq!(reply.status, 200, "{} {}", reply.head, reply.body);
        client.session = find_header(&reply.head, "mcp-session-id");
        assert!(client.session.as_ref().is_some_and(|id| id.len() >= 32), "{}", reply.head);
        client.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), &[]);
        client
    }

    /// The status of a request without a credential.
    pub(crate) fn status_of(&self, path: &str) -> u16 {
        let client = HttpClient { host: self.host.clone(), path: path.to_owned(), session: None, next: 0 };
        client.status_with(&[])
    }

    /// Ends the command.
    pub(crate) fn close(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
        self.process.wait().expect("it ends");
    }
}

impl Drop for McpHttp {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl HttpClient {
    /// Sends a request and waits for its response.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        let reply = self.post(&message, &[]);
        let data = reply.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut messages = data.filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok());
        messages
            .find(|message| message["id"] == self.next)
            .unwrap_or_else(|| panic!("no response to {method}: {} {}", reply.head, reply.body))
    }

    /// Calls a tool; returns its whole result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let response = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        response.get("result").cloned().unwrap_or_else(|| panic!("{tool} is a protocol error: {response}"))
    }

    /// Ends the session with DELETE.
    pub(crate) fn end(&self) -> u16 {
        self.send("DELETE", "", &[]).status
    }

    /// The same, with other headers.
    pub(crate) fn end_with(&self, headers: &[&str]) -> u16 {
        self.send("DELETE", "", headers).status
    }

    /// The session id.
    pub(crate) fn id(&self) -> &str {
        self.session.as_deref().unwrap_or_default()
    }

    /// The same client with another session id; an empty one is not sent.
    pub(crate) fn named(&self, id: String) -> Self {
        Self { session: Some(id), ..self.clone() }
    }

    /// The same client at another path.
    pub(crate) fn at(&self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self.clone() }
    }

    /// Any request without a body.
    pub(crate) fn request(&self, method: &str, headers: &[&str]) -> HttpReply {
        self.send(method, "", headers)
    }

    /// Sends a GET request.
    pub(crate) fn get(&self, headers: &[&str]) -> HttpReply {
        self.request("GET", headers)
    }

    /// The status of a ping with other headers.
    pub(crate) fn status_with(&self, headers: &[&str]) -> u16 {
        self.post(&json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"}), headers).status
    }

    fn post(&self, message: &Value, headers: &[&str]) -> HttpReply {
        self.send("POST", &message.to_string(), headers)
    }

    fn send(&self, method: &str, body: &str, headers: &[&str]) -> HttpReply {
        let mut stream = TcpStream::connect(&self.host).expect("the daemon listens");
        stream.set_read_timeout(Some(Duration::from_secs(40))).expect("a time limit");
        let (host, path) = (&self.host, &self.path);
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n",
            body.len()
        );
        if let Some(session) = &self.session {
            request.push_str(&format!("Mcp-Session-Id: {session}\r\n"));
        }
        if !headers.iter().any(|header| header.starts_with("Content-Type")) {
            request.push_str("Content-Type: application/json\r\n");
        }
        for header in headers {
            request.push_str(&format!("{header}\r\n"));
        }
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).expect("it reads");
        let mut reply = Vec::new();
        // A response that closes the connection is complete; a stream that stays open runs into the timeout.
        let _ = stream.read_to_end(&mut reply);
        let reply = String::from_utf8_lossy(&reply).into_owned();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap_or((&reply, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        HttpReply { status, head: head.to_owned(), body: body.to_owned() }
    }
}

fn find_header(head: &str, name: &str) -> Option<String> {
    let mut headers = head.lines().filter_map(|line| line.split_once(':'));
    headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
}
