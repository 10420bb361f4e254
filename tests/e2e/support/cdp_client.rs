//! A bare CDP client: one blocking websocket with a deadline on every wait. Shares no code with the product.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a response or event is waited for.
const TIMEOUT: Duration = Duration::from_secs(40);

/// Sixteen zero bytes in base64. The key's randomness protects proxies, and there is none here.
const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAA==";

/// A client of a CDP endpoint.
pub(crate) struct CdpClient {
    stream: TcpStream,
    buffer: Vec<u8>,
    events: VecDeque<Value>,
    last: u64,
}

/// A page that the client created and attached to.
pub(crate) struct CdpPage {
    pub(crate) session: String,
}

impl CdpClient {
    /// Connects to a `ws://host:port/path` URL.
    pub(crate) fn connect(address: &str) -> Self {
        Self::connect_as(address, None)
    }

    /// Connects; an endpoint that refuses returns its response.
    pub(crate) fn try_connect(address: &str) -> Result<Self, String> {
        Self::request(address, None)
    }

    /// The same as a page of this origin.
    pub(crate) fn try_connect_as(address: &str, origin: Option<&str>) -> Result<Self, String> {
        Self::request(address, origin)
    }

    /// Connects as a page or extension of this origin does.
    pub(crate) fn connect_as(address: &str, origin: Option<&str>) -> Self {
        Self::request(address, origin).unwrap_or_else(|head| panic!("no websocket: {head}"))
    }

    fn request(address: &str, origin: Option<&str>) -> Result<Self, String> {
        let origin = origin.map(|origin| format!("Origin: {origin}\r\n")).unwrap_or_default();
        let rest = address.strip_prefix("ws://").expect("a websocket address");
        let (authority, path) = rest.split_once('/').expect("a path");
        let mut stream = TcpStream::connect(authority).expect("the endpoint listens");
        stream.set_nodelay(true).expect("an option");
        let request = format!(
            "GET /{path} HTTP/1.1\r\nHost: {authority}\r\n{origin}Upgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("the endpoint reads");
        let mut client = Self { stream, buffer: Vec::new(), events: VecDeque::new(), last: 0 };
        let head = client.read_head();
        if head.starts_with("HTTP/1.1 101") { Ok(client) } else { Err(head) }
    }

    fn read_head(&mut self) -> String {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(end) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                let head: Vec<u8> = self.buffer.drain(..end + 4).collect();
                return String::from_utf8_lossy(&head).into_owned();
            }
            assert!(self.fill(deadline).expect("the endpoint responds"), "the endpoint closed or is silent");
        }
    }

    /// Reads more bytes; false at the end or the deadline.
    fn fill(&mut self, deadline: Instant) -> io::Result<bool> {
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        self.stream.set_read_timeout(Some(left))?;
        let mut chunk = vec![0; 256 * 1024];
        match self.stream.read(&mut chunk) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                self.buffer.extend_from_slice(&chunk[..length]);
                Ok(true)
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// The next message; `None` at the deadline, an error when the endpoint has closed.
    pub(crate) fn read_message(&mut self, deadline: Instant) -> io::Result<Option<Value>> {
        let message = self.read_bytes(deadline)?;
        Ok(message.map(|message| serde_json::from_slice(&message).expect("messages are JSON")))
    }

    /// The same for messages that need not be JSON.
    pub(crate) fn read_bytes(&mut self, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
        let mut message = Vec::new();
        loop {
            let Some((first, payload)) = take_frame(&mut self.buffer) else {
                if !self.fill(deadline)? {
                    return Ok(None);
                }
                continue;
            };
            match first & 0x0f {
                0x8 => return Err(io::ErrorKind::ConnectionReset.into()),
                0x9 => self.send_frame(0xA, &payload)?,
                0xA => {}
                _ => {
                    message.extend_from_slice(&payload);
                    if first & 0x80 != 0 {
                        return Ok(Some(message));
                    }
                }
            }
        }
    }

    fn send_frame(&mut self, opcode: u8, payload: &[u8]) -> io::Result<()> {
        let mut frame = vec![0x80 | opcode];
        match u16::try_from(payload.len()) {
            Ok(length @ 0..126) => frame.push(0x80 | length.to_be_bytes()[1]),
            Ok(length) => {
                frame.push(0x80 | 126);
                frame.extend_from_slice(&length.to_be_bytes());
            }
            Err(_) => {
                frame.push(0x80 | 127);
                frame.extend_from_slice(&(payload.len() as u64).to_be_bytes());
            }
        }
        // A mask of zeros leaves the payload unchanged.
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(payload);
        self.stream.write_all(&frame)
    }

    /// Sends a message that is not a command.
    pub(crate) fn say_bytes(&mut self, message: &[u8]) {
        self.send_frame(0x2, message).expect("the endpoint reads");
    }

    /// Sends a message that is not a command.
    pub(crate) fn say(&mut self, message: &Value) {
        self.send_frame(0x1, message.to_string().as_bytes()).expect("the endpoint reads");
    }

    /// Sends a command without waiting; returns its id.
    pub(crate) fn send(&mut self, method: &str, params: Value, session: Option<&str>) -> u64 {
        self.last += 1;
        let mut command = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = session {
            command["sessionId"] = json!(session);
        }
        self.send_frame(0x1, command.to_string().as_bytes()).expect("the endpoint reads");
        self.last
    }

    /// Waits for the response to a command; events that come first are kept.
    pub(crate) fn response(&mut self, id: u64) -> Value {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let message = self.read_message(deadline).expect("the endpoint is there");
            let message = message.unwrap_or_else(|| panic!("no response to command {id}"));
            if message["id"] == id {
                return message;
            }
            self.events.push_back(message);
        }
    }

    /// Sends a command and returns the whole response.
    pub(crate) fn ask(&mut self, method: &str, params: Value, session: Option<&str>) -> Value {
        let id = self.send(method, params, session);
        self.response(id)
    }

    /// Sends a command and returns its result; an error fails the test.
    pub(crate) fn call(&mut self, method: &str, params: Value, session: Option<&str>) -> Value {
        let mut response = self.ask(method, params, session);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].take()
    }

    /// Waits for an event that matches the filter.
    pub(crate) fn event(&mut self, method: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let fits = |event: &Value| event["method"] == method && wanted(event);
        if let Some(position) = self.events.iter().position(fits) {
            return self.events.remove(position).expect("found just now");
        }
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let message = self.read_message(deadline).expect("the endpoint is there");
            let message = message.unwrap_or_else(|| panic!("no {method}; seen: {:?}", self.events));
            if fits(&message) {
                return message;
            }
            self.events.push_back(message);
        }
    }

    /// Events that arrived and were not read yet.
    pub(crate) fn unread_events(&self) -> impl Iterator<Item = &Value> {
        self.events.iter()
    }

    /// Creates a page and attaches to it.
    pub(crate) fn open_page(&mut self, url: &str) -> CdpPage {
        let target = text(&self.call("Target.createTarget", json!({"url": url}), None)["targetId"]);
        let session = self.attach(&target);
        CdpPage { session }
    }

    pub(crate) fn attach(&mut self, target: &str) -> String {
        let params = json!({"targetId": target, "flatten": true});
        text(&self.call("Target.attachToTarget", params, None)["sessionId"])
    }

    /// Evaluates in a page and returns the value.
    pub(crate) fn evaluate(&mut self, expression: &str, session: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true});
        self.call("Runtime.evaluate", params, Some(session))["result"]["value"].take()
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Takes one complete frame from the front of the buffer: its first byte and its payload.
fn take_frame(buffer: &mut Vec<u8>) -> Option<(u8, Vec<u8>)> {
    let first = *buffer.first()?;
    let (length, start) = match buffer.get(1)? & 0x7f {
        126 => (u64::from(u16::from_be_bytes(buffer.get(2..4)?.try_into().ok()?)), 4),
        127 => (u64::from_be_bytes(buffer.get(2..10)?.try_into().ok()?), 10),
        short => (u64::from(short), 2),
    };
    let end = start + usize::try_from(length).ok()?;
    if buffer.len() < end {
        return None;
    }
    let payload = buffer[start..end].to_vec();
    buffer.drain(..end);
    Some((first, payload))
}
