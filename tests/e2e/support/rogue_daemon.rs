//! A program that listens on the daemon's port and speaks its protocol without the key. Shares no code with the product.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::wait::find_eventually;

/// How long to wait for an extension and its messages.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The websocket of one extension.
pub(crate) struct RogueConnection {
    stream: TcpStream,
    /// The head of its request.
    pub(crate) head: String,
    /// Bytes that arrived with the last message.
    waiting: VecDeque<Value>,
    /// Number of reads from the socket; one read may contain several messages.
    pub(crate) deliveries: usize,
}

/// Accepts the next connection and its websocket handshake.
pub(crate) fn accept_extension(listener: &TcpListener) -> RogueConnection {
    listener.set_nonblocking(true).expect("an option");
    let mut stream = find_eventually(45, || listener.accept().ok()).expect("a visitor").0;
    stream.set_nonblocking(false).expect("an option");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a deadline");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("a whole head");
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let key = head
        .lines()
        .find_map(|line| {
            line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-key"))
        })
        .map(|(_, key)| key.trim().to_owned())
        .expect("a key");
    let digest = sha1_smol::Sha1::from(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11")).digest().bytes();
    let response = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n\r\n",
        base64(&digest)
    );
    stream.write_all(response.as_bytes()).expect("the extension reads");
    RogueConnection { stream, head, waiting: VecDeque::new(), deliveries: 0 }
}

impl RogueConnection {
    /// Sends a message.
    pub(crate) fn say(&mut self, message: &Value) {
        let text = message.to_string();
        let length = u16::try_from(text.len()).expect("short").to_be_bytes();
        let mut frame = vec![0x81];
        // A browser accepts a length only in its shortest form.
        match length {
            [0, short @ 0..126] => frame.push(short),
            [high, low] => frame.extend_from_slice(&[126, high, low]),
        }
        frame.extend_from_slice(text.as_bytes());
        self.stream.write_all(&frame).expect("the extension reads");
    }

    /// Every message until the extension closes the connection.
    pub(crate) fn listen_to_the_end(&mut self) -> Vec<Value> {
        let mut said = Vec::new();
        while let Some(message) = self.next() {
            said.push(message);
        }
        said
    }

    /// The next message; `None` when the extension has closed the connection.
    pub(crate) fn next(&mut self) -> Option<Value> {
        if self.waiting.is_empty() {
            let message = self.read()?;
            self.deliveries += 1;
            let lines = message.split(|byte| *byte == b'\n');
            self.waiting.extend(lines.map(|line| serde_json::from_slice::<Value>(line).expect("JSON")));
        }
        self.waiting.pop_front()
    }

    fn read(&mut self) -> Option<Vec<u8>> {
        let deadline = Instant::now() + TIMEOUT;
        let mut message = Vec::new();
        loop {
            assert!(Instant::now() < deadline, "the extension stays silent");
            let mut head = [0; 2];
            self.stream.read_exact(&mut head).ok()?;
            let length = match head[1] & 0x7f {
                126 => {
                    let mut long = [0; 2];
                    self.stream.read_exact(&mut long).ok()?;
                    usize::from(u16::from_be_bytes(long))
                }
                127 => {
                    let mut long = [0; 8];
                    self.stream.read_exact(&mut long).ok()?;
                    usize::try_from(u64::from_be_bytes(long)).expect("a size")
                }
                short => usize::from(short),
            };
            let mut mask = [0; 4];
            self.stream.read_exact(&mut mask).ok()?;
            let mut payload = vec![0; length];
            self.stream.read_exact(&mut payload).ok()?;
            for (at, byte) in payload.iter_mut().enumerate() {
                *byte ^= mask[at % 4];
            }
            match head[0] & 0x0f {
                0x8 => return None,
                // A browser splits long messages into fragments.
                0x0 | 0x1 => message.extend_from_slice(&payload),
                _ => continue,
            }
            if head[0] & 0x80 != 0 {
                return Some(message);
            }
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let part = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let number = part(0) << 16 | part(1) << 8 | part(2);
        for digit in 0..4 {
            let index = usize::try_from(number >> (18 - 6 * digit) & 63).expect("below 64");
            text.push(if digit <= group.len() { char::from(DIGITS[index]) } else { '=' });
        }
    }
    text
}
