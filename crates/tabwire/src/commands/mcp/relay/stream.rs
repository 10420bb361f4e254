//! The stream between `tabwire mcp` and the daemon: opened by an HTTP upgrade, started with one line each way.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tabwire_api::api::{ErrorResponse, MCP_UPGRADE, SOCKET_HOST, VERSION_HEADER};
use tabwire_api::{ErrorCode, Failure, HttpHead, Remedy, Step, VERSION};

use crate::commands::mcp::HANDSHAKE_TIMEOUT;

/// Longest first line of the daemon.
const GREETING_BYTES: usize = 64 * 1024;
use tabwire_client::with_daemon;
use tabwire_client::{RequestError, connect};

/// A stream on which the daemon serves MCP, and the daemon's first line. Reading from it still has a
/// deadline.
#[derive(Debug)]
pub(crate) struct McpStream {
    pub(crate) socket: UnixStream,
    pub(crate) greeting: Value,
}

/// Opens a stream. Starts the daemon if none runs, and replaces an older one.
pub(crate) fn open(socket: &Path, opening: &str) -> Result<McpStream, Failure> {
    with_daemon(socket, || open_at(socket, opening))
}

/// Opens a stream to a running daemon.
pub(crate) fn open_at(path: &Path, opening: &str) -> Result<McpStream, RequestError> {
    let mut socket = connect(path)?;
    let broken = |error: io::Error| RequestError::Failed(no_connection(&error));
    socket.set_read_timeout(Some(HANDSHAKE_TIMEOUT)).map_err(broken)?;
    let request = format!(
        "GET /v1/mcp HTTP/1.1\r\nHost: {SOCKET_HOST}\r\n{VERSION_HEADER}: {VERSION}\r\nConnection: Upgrade\r\n\
         Upgrade: {MCP_UPGRADE}\r\n\r\n{opening}\n"
    );
    socket.write_all(request.as_bytes()).map_err(broken)?;
    let head = read_until(&socket, b"\r\n\r\n").map_err(broken)?;
    if HttpHead::parse(head.as_bytes()).and_then(|head| head.status()) != Some(101) {
        return Err(refused(&mut socket));
    }
    let line = read_line(&socket).map_err(broken)?;
    let greeting: Value =
        serde_json::from_str(&line).map_err(|_| broken(io::ErrorKind::InvalidData.into()))?;
    if let Some(failure) = greeting.get("failed") {
        let failure = serde_json::from_value(failure.clone());
        return Err(RequestError::Failed(failure.unwrap_or_else(|error| unwritable(&error))));
    }
    Ok(McpStream { socket, greeting })
}

/// Reads one line and no byte after it.
pub(crate) fn read_line(socket: &UnixStream) -> io::Result<String> {
    read_until(socket, b"\n")
}

/// Reads up to a delimiter and no byte after it: the next bytes are for the client.
fn read_until(mut socket: &UnixStream, delimiter: &[u8]) -> io::Result<String> {
    let mut read = Vec::new();
    let mut byte = [0_u8];
    while !read.ends_with(delimiter) {
        if read.len() > GREETING_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        socket.read_exact(&mut byte)?;
        read.extend(byte);
    }
    String::from_utf8(read).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// The failure that the daemon responded with instead of an upgrade.
fn refused(socket: &mut UnixStream) -> RequestError {
    // The daemon keeps the connection open, so the end of its short response is a timeout.
    let _ = socket.set_read_timeout(Some(Duration::from_millis(200)));
    let mut body = Vec::new();
    let _ = socket.take(GREETING_BYTES.try_into().unwrap_or(u64::MAX)).read_to_end(&mut body);
    match serde_json::from_slice::<ErrorResponse>(&body) {
        Ok(ErrorResponse { error }) => RequestError::from_failure(error),
        Err(_) => RequestError::Failed(no_connection(&io::ErrorKind::InvalidData.into())),
    }
}

/// The failure of a broken or invalid connection to the daemon.
pub(crate) fn no_connection(error: &io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The daemon did not open an MCP connection: {error}."))
        .with_remedy(Remedy::new("Run {} to see why.", [Step::command("tabwire daemon logs")]))
}

fn unwritable(error: &serde_json::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The daemon's first line is invalid: {error}."))
}
