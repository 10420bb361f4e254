//! Limits and defaults of this crate, each with its reason.

use std::time::Duration;

/// Largest message exchanged with a browser: 256 MiB.
///
/// Heap snapshots, traces and full-page images exceed 100 MB. A larger frame is refused; the connection stays
/// open where the transport allows it (F14).
pub const BROWSER_MESSAGE_CEILING: usize = 256 * 1024 * 1024;

/// Largest message that a client may send: 64 MiB, far above any ordinary command.
pub const CLIENT_MESSAGE_CEILING: usize = 64 * 1024 * 1024;

/// Default timeout of a command: 30 s.
pub const COMMAND_DEADLINE: Duration = Duration::from_secs(30);

/// Timeout for opening a websocket, with name lookup and TLS: 10 s.
pub const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// Events that a stream holds for a slow reader before it reports `Missed`: 1,024.
///
/// A heavy page load is a few hundred events; a reader that is a thousand behind is stuck.
pub const EVENT_STREAM_BOUND: usize = 1024;

/// Events held for one CDP session without a handle (F21): 256.
pub const HELD_EVENTS_PER_SESSION: usize = 256;

/// CDP sessions without a handle that may hold events at once; the oldest is dropped first: 256.
pub const HELD_SESSIONS: usize = 256;

/// Detached CDP sessions remembered, so that their late events are not held again: 256.
pub const GONE_SESSIONS_REMEMBERED: usize = 256;

/// Disposed browser contexts remembered, so that their late targets are not listed: 256.
pub const DISPOSED_CONTEXTS_REMEMBERED: usize = 256;

/// Bytes of commands that may wait for a slow browser before new ones are refused: 64 MiB.
pub const OUTBOX_BYTES: usize = 64 * 1024 * 1024;

/// Frames gathered into one write when several wait: 64, well under the kernel's 1,024.
pub const WRITE_BATCH_FRAMES: usize = 64;

/// Frames that an in-process channel holds in each direction: 1,024.
pub const CHANNEL_FRAMES: usize = 1024;

/// Buffer for one read of a pipe: 64 KiB, so that a small frame needs one read.
pub const READ_CHUNK: usize = 64 * 1024;

/// Buffer for one read in the middle of a large frame: 1 MiB.
pub const LARGE_READ_CHUNK: usize = 1024 * 1024;

/// Capacity requested from the kernel for each browser pipe: 1 MiB, the unprivileged maximum.
pub const PIPE_CAPACITY: usize = 1024 * 1024;

/// Bytes kept from each end of an oversize frame, enough for its id and its CDP session: 256.
pub const OVERSIZE_EXCERPT: usize = 256;

/// Event parameters up to this size are copied out of the read buffer: 16 KiB.
///
/// A slow reader then keeps only its own few bytes alive, not a whole read chunk for each event.
pub const EVENT_COPY_LIMIT: usize = 16 * 1024;

/// Silence after which a heartbeat is sent: 5 s.
pub const HEARTBEAT_SILENCE: Duration = Duration::from_secs(5);

/// Timeout of a heartbeat: 8 s, so that a lost link is found within 15 s (F03). Any frame counts as a
/// response.
pub const HEARTBEAT_RESPONSE: Duration = Duration::from_secs(8);

/// How long aborted tasks may take to unwind at shutdown: 1 s.
pub const ABORT_GRACE: Duration = Duration::from_secs(1);
