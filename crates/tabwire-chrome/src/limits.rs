//! Limits of the Chrome shim that users can notice.

use std::time::Duration;

/// How long the shim waits for its browser: the daemon's own launch timeout and some more. On Windows several programs
/// are started for one browser.
pub const OPEN_TIMEOUT: Duration = Duration::from_secs(90);

/// How long a shim that received a signal to exit waits until its browser has closed.
pub const END_TIMEOUT: Duration = Duration::from_secs(20);

/// Clients of one debugging port. As many more connections may be open without a request yet.
pub const CONNECTIONS: usize = 64;

/// Bytes of requests that one client may queue while the browser restarts.
pub const QUEUE_BYTES: usize = 16 * 1024 * 1024;

/// Size of one frame log (`TABWIRE_CHROME_FRAMES`).
pub const FRAME_LOG_BYTES: usize = 64 * 1024 * 1024;

/// Frame logs in one directory; the oldest are removed.
pub const FRAME_LOG_FILES: usize = 16;
