//! Limits of the audit log that a user can notice.

/// Rows in the audit log. The oldest are deleted first. Holds weeks of an agent's work.
pub const AUDIT_ROWS: u64 = 100_000;

/// Bytes of the audit log on disk, with its write-ahead log.
pub const AUDIT_BYTES: u64 = 64 * 1024 * 1024;

/// Longest name of a client, program or origin in a row, in bytes.
pub const NAME_BYTES: usize = 120;

/// Longest summary of parameters or of a result in a row, in bytes.
pub const SUMMARY_BYTES: usize = 1_024;

/// Longest value in a summary, in bytes.
pub const VALUE_BYTES: usize = 200;

/// Items of a list in a summary. A longer list shows its length.
pub const LIST_ITEMS: usize = 8;

/// Longest error message in a row, in bytes.
pub const MESSAGE_BYTES: usize = 400;
