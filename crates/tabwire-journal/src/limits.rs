//! Bounds of the journal, each with its reason.

use std::time::Duration;

/// Rows the journal keeps; the oldest go first. Weeks of an agent's work.
pub const JOURNAL_ROWS: u64 = 100_000;

/// Bytes the journal may take on disk, its write-ahead log and its pad included.
pub const JOURNAL_BYTES: u64 = 64 * 1024 * 1024;

/// Size of the write-ahead log at which it is carried over into the database. Doing so waits for the disk.
pub const LOG_CARRIED_BYTES: u64 = 4 * 1024 * 1024;

/// Entries that may wait for the writer; more are refused, so that a slow disk does not fill the memory.
pub const ENTRIES_WAITING: usize = 1_024;

/// Entries that are committed together.
pub const ENTRIES_TOGETHER: usize = 128;

/// Pause between two looks at the pad. When nothing was jotted down meanwhile, what is there is carried into the
/// database: whoever is in a hurry neither wakes the thread for each row nor works beside it.
pub const PAD_PAUSE: Duration = Duration::from_millis(4);

/// How long rows wait on the pad at most while others follow.
pub const PAD_PATIENCE: Duration = Duration::from_millis(40);

/// Bytes the pad may hold; a row for which there is no room waits for the database. Some hundred rows.
pub const PAD_BYTES: u64 = 128 * 1024;

/// The part of the pad, as one in so many, from which it is wiped when everything on it is in the database. Wiping it
/// for every row would cost the next one the room on the disk.
pub const PAD_KEPT_PART: u64 = 4;

/// How long who reads the journal waits for rows that are on the pad. Whoever holds it needs some milliseconds.
pub const CARRY_PATIENCE: Duration = Duration::from_secs(2);

/// Pause between two looks at whether they are there.
pub const CARRY_LOOK: Duration = Duration::from_millis(1);

/// Rows between two looks at the journal's size.
pub const ROWS_BETWEEN_LOOKS: u64 = 64;

/// The part of the journal that goes when it is full, as one in so many.
pub const PART_THAT_GOES: u64 = 20;

/// How long another process that holds the database is waited for.
pub const LOCK_DEADLINE: Duration = Duration::from_secs(2);

/// Longest text of a column, in bytes: names of clients, programs and origins.
pub const NAME_BYTES: usize = 120;

/// Longest summary of parameters or of a result, in bytes.
pub const SUMMARY_BYTES: usize = 1_024;

/// Longest value in a summary, in bytes.
pub const VALUE_BYTES: usize = 200;

/// Items of a list that a summary tells; of more it tells how many.
pub const LIST_ITEMS: usize = 8;

/// Longest error message, in bytes.
pub const MESSAGE_BYTES: usize = 400;

/// Rows that are read at once by those who follow or export.
pub const ROWS_AT_ONCE: u32 = 500;

/// Memory SQLite may use for pages, in KiB.
pub const CACHE_KIB: u32 = 512;

/// Names tried for a file that is set aside.
pub const NAMES_TRIED: u32 = 1_000;
