//! Limits of browsers that users can notice (`pub`) or several files share.

use std::time::Duration;

/// Longest line on a control connection to a keeper, in either direction.
///
/// A claim or note is under 1 KiB. The response with the browser's stderr is the largest, because JSON
/// escaping can make it six times as long as the ring.
#[doc(hidden)]
pub const CONTROL_LINE_BYTES: usize = 64 * 1024;

/// Longest response of a keeper: an escaped stderr ring and its frame.
pub(crate) const CONTROL_RESPONSE_BYTES: usize = 6 * STDERR_RING_BYTES + 4096;

/// Control connections a keeper serves at once; more are refused as busy.
///
/// Expected at once: one holder, one sweep, one `stop` and a few `hello` requests.
#[doc(hidden)]
pub const CONTROL_CONNECTIONS: usize = 8;

/// How much of the browser's latest stderr is remembered.
#[doc(hidden)]
pub const STDERR_RING_BYTES: usize = 64 * 1024;

/// Longest keep request on the keeper's stdin.
///
/// Fits an empty pipe, so that writing it never waits for the keeper.
pub(crate) const KEEP_REQUEST_BYTES: usize = 64 * 1024;

/// Most entries of a descriptor directory that one sweep reads.
pub(crate) const SWEEP_ENTRIES: usize = 4096;

/// How long a browser may take from exec to its first response on the pipe.
///
/// A cold start on a busy two-core machine was measured at under 4 s; slow
/// disks and first runs after an update take longer.
pub const START_DEADLINE: Duration = Duration::from_secs(30);

/// How long an unclaimed browser lives unless the launch says otherwise.
pub const DEFAULT_LINGER: Duration = Duration::from_secs(120);

/// How long a browser may take to close by itself before its group is killed (F46).
#[doc(hidden)]
pub const DEFAULT_CLOSE_GRACE: Duration = Duration::from_secs(5);

/// How long killed processes may take to end before a failure is reported.
pub(crate) const VERIFY_GONE: Duration = Duration::from_secs(5);

/// Poll interval for conditions without an event.
pub(crate) const RECHECK: Duration = Duration::from_millis(20);

/// How long a sweep waits for a keeper to respond `hello`.
pub(crate) const SWEEP_HELLO: Duration = Duration::from_secs(3);

/// Longest unix socket path every supported system can bind (macOS has 104 with the NUL).
pub const SOCKET_PATH_BYTES: usize = 103;

/// How long `--version` may take.
#[doc(hidden)]
pub const VERSION_DEADLINE: Duration = Duration::from_secs(10);

/// Most processes that are read when a browser's memory is measured.
pub(crate) const PROCESSES_LOOKED_AT: usize = 10_000;
