//! Limits of the Chrome shim that users can notice (`pub`) or several files share.

use std::time::Duration;

/// How long a shim that received a signal to exit waits until its browser has closed.
pub(crate) const END_TIMEOUT: Duration = Duration::from_secs(20);

/// Clients of one debugging port. As many more connections may be open without a request yet.
pub const CONNECTIONS: usize = 64;

/// Size of one frame log (`TABWIRE_CHROME_FRAMES`).
pub(crate) const FRAME_LOG_BYTES: usize = 64 * 1024 * 1024;
