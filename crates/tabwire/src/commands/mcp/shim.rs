//! Copies bytes between an MCP client's stdio and the daemon, both ways at once. Changes none of them.
//!
//! It stays for as long as a client does, so it is small: two threads, two buffers, no runtime.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use tabwire_wire::{ErrorCode, Failure};

use super::pending_calls::{Lines, PendingCalls};
use super::stream::McpStream;
use crate::limits::{MCP_COPY_BYTES, MCP_LAST_WORDS};

/// Serves the client at our stdin and stdout until it, the process that started us, or the daemon is gone.
pub(super) fn run(stream: McpStream) -> Result<(), Failure> {
    let socket = stream.socket;
    let failed = |error: io::Error| {
        Failure::new(ErrorCode::Internal, format!("The MCP connection cannot be served: {error}."))
    };
    let answers = socket.try_clone().map_err(failed)?;
    let pending = Arc::new(PendingCalls::default());
    let seen = Arc::clone(&pending);
    let copying = std::thread::Builder::new()
        .stack_size(64 * 1024)
        .spawn(move || copy_answers(&answers, &seen))
        .map_err(failed)?;
    let has_client = copy_requests(&socket, &pending).map_err(failed)?;
    // The client has stopped speaking: what it asked last is still answered, within bounds.
    let _ = socket.set_read_timeout(Some(MCP_LAST_WORDS));
    let _ = socket.shutdown(Shutdown::Write);
    // A panic of the other thread ends the connection just the same.
    let _ = copying.join();
    if has_client { Ok(()) } else { tell_last(&pending) }
}

/// Answers what the daemon no longer will, since it ended before its client.
fn tell_last(pending: &PendingCalls) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    for answer in pending.last_answers() {
        // A client that has gone too misses nothing.
        let _ = writeln!(stdout, "{answer}");
    }
    let _ = stdout.flush();
    Err(Failure::new(ErrorCode::BrowserGone, "The daemon ended, and the MCP connection with it.")
        .with_hint("Have the client connect again; `tabwire daemon logs` may say why."))
}

/// Copies what the daemon says to stdout, and nothing else.
fn copy_answers(socket: &UnixStream, pending: &PendingCalls) {
    let mut lines = Lines::default();
    let (mut socket, mut stdout) = (socket, io::stdout().lock());
    let mut buffer = [0_u8; MCP_COPY_BYTES];
    while let Ok(count @ 1..) = socket.read(&mut buffer) {
        if stdout.write_all(&buffer[..count]).and_then(|()| stdout.flush()).is_err() {
            break;
        }
        lines.take(&buffer[..count], |line| pending.answered(line));
    }
    // Whether the client reads no more or the daemon has gone: there is nobody to ask for.
    let _ = socket.shutdown(Shutdown::Both);
}

/// Copies what the client says until it says no more; whether it was the client that ended it.
fn copy_requests(socket: &UnixStream, pending: &PendingCalls) -> io::Result<bool> {
    let mut lines = Lines::default();
    let stdin = io::stdin();
    let parent = watch_parent();
    let mut buffer = [0_u8; MCP_COPY_BYTES];
    loop {
        match wait(stdin.as_fd(), socket.as_fd(), parent.as_ref())? {
            Next::ParentGone => return Ok(true),
            Next::DaemonGone => return Ok(false),
            Next::Said => {
                let count = rustix::io::read(&stdin, &mut buffer)?;
                if count == 0 {
                    return Ok(true);
                }
                lines.take(&buffer[..count], |line| pending.asked(line));
                if (&*socket).write_all(&buffer[..count]).is_err() {
                    return Ok(false);
                }
            }
        }
    }
}

/// What happens next.
enum Next {
    /// The client said something, or closed its end.
    Said,
    /// The daemon has gone, or the client reads no more.
    DaemonGone,
    /// The process that started us has gone.
    ParentGone,
}

/// Waits for the client, the daemon, or the end of the process that started us (F26).
fn wait(stdin: BorrowedFd<'_>, socket: BorrowedFd<'_>, parent: Option<&OwnedFd>) -> io::Result<Next> {
    let mut watched = vec![
        PollFd::from_borrowed_fd(stdin, PollFlags::IN),
        PollFd::from_borrowed_fd(socket, PollFlags::empty()),
    ];
    watched.extend(parent.map(|parent| PollFd::new(parent, PollFlags::IN)));
    loop {
        match poll(&mut watched, None) {
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let happened = |index: usize| watched.get(index).is_some_and(|other| !other.revents().is_empty());
    Ok(match (happened(1), happened(0), happened(2)) {
        (true, ..) => Next::DaemonGone,
        // What was said before the end is still passed on.
        (false, true, _) | (false, false, false) => Next::Said,
        (false, false, true) => Next::ParentGone,
    })
}

/// A descriptor that tells when the process that started us ends; a wrapper may keep our stdin open beyond that.
#[cfg(target_os = "linux")]
fn watch_parent() -> Option<OwnedFd> {
    let parent = rustix::process::getppid()?;
    rustix::process::pidfd_open(parent, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn watch_parent() -> Option<OwnedFd> {
    None
}
