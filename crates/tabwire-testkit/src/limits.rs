//! Limits of the test programs.

use std::time::Duration;

/// Longest delay `/slow` accepts, so that no page can block the site.
pub const SITE_SLOWEST: Duration = Duration::from_secs(60);

/// Largest frame a peer may send to the fake browser or the echo socket.
pub const PEER_FRAME_BYTES: usize = 256 * 1024 * 1024;

/// Longest life of a fake browser, so that a killed test leaves no process.
pub const FAKE_BROWSER_LIFE: Duration = Duration::from_secs(300);

/// Longest life of a fake Grid.
pub const FAKE_GRID_LIFE: Duration = Duration::from_secs(900);
