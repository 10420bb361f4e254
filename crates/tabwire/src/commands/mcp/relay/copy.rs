//! Copies lines between an MCP client's stdio and the daemon in both directions, unchanged.
//!
//! It runs as long as the client does, so it is small: two threads, two buffers, no async runtime.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use tabwire_api::{ErrorCode, Failure};

use super::client_input::{ClientInput, Next};
use super::lines::Lines;
use super::pending_calls::PendingCalls;

/// Bytes per read; a pipe holds four times that.
const COPY_BYTES: usize = 16 * 1024;

/// How long the last responses may take after the client has closed its input.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(1_900);

/// Which side ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The client, or the process that started us.
    Client,
    /// The daemon: the client is still there.
    Daemon,
}

/// Serves the client at our stdin and stdout until it, the process that started us, or the daemon is gone.
///
/// `lines` contains the client's unfinished line.
pub(crate) fn run(
    socket: &UnixStream,
    client: &ClientInput,
    pending: &Arc<PendingCalls>,
    lines: &mut Lines,
) -> Result<End, Failure> {
    // The next message may take hours.
    socket.set_read_timeout(None).map_err(connection_failure)?;
    let responses = socket.try_clone().map_err(connection_failure)?;
    let seen = Arc::clone(pending);
    let copying = std::thread::Builder::new()
        .stack_size(64 * 1024)
        .spawn(move || copy_responses(&responses, &seen))
        .map_err(connection_failure)?;
    let end = copy_requests(socket, client, pending, lines).map_err(connection_failure)?;
    // The client has closed its input: its last requests still get responses, within a timeout.
    let _ = socket.set_read_timeout(Some(DRAIN_TIMEOUT));
    let _ = socket.shutdown(Shutdown::Write);
    // A panic of the other thread ends the connection just the same.
    let reading = copying.join().unwrap_or(End::Client);
    Ok(if end == End::Daemon { reading } else { End::Client })
}

/// Why a connection cannot be served at all.
pub(crate) fn connection_failure(error: io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The MCP connection cannot be served: {error}."))
}

/// Sends failure responses for all pending requests.
pub(crate) fn fail_pending(pending: &PendingCalls, failure: &Failure) {
    let mut stdout = io::stdout().lock();
    for response in pending.failure_responses(failure) {
        // Fails only when the client is gone too.
        let _ = writeln!(stdout, "{response}");
    }
    let _ = stdout.flush();
}

/// Copies the daemon's messages to stdout. Returns which side ended.
fn copy_responses(socket: &UnixStream, pending: &PendingCalls) -> End {
    let mut lines = Lines::default();
    let (mut socket, mut stdout) = (socket, io::stdout().lock());
    let mut buffer = [0_u8; COPY_BYTES];
    let mut has_reader = true;
    while let Ok(count @ 1..) = socket.read(&mut buffer) {
        lines.take(&buffer[..count], |piece| {
            // Whole lines where possible: a dying daemon leaves no partial line.
            has_reader = has_reader && stdout.write_all(piece.bytes()).is_ok();
            pending.record_daemon(piece);
        });
        has_reader = has_reader && stdout.flush().is_ok();
        if !has_reader {
            break;
        }
    }
    if lines.is_within_long_line() {
        // Terminates the partial line.
        let _ = stdout.write_all(b"\n").and_then(|()| stdout.flush());
    }
    // Either end is gone: wake the other direction.
    let _ = socket.shutdown(Shutdown::Both);
    if has_reader { End::Daemon } else { End::Client }
}

/// Copies the client's messages until the client or the daemon is gone.
fn copy_requests(
    socket: &UnixStream,
    client: &ClientInput,
    pending: &PendingCalls,
    lines: &mut Lines,
) -> io::Result<End> {
    let mut buffer = [0_u8; COPY_BYTES];
    loop {
        let count = match client.next(Some(socket.as_fd()), &mut buffer)? {
            Next::ClientGone => return Ok(End::Client),
            Next::DaemonGone => return Ok(End::Daemon),
            Next::Data(count) => count,
        };
        let (mut socket, mut is_sent) = (socket, true);
        lines.take(&buffer[..count], |piece| {
            // Recorded even if sending fails: every request that was read gets a response.
            pending.record_client(piece);
            is_sent = is_sent && socket.write_all(piece.bytes()).is_ok();
        });
        if !is_sent {
            return Ok(End::Daemon);
        }
    }
}

/// Reads and drops the client's input up to the end of a line. Returns whether the client is still there.
pub(crate) fn read_line(
    client: &ClientInput,
    pending: &PendingCalls,
    lines: &mut Lines,
) -> Result<bool, Failure> {
    let mut buffer = [0_u8; COPY_BYTES];
    loop {
        let Next::Data(count) = client.next(None, &mut buffer).map_err(connection_failure)? else {
            return Ok(false);
        };
        lines.take(&buffer[..count], |piece| pending.record_client(piece));
        if lines.is_between() {
            return Ok(true);
        }
    }
}
