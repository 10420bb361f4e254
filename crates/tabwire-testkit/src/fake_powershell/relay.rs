//! A websocket client of a browser. Converts between websocket messages and JSON lines.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::task::{AbortHandle, JoinSet};

use super::LineOutput;
use crate::websocket::{FrameKind, PeerMessage, encode, receive};

/// An open websocket. Closed when dropped.
#[derive(Debug)]
pub(crate) struct Relay {
    output: OwnedWriteHalf,
    reader: AbortHandle,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Relay {
    /// Connects, and writes received messages as lines.
    pub(crate) async fn open(
        number: u64,
        url: &str,
        lines: LineOutput,
        tasks: &mut JoinSet<()>,
    ) -> io::Result<Self> {
        let rest = url.strip_prefix("ws://").ok_or(io::ErrorKind::InvalidInput)?;
        let (authority, path) = rest.split_once('/').ok_or(io::ErrorKind::InvalidInput)?;
        let stream = TcpStream::connect(authority).await?;
        stream.set_nodelay(true)?;
        let (input, mut output) = stream.into_split();
        let head = format!(
            "GET /{path} HTTP/1.1\r\nHost: {authority}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        );
        output.write_all(head.as_bytes()).await?;
        let mut input = BufReader::new(input);
        let response = read_head(&mut input).await?;
        if !response.starts_with("HTTP/1.1 101") {
            return Err(io::Error::other(response.lines().next().unwrap_or_default().to_owned()));
        }
        let reader = tasks.spawn(async move {
            let _ = read(number, input, &lines).await;
        });
        Ok(Self { output, reader })
    }

    /// Sends a message. The reader reports a broken connection.
    pub(crate) async fn send(&mut self, frame: &[u8]) {
        let _ = self.output.write_all(&masked(frame)).await;
    }
}

/// A client's frames must have a mask. With a mask of zeros the payload is unchanged.
fn masked(payload: &[u8]) -> Vec<u8> {
    let mut frame = encode(FrameKind::Text, payload);
    let head = frame.len() - payload.len();
    if let Some(second) = frame.get_mut(1) {
        *second |= 0x80;
    }
    frame.splice(head..head, [0; 4]);
    frame
}

async fn read(number: u64, mut input: BufReader<OwnedReadHalf>, output: &LineOutput) -> io::Result<()> {
    let closed = loop {
        match receive(&mut input).await {
            Ok(PeerMessage::Message(message)) => {
                let mut line = format!("{{\"relay\":{number},\"frame\":").into_bytes();
                line.extend_from_slice(&message);
                line.extend_from_slice(b"}\n");
                output.write(&line).await?;
            }
            Ok(PeerMessage::Ping(_)) => {}
            Ok(PeerMessage::Closed) => break "READER_CLOSE",
            Err(_) => break "READER_ERROR",
        }
    };
    let code = if closed == "READER_ERROR" { "ConnectionClosedPrematurely" } else { "NormalClosure" };
    let line = format!("{{\"relay\":{number},\"closed\":{{\"signal\":\"{closed}\",\"code\":\"{code}\"}}}}\n");
    output.write(line.as_bytes()).await
}

async fn read_head(input: &mut (impl AsyncReadExt + Unpin)) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(input.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// The `/json/version` of a browser's port; `None` while it has no listener.
pub(crate) async fn version(port: u16) -> Option<Value> {
    let asking = async {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
        let head =
            format!("GET /json/version HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.ok()?;
        let head = read_head(&mut stream).await.ok()?;
        let length = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
        let mut body = vec![0; length?];
        stream.read_exact(&mut body).await.ok()?;
        serde_json::from_slice(&body).ok()
    };
    tokio::time::timeout(Duration::from_secs(2), asking).await.ok().flatten()
}
