//! Limits of the audit log that users can notice (`pub`) or several files share.

/// Rows in the audit log. The oldest are deleted first. Holds weeks of an agent's work.
pub const AUDIT_ROWS: u64 = 100_000;

/// Bytes of the audit log on disk, with its write-ahead log.
pub const AUDIT_BYTES: u64 = 64 * 1024 * 1024;

/// Longest name of a client, program or origin in a row, in bytes.
pub(crate) const NAME_BYTES: usize = 120;

/// Longest value in a summary, in bytes.
pub(crate) const VALUE_BYTES: usize = 200;
