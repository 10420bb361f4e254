//! How large a journal may become.

use crate::limits::{JOURNAL_BYTES, JOURNAL_ROWS, LOG_CARRIED_BYTES, PAD_BYTES};

/// How large a journal may become; the oldest rows go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Rows it keeps.
    pub rows: u64,
    /// Bytes it may take on disk, its write-ahead log and its pad included.
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
    /// What may be on the pad: it goes into the log as a whole.
    pub(crate) fn pad_bytes(self) -> u64 {
        PAD_BYTES.min(self.log_bytes / 2)
    }

    /// What is left for the database itself.
    pub(crate) fn database_bytes(self) -> u64 {
        self.bytes.saturating_sub(self.log_bytes.saturating_mul(2)).saturating_sub(self.pad_bytes() * 2)
    }
}
