//! Limits of scripts that a user can notice.

use std::time::Duration;

/// How long `execute` may take by default. Time spent waiting for an approval does not count.
pub const EXECUTE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long `run` may take by default, and the longest timeout of `execute`.
pub const RUN_TIMEOUT: Duration = Duration::from_secs(600);

/// How long a cancelled script may take to end. Then its process is killed.
pub const CANCEL_GRACE: Duration = Duration::from_secs(1);

/// Largest heap of a script.
pub const HEAP_BYTES: usize = 128 * 1024 * 1024;

/// Largest stack of a script.
pub const STACK_BYTES: usize = 768 * 1024;

/// Largest code of one run.
pub const CODE_BYTES: usize = 1024 * 1024;

/// Largest code of all modules of one run.
pub const MODULE_BYTES: usize = 4 * 1024 * 1024;

/// Calls of a script that may be under way at once.
pub const CALLS_AT_ONCE: usize = 64;

/// Calls of one run.
pub const CALLS: u64 = 10_000;

/// Longest message between the daemon and a script's process.
pub const LINE_BYTES: usize = 16 * 1024 * 1024;

/// Console output of one run; more is counted and dropped.
pub const CONSOLE_BYTES: usize = 1024 * 1024;

/// Longest text of a result.
pub const RESULT_CHARACTERS: usize = 1024 * 1024;

/// Largest value that a run returns as JSON, and largest `state` that survives a kill.
pub const VALUE_BYTES: usize = 4 * 1024 * 1024;

/// Images that one run shows to its client.
pub const IMAGES: usize = 8;

/// Timers of a script at once.
pub const TIMERS: usize = 10_000;

/// Processes of scripts at once.
pub const CHILDREN: usize = 32;

/// Runs that may wait for the same process.
pub const QUEUED_RUNS: usize = 16;

/// Skills of the user that scripts can import.
pub const SKILLS: usize = 64;

/// How long a process without a run is kept.
pub const IDLE: Duration = Duration::from_secs(30 * 60);

/// Clients whose `state` is kept after their process was ended for another one or after a long idle time.
pub const KEPT_STATES: usize = 64;

/// Address space of a script's process.
pub const ADDRESS_SPACE_BYTES: u64 = 512 * 1024 * 1024;

/// Events that wait for a script. More are counted and dropped.
pub const QUEUED_EVENTS: usize = 1_000;
