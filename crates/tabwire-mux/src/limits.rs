//! Bounds of the mux that users can notice (`pub`) or several files share, each with its reason.

use std::time::Duration;

/// Pending commands per client. Busy test suites stay below 300; a client above the limit floods the browser.
pub const PENDING_PER_CLIENT: usize = 16_384;

/// How long a pending command is kept. Long evaluations are legitimate; the deadline only prevents leaks.
pub(crate) const PENDING_DEADLINE: Duration = Duration::from_secs(30 * 60);

/// How long the browser may take to open a new client's CDP session.
pub(crate) const JOIN_DEADLINE: Duration = Duration::from_secs(30);

/// How long a link may be starting before its waiting clients get `NO_BACKEND`. A browser on a loaded machine
/// has taken 40 s to start.
pub(crate) const START_DEADLINE: Duration = Duration::from_secs(90);

/// How long to wait for a partition to end. A page with a `beforeunload` dialog may stay; it is then left
/// open.
#[doc(hidden)]
pub const PARTITION_END_DEADLINE: Duration = Duration::from_secs(10);

/// Bytes queued towards one client above which it is disconnected; holds one full-size browser message.
pub const QUEUE_HARD_BYTES: usize = 256 * 1024 * 1024;
