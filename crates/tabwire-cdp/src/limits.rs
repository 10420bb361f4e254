//! Every bound and default of this crate, each with its reason. Holds no logic.

use std::time::Duration;

/// Largest message exchanged with a browser: 256 MiB.
///
/// Heap snapshots, traces and full-page images pass 100 MB; above this the frame is refused and the
/// connection lives on where the transport allows it (F14).
pub const BROWSER_MESSAGE_CEILING: usize = 256 * 1024 * 1024;

/// Largest message a client may send us: 64 MiB, which no sane command reaches.
pub const CLIENT_MESSAGE_CEILING: usize = 64 * 1024 * 1024;

/// How long a command waits for its response unless the caller says otherwise: 30 s.
pub const COMMAND_DEADLINE: Duration = Duration::from_secs(30);

/// How long opening a websocket may take, name lookup and TLS included: 10 s.
pub const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// Events one stream holds for a slow reader before it reports `Missed`: 1,024.
///
/// A heavy page load is a few hundred events; a reader that is a thousand behind is stuck.
pub const EVENT_STREAM_BOUND: usize = 1024;

/// Events held for one CDP session nobody has claimed yet (F21): 256.
pub const HELD_EVENTS_PER_SESSION: usize = 256;

/// Unclaimed CDP sessions that may hold events at once; the oldest is let go first: 256.
pub const HELD_SESSIONS: usize = 256;

/// Detached CDP sessions remembered, so that their late events are not held again: 256.
pub const GONE_SESSIONS_REMEMBERED: usize = 256;

/// Disposed browser contexts remembered, so that their late targets are not listed: 256.
pub const DISPOSED_CONTEXTS_REMEMBERED: usize = 256;

/// Bytes of commands that may wait for a slow browser before new ones are refused: 64 MiB.
pub const OUTBOX_BYTES: usize = 64 * 1024 * 1024;

/// Frames gathered into one write when several wait: 64, well under the kernel's 1,024.
pub const WRITE_BATCH_FRAMES: usize = 64;

/// Frames an in-process channel holds in each direction: 1,024.
pub const CHANNEL_FRAMES: usize = 1024;

/// Room offered to one read of a pipe: 64 KiB, so that a small frame costs one read.
pub const READ_CHUNK: usize = 64 * 1024;

/// Room offered to one read in the middle of a large frame: 1 MiB.
pub const LARGE_READ_CHUNK: usize = 1024 * 1024;

/// Capacity asked of the kernel for each browser pipe: 1 MiB, the unprivileged maximum.
pub const PIPE_CAPACITY: usize = 1024 * 1024;

/// Bytes kept of each end of an oversize frame, enough for its id and its CDP session: 256.
pub const OVERSIZE_EXCERPT: usize = 256;

/// Event parameters up to this size are copied out of the read buffer: 16 KiB.
///
/// A slow reader then pins its own few bytes and not a whole read chunk for each event.
pub const EVENT_COPY_LIMIT: usize = 16 * 1024;

/// Silence after which a heartbeat is sent: 5 s.
pub const HEARTBEAT_SILENCE: Duration = Duration::from_secs(5);

/// How long a heartbeat waits for any sign of life: 8 s, so that a lost link is found within 15 s (F03).
pub const HEARTBEAT_RESPONSE: Duration = Duration::from_secs(8);

/// How long aborted tasks are given to unwind at shutdown: 1 s.
pub const ABORT_GRACE: Duration = Duration::from_secs(1);
