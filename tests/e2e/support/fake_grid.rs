//! A fake Grid as a program of its own, with its counts and faults.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::wait::eventually;
use crate::support::world::testkit_program;

/// A running fake Grid. It ends with the test.
pub(crate) struct FakeGrid {
    process: Child,
    pub(crate) port: u16,
}

impl FakeGrid {
    /// Starts a Grid with these options of the program.
    pub(crate) fn start(options: &[&str]) -> Self {
        let mut process = Command::new(testkit_program("fake-grid"))
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the fake Grid starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("its first line");
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok()).expect("its port");
        Self { process, port }
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Sends a request; returns the JSON of the response.
    pub(crate) fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        request_json(self.port, method, path, &body).expect("it responds with JSON")
    }

    /// Injects a fault for this many requests.
    pub(crate) fn fault(&self, fault: &str, times: usize) {
        self.fault_with(json!({"do": fault, "times": times}));
    }

    /// Injects a fault with its fields.
    pub(crate) fn fault_with(&self, fault: Value) {
        let response = self.request("POST", "/fake/fault", &fault);
        assert_eq!(response, json!({}), "a known fault");
    }

    /// One of its counts: `created`, `deleted`, `alive`, `queued` and so on.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.request("GET", "/fake/counts", &Value::Null)[name].as_u64().expect("a count")
    }

    /// The ids of its sessions.
    pub(crate) fn ids(&self) -> Vec<String> {
        serde_json::from_value(self.request("GET", "/fake/counts", &Value::Null)["ids"].clone()).expect("ids")
    }

    /// Waits until no session is left and no request waits.
    pub(crate) fn empties(&self, seconds: u64) {
        let mut last = Value::Null;
        eventually("every slot is free", seconds, || {
            last = self.request("GET", "/fake/counts", &Value::Null);
            last["alive"] == 0 && last["queued"] == 0
        });
    }
}

impl Drop for FakeGrid {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends a request to a server on this machine; `None` unless it responds with JSON.
pub(crate) fn request_json(port: u16, method: &str, path: &str, body: &str) -> Option<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut received = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&received);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if length.and_then(|length| length.parse().ok()).is_some_and(|length: usize| body.len() >= length)
            {
                return serde_json::from_str(body).ok();
            }
        }
        let mut buffer = [0; 64 * 1024];
        let read = stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
        received.extend_from_slice(&buffer[..read]);
    }
}
