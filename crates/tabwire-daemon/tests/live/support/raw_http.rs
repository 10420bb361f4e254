//! HTTP in raw bytes, exactly as a test gives them.

use std::io::{ErrorKind, Read, Write};

use serde_json::Value;

/// A complete response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The head without the date, which differs between responses.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    /// Reads what was received until the peer closed.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head in {text:?}"));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
        let lines: Vec<&str> = head.split("\r\n").filter(|line| !line.starts_with("date:")).collect();
        Self { status, head: lines.join("\r\n"), body: body.to_owned() }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// The error code in the body.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// Sends a request and reads until the peer closes.
pub(crate) fn exchange(mut stream: impl Read + Write, head: &str, body: &str) -> Reply {
    stream.write_all(head.as_bytes()).expect("the head is taken");
    // The peer may have responded and closed before it read the whole body.
    let _ = stream.write_all(body.as_bytes());
    Reply::parse(&read_to_close(&mut stream))
}

/// Everything until the peer closes or resets.
pub(crate) fn read_to_close(stream: &mut impl Read) -> Vec<u8> {
    let mut received = Vec::new();
    let mut part = [0_u8; 8192];
    loop {
        match stream.read(&mut part) {
            Ok(0) => return received,
            Ok(length) => received.extend_from_slice(&part[..length]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return received,
            Err(error) => panic!("after {:?}: {error}", String::from_utf8_lossy(&received)),
        }
    }
}

/// Writes up to `total` bytes; returns how many were written before the peer closed.
pub(crate) fn flood(stream: &mut impl Write, total: usize, part: &[u8]) -> usize {
    let mut sent = 0;
    while sent < total {
        match stream.write(part) {
            Ok(length) => sent += length,
            Err(_) => break,
        }
    }
    sent
}
