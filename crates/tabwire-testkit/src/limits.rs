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

/// Most bytes one line of a fake browser's script makes up; above what any client should accept.
pub const SCRIPTED_MESSAGE_BYTES: usize = 512 * 1024 * 1024;

/// Frames the fake browser queues for one connection before it stops reading from all of them.
pub const FAKE_QUEUE_FRAMES: usize = 1_024;

/// Longest life of a fake browser, so that a lost test leaves nothing behind.
pub const FAKE_BROWSER_LIFE: Duration = Duration::from_secs(300);

/// Connections a chaos proxy carries at once.
pub const CHAOS_CONNECTIONS: usize = 64;

/// Bytes a chaos proxy reads at a time; also the unit that is duplicated.
pub const CHAOS_CHUNK_BYTES: usize = 64 * 1024;

/// Most bytes a merging direction holds back.
pub const CHAOS_MERGE_BYTES: usize = 16 * 1024 * 1024;

/// Longest life of a chaos proxy, so that a lost test leaves nothing behind.
pub const CHAOS_LIFE: Duration = Duration::from_secs(300);

/// Longest wait for a chaos proxy to reach its upstream.
pub const CHAOS_CONNECT: Duration = Duration::from_secs(5);
