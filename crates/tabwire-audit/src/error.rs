//! Errors of the audit log.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::ffi::{self, ErrorCode};

/// Why a row was not written or read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AuditError {
    /// There is no room on the disk.
    #[error("the disk is full")]
    Full,
    /// The file is damaged, or another kind of file.
    #[error("it is damaged or not an audit log")]
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
    /// The file does not exist yet.
    #[error("there is no audit log yet")]
    Missing,
    /// Another user may have created or changed the file or its directory.
    #[error("{} cannot be trusted: {fault}", path.display())]
    Untrusted {
        /// The path.
        path: PathBuf,
        /// The cause.
        fault: FileFault,
    },
    /// The system refused.
    #[error("{} could not be used: {source}", path.display())]
    System {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: Arc<std::io::Error>,
    },
    /// Too many entries wait to be written.
    #[error("too many entries are waiting to be written")]
    Backlog,
    /// It was not written in time. It may be written later.
    #[error("it was not written in time")]
    Late,
    /// The audit log was closed.
    #[error("it is closed")]
    Closed,
    /// SQLite refused.
    #[error("SQLite refused: {0}")]
    Sqlite(Arc<rusqlite::Error>),
}

/// Why a file is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// The path is a symbolic link.
    #[error("it is a symbolic link")]
    Link,
    /// The path is a directory or a special file.
    #[error("it is not a file")]
    NotFile,
    /// Another user owns it.
    #[error("another user owns it")]
    OtherOwner,
    /// Other users can write in the directory.
    #[error("other users can write in its directory")]
    OthersWrite,
}

impl AuditError {
    pub(crate) fn system(path: &std::path::Path, error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::StorageFull {
            return Self::Full;
        }
        Self::System { path: path.to_owned(), source: Arc::new(error) }
    }
}

impl From<rusqlite::Error> for AuditError {
    fn from(error: rusqlite::Error) -> Self {
        // SQLite reports a file at its size limit (`ulimit -f`) as a failed write.
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
