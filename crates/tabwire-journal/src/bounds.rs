//! How large a journal may become.

use crate::limits::{JOURNAL_BYTES, JOURNAL_ROWS, LOG_CARRIED_BYTES};

/// How large a journal may become; the oldest rows go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Rows it keeps.
    pub rows: u64,
    /// Bytes it may take on disk, its write-ahead log included.
    pub bytes: u64,
    /// Size of the write-ahead log at which it is carried over into the database.
    pub log_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { rows: JOURNAL_ROWS, bytes: JOURNAL_BYTES, log_bytes: LOG_CARRIED_BYTES }
    }
}

impl Bounds {
    /// What is left for the database itself.
    pub(crate) fn database_bytes(self) -> u64 {
        self.bytes.saturating_sub(self.log_bytes.saturating_mul(2))
    }
}
