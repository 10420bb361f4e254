//! What can go wrong with a journal, sorted by what the caller can do.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::ffi::{self, ErrorCode};

/// Why a row was not written or read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalError {
    /// There is no room on the disk.
    #[error("the disk is full")]
    Full,
    /// The file is no journal, or is damaged.
    #[error("it is damaged or no journal")]
    Damaged,
    /// A newer Tabwire has written the file.
    #[error("it was written by a newer version (schema {found}, known is {known})")]
    Newer {
        /// The file's schema.
        found: i64,
        /// The latest schema known here.
        known: i64,
    },
    /// An older Tabwire has written the file, and it is only being read.
    #[error("it was written by an older version (schema {found}, known is {known})")]
    Older {
        /// The file's schema.
        found: i64,
        /// The latest schema known here.
        known: i64,
    },
    /// Nothing has been written yet.
    #[error("there is no journal yet")]
    Missing,
    /// The file or its directory may be somebody else's doing.
    #[error("{} cannot be trusted: {fault}", path.display())]
    Untrusted {
        /// What.
        path: PathBuf,
        /// Why.
        fault: FileFault,
    },
    /// The system refused.
    #[error("{} could not be used: {source}", path.display())]
    System {
        /// What.
        path: PathBuf,
        /// Why.
        source: Arc<std::io::Error>,
    },
    /// Too many entries wait for the disk.
    #[error("too many entries are waiting to be written")]
    Backlog,
    /// It was not written in time; it may still be.
    #[error("it was not written in time")]
    Late,
    /// The journal was closed.
    #[error("it is closed")]
    Closed,
    /// SQLite refused.
    #[error("SQLite refused: {0}")]
    Sqlite(Arc<rusqlite::Error>),
}

/// What makes a file unfit for a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// The path is a symbolic link.
    #[error("it is a symbolic link")]
    Link,
    /// The path is something else than a file.
    #[error("it is not a file")]
    NotFile,
    /// Another user owns it.
    #[error("another user owns it")]
    OtherOwner,
    /// Others can write in the directory.
    #[error("other users can write in its directory")]
    OthersWrite,
}

impl JournalError {
    pub(crate) fn system(path: &std::path::Path, error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::StorageFull {
            return Self::Full;
        }
        Self::System { path: path.to_owned(), source: Arc::new(error) }
    }
}

impl From<rusqlite::Error> for JournalError {
    fn from(error: rusqlite::Error) -> Self {
        // A file over its size limit is no better than a full disk.
        const WRITE_FAILED: i32 = ffi::SQLITE_IOERR_WRITE;
        match error.sqlite_error() {
            Some(found) if found.code == ErrorCode::DiskFull || found.extended_code == WRITE_FAILED => {
                Self::Full
            }
            Some(found) if matches!(found.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged
            }
            _ => Self::Sqlite(Arc::new(error)),
        }
    }
}
