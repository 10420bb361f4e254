//! The websockets of a dashboard, without its page.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::cdp_client::CdpClient;
use crate::support::dashboard_page::dashboard_url;
use crate::support::world::World;

/// How long a message may take.
const WAIT: Duration = Duration::from_secs(30);

/// A dashboard that has a key.
pub(crate) struct DashboardKey {
    authority: String,
    key: String,
}

impl DashboardKey {
    /// Trades a ticket for a key, as the page does.
    pub(crate) fn new(world: &World) -> Self {
        Self::enter(&dashboard_url(world))
    }

    /// Trades the ticket of this URL.
    pub(crate) fn enter(url: &str) -> Self {
        let (place, ticket) = url.split_once("/dashboard#ticket=").expect("a ticket");
        let authority = place.strip_prefix("http://").expect("a URL").to_owned();
        let body = json!({"ticket": ticket}).to_string();
        let request = format!(
            "POST /dashboard/enter HTTP/1.1\r\nHost: {authority}\r\nOrigin: http://{authority}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(&authority).expect("the daemon listens");
        stream.set_read_timeout(Some(WAIT)).expect("a time limit");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        let (_, body) = response.split_once("\r\n\r\n").expect("a body");
        let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {response}"));
        let key = body["key"].as_str().expect("a key").to_owned();
        Self { authority, key }
    }

    /// The key itself, as another program could have read it.
    pub(crate) fn text(&self) -> &str {
        &self.key
    }

    fn connect(&self, path: &str, mut opening: Value) -> DashboardSocket {
        let address = format!("ws://{}/dashboard/{path}", self.authority);
        let mut client = CdpClient::connect_as(&address, Some(&format!("http://{}", self.authority)));
        opening["key"] = json!(self.key);
        client.say(&opening);
        DashboardSocket { client, last: 0 }
    }

    /// The line, with what came after a row.
    pub(crate) fn line(&self, after: Option<i64>) -> DashboardSocket {
        self.connect("line", json!({"after": after}))
    }

    /// The stage of a session.
    pub(crate) fn stage(&self, session: &str) -> DashboardSocket {
        self.connect("live", json!({"session": session}))
    }

    /// The wall.
    pub(crate) fn wall(&self) -> DashboardSocket {
        self.connect("live", json!({}))
    }
}

/// One websocket of a dashboard.
pub(crate) struct DashboardSocket {
    client: CdpClient,
    last: u64,
}

impl DashboardSocket {
    pub(crate) fn say(&mut self, message: &Value) {
        self.client.say(message);
    }

    /// Sends a binary message.
    pub(crate) fn say_bytes(&mut self, message: &[u8]) {
        self.client.say_bytes(message);
    }

    /// The next message that fits. Images are skipped.
    pub(crate) fn find<T>(&mut self, what: &str, mut fits: impl FnMut(&Value) -> Option<T>) -> T {
        let deadline = Instant::now() + WAIT;
        let mut last = Value::Null;
        loop {
            let message = self.client.read_bytes(deadline).expect("connected");
            let message = message.unwrap_or_else(|| panic!("{what} does not come; the last was {last}"));
            if message.first() != Some(&b'{') {
                continue;
            }
            last = serde_json::from_slice(&message).expect("JSON");
            if let Some(found) = fits(&last) {
                return found;
            }
        }
    }

    /// The next image, without its head.
    pub(crate) fn image(&mut self) -> Vec<u8> {
        let deadline = Instant::now() + WAIT;
        loop {
            let message = self.client.read_bytes(deadline).expect("connected").expect("an image");
            if message.first() != Some(&b'{') {
                return message[24..].to_vec();
            }
        }
    }

    /// The sizes of the pages in the frames until the deadline, or until one fits. Each frame counts as drawn.
    pub(crate) fn page_sizes(
        &mut self,
        time: Duration,
        fits: impl Fn((u16, u16)) -> bool,
    ) -> Vec<(u16, u16)> {
        let deadline = Instant::now() + time;
        let mut sizes = Vec::new();
        while !sizes.last().copied().is_some_and(&fits) {
            let Some(message) = self.client.read_bytes(deadline).expect("connected") else { break };
            if message.first() == Some(&b'{') {
                continue;
            }
            let number = |at: usize| u16::from_le_bytes([message[at], message[at + 1]]);
            sizes.push((number(16), number(18)));
            let seq = u32::from_le_bytes(message[4..8].try_into().expect("four bytes"));
            self.say(&json!({"type": "drawn", "seq": seq}));
        }
        sizes
    }

    /// Sends a request over the line and returns the response.
    pub(crate) fn request(&mut self, request: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.say(&json!({"id": id, "request": request}));
        self.find("a response", |message| {
            (message["type"] == "response" && message["id"] == id).then(|| message.clone())
        })
    }
}
