//! Bounds of the command line, each with its reason.

use std::time::Duration;

/// How long `doctor` waits for the daemon to say how it is; a healthy one takes a millisecond.
pub const DOCTOR_PATIENCE: Duration = Duration::from_secs(5);

/// Files and directories of ours that `doctor` looks at in one place; the rest is as likely well or not.
pub const DOCTOR_ENTRIES: usize = 4096;

/// Free bytes below which nothing can be relied on: a fresh profile alone takes about as much.
pub const DISK_BYTES_NEEDED: u64 = 32 * 1024 * 1024;

/// Free bytes below which `doctor` warns: a few pages with pictures fill as much of a cache.
pub const DISK_BYTES_WANTED: u64 = 256 * 1024 * 1024;

/// Size of the shared memory below which pages with large pictures crash; containers often have 64 MiB.
pub const SHARED_MEMORY_BYTES: u64 = 128 * 1024 * 1024;

/// Open files a process should be allowed; a browser with a dozen tabs has several hundred.
pub const OPEN_FILES: u64 = 1024;

/// How far the clock may be behind what was written before it counts as wrong.
pub const CLOCK_SLACK: Duration = Duration::from_secs(300);

/// Seconds since 1970 before which the clock is wrong for certain: the start of 2026.
pub const CLOCK_FLOOR_SECONDS: u64 = 1_767_225_600;

/// How long a browser that was ended may hold its profile.
pub const DYING: Duration = Duration::from_secs(3);

/// Pause between two looks at it.
pub const DYING_LOOK: Duration = Duration::from_millis(50);
