//! Signals that ask this process to end, as bytes on a socket that can be waited for.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tabwire_wire::{ErrorCode, Failure};

/// Readable once this process is asked to end.
#[derive(Debug)]
pub(super) struct Signals(UnixStream);

impl Signals {
    /// Takes over SIGTERM, SIGINT and SIGHUP for the rest of this process's life.
    pub(super) fn register() -> Result<Self, Failure> {
        let register = || -> std::io::Result<UnixStream> {
            let (ours, theirs) = UnixStream::pair()?;
            for signal in [SIGTERM, SIGINT, SIGHUP] {
                signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
            }
            Ok(ours)
        };
        register().map(Self).map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("Signals cannot be listened for: {error}."))
        })
    }

    /// To wait on.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
