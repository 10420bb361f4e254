//! The stream between `tabwire mcp` and the daemon: opened by an HTTP upgrade, started with one line each way.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tabwire_wire::api::{ErrorAnswer, MCP_UPGRADE, SOCKET_HOST, VERSION_HEADER};
use tabwire_wire::{ErrorCode, Failure, VERSION};

use crate::daemon_client::{AskError, connect};
use crate::daemon_start::reach_daemon;
use crate::limits::{MCP_GREETING_BYTES, MCP_GREETING_DEADLINE};

/// A stream that the daemon serves MCP on, and what it said when it was opened. Reading from it still has a deadline.
#[derive(Debug)]
pub(super) struct McpStream {
    pub(super) socket: UnixStream,
    pub(super) greeting: Value,
}

/// Opens a stream, starting the daemon if none runs and replacing an older one.
pub(super) fn open(socket: &Path, opening: &str) -> Result<McpStream, Failure> {
    reach_daemon(socket, || open_at(socket, opening))
}

/// Opens a stream to the daemon that listens there.
pub(super) fn open_at(path: &Path, opening: &str) -> Result<McpStream, AskError> {
    let mut socket = connect(path)?;
    let broken = |error: io::Error| AskError::Failed(no_answer(&error));
    socket.set_read_timeout(Some(MCP_GREETING_DEADLINE)).map_err(broken)?;
    let request = format!(
        "GET /v1/mcp HTTP/1.1\r\nHost: {SOCKET_HOST}\r\n{VERSION_HEADER}: {VERSION}\r\nConnection: Upgrade\r\n\
         Upgrade: {MCP_UPGRADE}\r\n\r\n{opening}\n"
    );
    socket.write_all(request.as_bytes()).map_err(broken)?;
    let head = read_until(&socket, b"\r\n\r\n").map_err(broken)?;
    if head.split(' ').nth(1) != Some("101") {
        return Err(refused(&mut socket));
    }
    let line = read_line(&socket).map_err(broken)?;
    let greeting: Value =
        serde_json::from_str(&line).map_err(|_| broken(io::ErrorKind::InvalidData.into()))?;
    if let Some(failure) = greeting.get("failed") {
        let failure = serde_json::from_value(failure.clone());
        return Err(AskError::Failed(failure.unwrap_or_else(|error| unwritable(&error))));
    }
    Ok(McpStream { socket, greeting })
}

/// Reads one line and not a byte further.
pub(super) fn read_line(socket: &UnixStream) -> io::Result<String> {
    read_until(socket, b"\n")
}

/// Reads up to a mark and not a byte further: what follows belongs to the client.
fn read_until(mut socket: &UnixStream, mark: &[u8]) -> io::Result<String> {
    let mut read = Vec::new();
    let mut byte = [0_u8];
    while !read.ends_with(mark) {
        if read.len() > MCP_GREETING_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        socket.read_exact(&mut byte)?;
        read.extend(byte);
    }
    String::from_utf8(read).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Why the daemon does not serve this.
fn refused(socket: &mut UnixStream) -> AskError {
    // The daemon keeps the connection for further requests; its answer is short and here.
    let _ = socket.set_read_timeout(Some(Duration::from_millis(200)));
    let mut body = Vec::new();
    let _ = socket.take(MCP_GREETING_BYTES.try_into().unwrap_or(u64::MAX)).read_to_end(&mut body);
    match serde_json::from_slice::<ErrorAnswer>(&body) {
        Ok(ErrorAnswer { error }) => AskError::of(error),
        Err(_) => AskError::Failed(no_answer(&io::ErrorKind::InvalidData.into())),
    }
}

/// What is said when the daemon breaks off or says what is not understood.
pub(super) fn no_answer(error: &io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The daemon opened no MCP connection: {error}."))
        .with_hint("Run `tabwire daemon logs` to see why.")
}

fn unwritable(error: &serde_json::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The connection's first line is not understood: {error}."))
}
