//! Turns SIGTERM, SIGINT and SIGHUP into bytes on a socket, which `poll` can wait for.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tabwire_api::{ErrorCode, Failure};

/// Readable once a signal to exit has arrived.
#[derive(Debug)]
pub(super) struct Signals(UnixStream);

impl Signals {
    /// Handles the signals for the rest of this process's life.
    pub(super) fn register() -> Result<Self, Failure> {
        let register = || -> std::io::Result<UnixStream> {
            // A handler may call only what signal-safety(7) lists. It writes a byte here, which wakes
            // `poll`.
            let (ours, theirs) = UnixStream::pair()?;
            for signal in [SIGTERM, SIGINT, SIGHUP] {
                signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
            }
            Ok(ours)
        };
        register().map(Self).map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("Signal handlers cannot be registered: {error}."))
        })
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
