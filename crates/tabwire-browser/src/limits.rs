//! Every bound and default of this crate, with its reason. Knows no behaviour.

use std::time::Duration;

/// Longest line a control connection may send to a keeper or get back.
///
/// A claim or note is under 1 KiB; the answer with the browser's stderr is the
/// largest, and JSON escaping can make it six times as long as the ring.
pub const CONTROL_LINE_BYTES: usize = 64 * 1024;

/// Longest answer a keeper sends: an escaped stderr ring and its frame.
pub const CONTROL_ANSWER_BYTES: usize = 6 * STDERR_RING_BYTES + 4096;

/// Control connections a keeper serves at once; more are refused as busy.
///
/// One holder, one sweeper, one `stop` and a few onlookers is all there is.
pub const CONTROL_CONNECTIONS: usize = 8;

/// How much of the browser's latest stderr is remembered.
pub const STDERR_RING_BYTES: usize = 64 * 1024;

/// How much stderr is quoted in a launch error; people read the last lines.
pub const STDERR_QUOTE_LINES: usize = 12;

/// Longest quote of stderr in an error, whatever the number of lines.
pub const STDERR_QUOTE_BYTES: usize = 4096;

/// Longest keep request on the keeper's stdin.
///
/// Fits a fresh pipe, so that writing it never waits for the keeper.
pub const KEEP_REQUEST_BYTES: usize = 64 * 1024;

/// Longest outcome line a keeper prints: a descriptor, or a failure with stderr.
pub const KEEP_OUTCOME_BYTES: usize = 256 * 1024;

/// Longest descriptor file that is parsed.
pub const DESCRIPTOR_BYTES: usize = 64 * 1024;

/// Most entries of a descriptor directory one sweep looks at.
pub const SWEEP_ENTRIES: usize = 4096;

/// How long a browser may take from exec to its first answer on the pipe.
///
/// A cold start on a busy two-core machine was measured at under 4 s; slow
/// disks and first runs after an update take longer.
pub const START_DEADLINE: Duration = Duration::from_secs(30);

/// Bytes read from a starting browser before its greeting is given up on.
pub const GREETING_BYTES: usize = 1024 * 1024;

/// How long an unclaimed browser lives unless the launch says otherwise.
pub const DEFAULT_LINGER: Duration = Duration::from_secs(120);

/// How long a browser may take to close by itself before its group is killed (F46).
pub const DEFAULT_CLOSE_GRACE: Duration = Duration::from_secs(5);

/// Longest grace a `stop` request can ask for.
pub const LONGEST_CLOSE_GRACE: Duration = Duration::from_secs(60);

/// How long killed processes may take to vanish before that is reported.
pub const VERIFY_GONE: Duration = Duration::from_secs(5);

/// How long removing a throw-away profile is retried.
///
/// A dying browser's children can still write while the directory is emptied.
pub const PROFILE_REMOVAL: Duration = Duration::from_secs(3);

/// Pause between two looks at something that has no event to wait for.
pub const RECHECK: Duration = Duration::from_millis(20);

/// How long a sweep waits for a keeper to answer `hello`.
pub const SWEEP_HELLO: Duration = Duration::from_secs(3);

/// How long a keeper may take to end after it missed its start deadline.
pub const KEEPER_END: Duration = Duration::from_secs(15);

/// Longest unix socket path every supported system can bind (macOS has 104 with the NUL).
pub const SOCKET_PATH_BYTES: usize = 103;

/// Longest note a holder may leave for the next one.
pub const HOUSE_BYTES: usize = 256;

/// How long `--version` may take.
pub const VERSION_DEADLINE: Duration = Duration::from_secs(10);

/// Most output of `--version` that is read.
pub const VERSION_BYTES: usize = 4096;

/// Longest HTTP answer read while discovering an attached browser.
pub const DISCOVERY_BYTES: usize = 64 * 1024;

/// Longest `DevToolsActivePort` file that is read.
pub const ACTIVE_PORT_BYTES: usize = 4096;

/// Most extra arguments or environment additions of one launch.
pub const EXTRA_ARGUMENTS: usize = 256;

/// How long a control connection may be silent unless it holds or awaits something.
pub const CONTROL_IDLE: Duration = Duration::from_secs(60);

/// Longest linger that is honoured; a day without a holder is an orphan.
pub const LONGEST_LINGER: Duration = Duration::from_secs(24 * 60 * 60);

/// Processes that are looked at when a browser's memory is measured.
pub const PROCESSES_LOOKED_AT: usize = 10_000;

/// Longest name of an attached browser that is repeated to people.
pub const PRODUCT_BYTES: usize = 100;
