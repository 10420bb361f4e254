//! Turns signals into bytes on sockets, so that `poll` can wait for them.

use std::io::{ErrorKind, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use crate::error::BrowserError;

/// The signals that a keeper handles until it exits.
#[derive(Debug)]
pub(super) struct Signals {
    stop: UnixStream,
    child: UnixStream,
}

impl Signals {
    /// Takes over SIGTERM, SIGINT, SIGHUP and SIGCHLD.
    pub(super) fn register() -> Result<Self, BrowserError> {
        let register = |signals: &[i32]| -> std::io::Result<UnixStream> {
            // A handler may call only what signal-safety(7) lists. It writes a byte here, which wakes
            // `poll`.
            let (ours, theirs) = UnixStream::pair()?;
            ours.set_nonblocking(true)?;
            for signal in signals {
                signal_hook::low_level::pipe::register(*signal, theirs.try_clone()?)?;
            }
            Ok(ours)
        };
        let wrong = |error| BrowserError::system("listen to", Path::new("signals"), error);
        let stop = register(&[SIGTERM, SIGINT, SIGHUP]).map_err(wrong)?;
        let child = register(&[SIGCHLD]).map_err(wrong)?;
        Ok(Self { stop, child })
    }

    /// Readable after SIGTERM, SIGINT or SIGHUP.
    pub(super) fn stop(&self) -> BorrowedFd<'_> {
        self.stop.as_fd()
    }

    /// Readable when a child has ended.
    pub(super) fn child(&self) -> BorrowedFd<'_> {
        self.child.as_fd()
    }

    /// The number of stop signals since the last call.
    pub(super) fn take_stops(&self) -> usize {
        drain(&self.stop)
    }

    /// Clears the readiness of `child`.
    pub(super) fn clear_child(&self) {
        drain(&self.child);
    }
}

fn drain(mut stream: &UnixStream) -> usize {
    let mut count = 0;
    let mut buffer = [0; 64];
    loop {
        match stream.read(&mut buffer) {
            Ok(read) if read > 0 => count += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => return count,
        }
    }
}
