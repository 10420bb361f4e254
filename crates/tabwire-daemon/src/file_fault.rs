//! How a refused or failed file is told.

use std::io;
use std::path::Path;

use rustix::io::Errno;
use tabwire_wire::{ErrorCode, Failure};

/// What a failed open, read or write of a path means for the caller.
pub(crate) fn fault(path: &Path, error: &io::Error) -> Failure {
    let told = |code, why: &str| Failure::new(code, format!("{} {why}.", path.display()));
    match Errno::from_io_error(error) {
        Some(Errno::EXIST) => told(ErrorCode::BadArgs, "is there already and nothing is written over")
            .with_hint("Give another name, or a directory."),
        Some(Errno::LOOP | Errno::NOTDIR) => {
            told(ErrorCode::PolicyDenied, "is a link or has one on its way; links are not followed")
                .with_hint("Give the path that the link stands for, below a declared root.")
        }
        Some(Errno::XDEV) => told(ErrorCode::PolicyDenied, "leads out of its root"),
        Some(Errno::ISDIR) => told(ErrorCode::BadArgs, "is a directory").with_hint("Give a file."),
        Some(Errno::NODEV | Errno::NXIO) => told(ErrorCode::PolicyDenied, "is no plain file")
            .with_hint("Devices, sockets and pipes are not opened."),
        Some(Errno::NOENT) => told(ErrorCode::BadArgs, "is not there").with_hint("Check the path."),
        _ => Failure::new(ErrorCode::BadArgs, format!("{} cannot be used: {error}.", path.display()))
            .with_hint("Check that you may read or write there and that there is room."),
    }
}

/// A word that nobody guesses, for a name that must be new.
pub(crate) fn random_word() -> String {
    let mut bytes = [0_u8; 8];
    // Without randomness the name may be taken, which is found out.
    let _ = getrandom::fill(&mut bytes);
    format!("{:016x}", u64::from_le_bytes(bytes))
}
