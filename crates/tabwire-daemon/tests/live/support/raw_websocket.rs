//! A websocket in raw bytes, so that tests can send invalid frames.

use std::io::{Read, Write};
use std::net::TcpStream;

/// One end of an open websocket.
pub(crate) struct RawWebsocket {
    stream: TcpStream,
}

/// A received frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) opcode: u8,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    /// The code of a close frame.
    pub(crate) fn close_code(&self) -> Option<u16> {
        let code = self.payload.first_chunk::<2>()?;
        (self.opcode == 8).then_some(u16::from_be_bytes(*code))
    }
}

/// The headers of a websocket handshake.
pub(crate) const UPGRADE: [&str; 4] = [
    "upgrade: websocket",
    "connection: Upgrade",
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];

impl RawWebsocket {
    /// Opens a websocket at a path.
    pub(crate) fn open(stream: TcpStream, port: u16, path: &str) -> Self {
        Self::open_with(stream, port, path, &[])
    }

    /// The same, with more headers.
    pub(crate) fn open_with(mut stream: TcpStream, port: u16, path: &str, headers: &[&str]) -> Self {
        let upgrade = [&UPGRADE[..], headers].concat().join("\r\n");
        let head = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{upgrade}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("the head is taken");
        let mut response = Vec::new();
        while !response.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a response");
            response.push(byte[0]);
        }
        let text = String::from_utf8_lossy(&response);
        assert!(text.starts_with("HTTP/1.1 101 "), "{text}");
        assert!(text.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{text}");
        Self { stream }
    }

    /// Sends the beginning of a frame that says how long it is, and no payload.
    pub(crate) fn announce(&mut self, first: u8, length: u64) {
        let mut head = vec![first, 0x80 | 127];
        head.extend_from_slice(&length.to_be_bytes());
        head.extend_from_slice(&[0; 4]);
        self.stream.write_all(&head).expect("the frame's head is taken");
    }

    /// Sends a whole frame, masked with zeros.
    pub(crate) fn send(&mut self, first: u8, payload: &[u8]) {
        let mut head = vec![first];
        match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
            (Ok(short @ 0..126), _) => head.push(0x80 | short),
            (_, Ok(middle)) => {
                head.push(0x80 | 126);
                head.extend_from_slice(&middle.to_be_bytes());
            }
            _ => panic!("use `announce` for messages above 64 KiB"),
        }
        head.extend_from_slice(&[0; 4]);
        self.stream.write_all(&head).expect("the frame's head is taken");
        self.stream.write_all(payload).expect("the payload is taken");
    }

    /// Sends a text message.
    pub(crate) fn say(&mut self, text: &str) {
        self.send(0x81, text.as_bytes());
    }

    /// The next frame; `None` when the peer has closed.
    pub(crate) fn receive(&mut self) -> Option<Frame> {
        let mut head = [0_u8; 2];
        self.stream.read_exact(&mut head).ok()?;
        let length = match head[1] {
            126 => {
                let mut bytes = [0; 2];
                self.stream.read_exact(&mut bytes).ok()?;
                usize::from(u16::from_be_bytes(bytes))
            }
            127 => {
                let mut bytes = [0; 8];
                self.stream.read_exact(&mut bytes).ok()?;
                usize::try_from(u64::from_be_bytes(bytes)).expect("a length")
            }
            short => usize::from(short),
        };
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).ok()?;
        Some(Frame { opcode: head[0] & 0x0f, payload })
    }

    /// Reads until a close frame or the end; returns the close code.
    pub(crate) fn wait_for_close(&mut self) -> Option<u16> {
        loop {
            let frame = self.receive()?;
            if frame.opcode == 8 {
                return frame.close_code();
            }
        }
    }

    /// Reads until the response with this id, and returns it.
    pub(crate) fn wait_for_response(&mut self, id: u64) -> serde_json::Value {
        loop {
            let frame = self.receive().expect("the peer is there");
            let message: serde_json::Value = serde_json::from_slice(&frame.payload).unwrap_or_default();
            if message["id"] == id {
                return message;
            }
        }
    }
}
