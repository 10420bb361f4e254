//! The stream between `tabwire mcp` and the daemon: opened by an HTTP upgrade, started with one line each way.

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::Value;
use tabwire_api::api::MCP_UPGRADE;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_client::{RequestError, Upgrade, with_daemon};

use crate::commands::mcp::HANDSHAKE_TIMEOUT;

/// Longest first line of the daemon.
const GREETING_BYTES: usize = 64 * 1024;

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
    let first = format!("{opening}\n");
    let upgrade =
        Upgrade { route: "/v1/mcp", protocol: MCP_UPGRADE, opening: &first, timeout: HANDSHAKE_TIMEOUT };
    let socket = upgrade.open(path, no_connection)?;
    let broken = |error: io::Error| RequestError::Failed(no_connection(&error));
    let line = read_line(&socket).map_err(broken)?;
    let greeting: Value =
        serde_json::from_str(&line).map_err(|_| broken(io::ErrorKind::InvalidData.into()))?;
    if let Some(failure) = greeting.get("failed") {
        let failure = serde_json::from_value(failure.clone());
        return Err(RequestError::Failed(failure.unwrap_or_else(|error| unwritable(&error))));
    }
    Ok(McpStream { socket, greeting })
}

/// Reads one line and no byte after it: the next bytes are for the client.
pub(crate) fn read_line(mut socket: &UnixStream) -> io::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0_u8];
    while !line.ends_with(b"\n") {
        if line.len() > GREETING_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        socket.read_exact(&mut byte)?;
        line.extend(byte);
    }
    String::from_utf8(line).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// The failure of a broken or invalid connection to the daemon.
pub(crate) fn no_connection(error: &io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The daemon did not open an MCP connection: {error}."))
        .with_remedy(Remedy::new("Run {} to see why.", [Step::command("tabwire daemon logs")]))
}

fn unwritable(error: &serde_json::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The daemon's first line is invalid: {error}."))
}
