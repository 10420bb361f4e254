//! Limits of the test programs.

use std::time::Duration;

/// Largest request head the fixture site and the fake browser read.
pub const REQUEST_HEAD_BYTES: usize = 64 * 1024;

/// Largest request body the fixture site echoes.
pub const REQUEST_BODY_BYTES: usize = 8 * 1024 * 1024;

/// Longest time a keep-alive connection to the fixture site may sit idle.
pub const SITE_IDLE: Duration = Duration::from_secs(60);

/// Longest delay `/slow` accepts, so that no page can block the site.
pub const SITE_SLOWEST: Duration = Duration::from_secs(60);

/// Most events one `/events/stream` sends.
pub const SITE_STREAM_EVENTS: u32 = 1_000;

/// Largest frame a peer may send to the fake browser or the echo socket.
pub const PEER_FRAME_BYTES: usize = 256 * 1024 * 1024;

/// Most bytes that one line of a fake browser's script generates. More than any client should accept.
pub const SCRIPTED_MESSAGE_BYTES: usize = 512 * 1024 * 1024;

/// Frames the fake browser queues for one connection before it stops reading from all of them.
pub const FAKE_QUEUE_FRAMES: usize = 1_024;

/// Longest life of a fake browser, so that a killed test leaves no process.
pub const FAKE_BROWSER_LIFE: Duration = Duration::from_secs(300);

/// Concurrent connections of a chaos proxy.
pub const CHAOS_CONNECTIONS: usize = 64;

/// Bytes that a chaos proxy reads at once. Also the unit of duplication.
pub const CHAOS_CHUNK_BYTES: usize = 64 * 1024;

/// Most bytes that a merging direction holds.
pub const CHAOS_MERGE_BYTES: usize = 16 * 1024 * 1024;

/// Longest life of a chaos proxy, so that a hanging test does not keep it.
pub const CHAOS_LIFE: Duration = Duration::from_secs(300);

/// Longest wait for a chaos proxy to reach its upstream.
pub const CHAOS_CONNECT: Duration = Duration::from_secs(5);
