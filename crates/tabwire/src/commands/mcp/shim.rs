//! Copies lines between an MCP client's stdio and the daemon, both ways at once. Changes none of them.
//!
//! It stays for as long as a client does, so it is small: two threads, two buffers, no runtime.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use tabwire_wire::{ErrorCode, Failure};

use super::client_end::{ClientEnd, Next};
use super::lines::Lines;
use super::pending_calls::PendingCalls;
use crate::limits::{MCP_COPY_BYTES, MCP_LAST_WORDS};

/// Who ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The client, or the process that started us.
    Client,
    /// The daemon: the client is still there.
    Daemon,
}

/// Serves the client at our stdin and stdout until it, the process that started us, or the daemon is gone.
///
/// `lines` has what the client was in the middle of saying.
pub(super) fn run(
    socket: &UnixStream,
    client: &ClientEnd,
    pending: &Arc<PendingCalls>,
    lines: &mut Lines,
) -> Result<End, Failure> {
    // From here on nobody knows when the next word comes.
    socket.set_read_timeout(None).map_err(unserved)?;
    let answers = socket.try_clone().map_err(unserved)?;
    let seen = Arc::clone(pending);
    let copying = std::thread::Builder::new()
        .stack_size(64 * 1024)
        .spawn(move || copy_answers(&answers, &seen))
        .map_err(unserved)?;
    let end = copy_requests(socket, client, pending, lines).map_err(unserved)?;
    // The client has stopped speaking: what it asked last is still answered, within bounds.
    let _ = socket.set_read_timeout(Some(MCP_LAST_WORDS));
    let _ = socket.shutdown(Shutdown::Write);
    // A panic of the other thread ends the connection just the same.
    let reading = copying.join().unwrap_or(End::Client);
    Ok(if end == End::Daemon { reading } else { End::Client })
}

/// Why a connection cannot be served at all.
pub(super) fn unserved(error: io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The MCP connection cannot be served: {error}."))
}

/// Answers what the daemon no longer will, since it ended before its client.
pub(super) fn tell_last(pending: &PendingCalls, told: &Failure) {
    let mut stdout = io::stdout().lock();
    for answer in pending.last_answers(told) {
        // A client that has gone too misses nothing.
        let _ = writeln!(stdout, "{answer}");
    }
    let _ = stdout.flush();
}

/// Copies what the daemon says to stdout, and nothing else; who ended it.
fn copy_answers(socket: &UnixStream, pending: &PendingCalls) -> End {
    let mut lines = Lines::default();
    let (mut socket, mut stdout) = (socket, io::stdout().lock());
    let mut buffer = [0_u8; MCP_COPY_BYTES];
    let mut has_reader = true;
    while let Ok(count @ 1..) = socket.read(&mut buffer) {
        lines.take(&buffer[..count], |piece| {
            // Whole lines where that can be: a daemon that dies leaves no half of one.
            has_reader = has_reader && stdout.write_all(piece.bytes()).is_ok();
            pending.answered(piece);
        });
        has_reader = has_reader && stdout.flush().is_ok();
        if !has_reader {
            break;
        }
    }
    if lines.is_within_long_line() {
        // The client is to see where the broken line ends.
        let _ = stdout.write_all(b"\n").and_then(|()| stdout.flush());
    }
    // Whether the client reads no more or the daemon has gone: there is nobody to ask for.
    let _ = socket.shutdown(Shutdown::Both);
    if has_reader { End::Daemon } else { End::Client }
}

/// Copies what the client says until it says no more, or nobody listens.
fn copy_requests(
    socket: &UnixStream,
    client: &ClientEnd,
    pending: &PendingCalls,
    lines: &mut Lines,
) -> io::Result<End> {
    let mut buffer = [0_u8; MCP_COPY_BYTES];
    loop {
        let count = match client.next(Some(socket.as_fd()), &mut buffer)? {
            Next::ClientGone => return Ok(End::Client),
            Next::DaemonGone => return Ok(End::Daemon),
            Next::Said(count) => count,
        };
        let (mut socket, mut is_heard) = (socket, true);
        lines.take(&buffer[..count], |piece| {
            // Noted whether it is heard or not: all that was read from the client is answered.
            pending.asked(piece);
            is_heard = is_heard && socket.write_all(piece.bytes()).is_ok();
        });
        if !is_heard {
            return Ok(End::Daemon);
        }
    }
}

/// Reads what the client says for nobody to hear, up to the end of a line; whether it is still there.
pub(super) fn read_line(
    client: &ClientEnd,
    pending: &PendingCalls,
    lines: &mut Lines,
) -> Result<bool, Failure> {
    let mut buffer = [0_u8; MCP_COPY_BYTES];
    loop {
        let Next::Said(count) = client.next(None, &mut buffer).map_err(unserved)? else { return Ok(false) };
        lines.take(&buffer[..count], |piece| pending.asked(piece));
        if lines.is_between() {
            return Ok(true);
        }
    }
}
