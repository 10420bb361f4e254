//! Bounds of the mux, each with its reason.

use std::time::Duration;

/// Commands one client may have unanswered. Busy suites stay below 300; past this it is a flood.
pub const PENDING_PER_CLIENT: usize = 16_384;

/// How long an unanswered command is remembered. Long evaluations are legitimate; forgetting is for leaks.
pub const PENDING_DEADLINE: Duration = Duration::from_secs(30 * 60);

/// Frames kept for a client whose browser-level cdp session is still being made.
pub const JOINING_QUEUE: usize = 1_024;

/// How long a new page may stay paused for clients that were told of it and have not let it run.
pub const RESUME_DEADLINE: Duration = Duration::from_secs(5);

/// How long a tab target may stay without the page it holds before it counts as nobody's.
pub const TAB_LINK_DEADLINE: Duration = Duration::from_secs(1);

/// How long the browser may take to give a new client its cdp session.
pub const JOIN_DEADLINE: Duration = Duration::from_secs(30);

/// Bytes queued towards one client above which droppable events are dropped.
pub const QUEUE_SOFT_BYTES: usize = 8 * 1024 * 1024;

/// Bytes queued towards one client above which it is disconnected; holds one full-size browser message.
pub const QUEUE_HARD_BYTES: usize = 256 * 1024 * 1024;

/// Frames queued towards one client above which droppable events are dropped.
pub const QUEUE_SOFT_FRAMES: usize = 8_192;

/// Frames queued towards one client above which it is disconnected.
pub const QUEUE_HARD_FRAMES: usize = 262_144;
