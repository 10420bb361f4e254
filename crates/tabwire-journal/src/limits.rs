//! Bounds of the journal, each with its reason.

use std::time::Duration;

/// Rows the journal keeps; the oldest go first. Weeks of an agent's work.
pub const JOURNAL_ROWS: u64 = 100_000;

/// Bytes the journal may take on disk, its write-ahead log included.
pub const JOURNAL_BYTES: u64 = 64 * 1024 * 1024;

/// Size of the write-ahead log at which it is carried over into the database. Doing so waits for the disk.
pub const LOG_CARRIED_BYTES: u64 = 4 * 1024 * 1024;

/// Entries that may wait for the writer; more are refused, so that a slow disk does not fill the memory.
pub const ENTRIES_WAITING: usize = 1_024;

/// Entries that are committed together.
pub const ENTRIES_TOGETHER: usize = 128;

/// A commit slower than this is one that waited for the disk, and nobody but the thread is to wait for that. On a busy
/// machine one that waited for nothing takes some milliseconds now and then, and waking the thread as many.
pub const SLOW_COMMIT: Duration = Duration::from_millis(10);

/// Rows that the thread writes after a slow commit before another is tried without it.
pub const ROWS_LEFT_TO_THREAD: u32 = 16;

/// What a row may take of the log, in bytes: the pages it lies on.
pub const ROW_ROOM: u64 = 16 * 1024;

/// Rows written without the thread after which it looks after the file. Whoever writes meanwhile waits for it, so that
/// is to happen to far fewer than one in a hundred. The log has room for more.
pub const ROWS_BETWEEN_CARES: u32 = 200;

/// Rows written without a look at the journal's size after which none is written without the thread: it is late.
pub const ROWS_UNLOOKED: u64 = 300;

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
