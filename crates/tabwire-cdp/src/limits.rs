//! Limits of connections that users can notice (`pub`) or several files share, each with its reason.

/// Largest message exchanged with a browser: 256 MiB.
///
/// Heap snapshots, traces and full-page images exceed 100 MB. A larger frame is refused; the connection stays
/// open where the transport allows it (F14).
pub const BROWSER_MESSAGE_CEILING: usize = 256 * 1024 * 1024;

/// Largest message that a client may send: 64 MiB, far above any ordinary command.
pub const CLIENT_MESSAGE_CEILING: usize = 64 * 1024 * 1024;

/// Events that a stream holds for a slow reader before it reports `Missed`: 1,024.
///
/// A heavy page load is a few hundred events; a reader that is a thousand behind is stuck.
pub(crate) const EVENT_STREAM_BOUND: usize = 1024;

/// Frames gathered into one write when several wait: 64, well under the kernel's 1,024.
pub(crate) const WRITE_BATCH_FRAMES: usize = 64;

/// Frames that an in-process channel holds in each direction: 1,024.
#[doc(hidden)]
pub const CHANNEL_FRAMES: usize = 1024;

/// Bytes kept from each end of an oversize frame, enough for its id and its CDP session: 256.
#[doc(hidden)]
pub const OVERSIZE_EXCERPT: usize = 256;
