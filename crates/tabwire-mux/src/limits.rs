//! Bounds of the mux, each with its reason.

use std::time::Duration;

/// Pending commands per client. Busy test suites stay below 300; a client above the limit floods the browser.
pub const PENDING_PER_CLIENT: usize = 16_384;

/// How long a pending command is kept. Long evaluations are legitimate; the deadline only prevents leaks.
pub const PENDING_DEADLINE: Duration = Duration::from_secs(30 * 60);

/// Frames queued for a client whose browser-level CDP session is being opened.
pub const JOINING_QUEUE: usize = 1_024;

/// How long a new page may stay paused for clients that it was announced to and that have not resumed it.
pub const RESUME_DEADLINE: Duration = Duration::from_secs(5);

/// How long the browser may take to open a new client's CDP session.
pub const JOIN_DEADLINE: Duration = Duration::from_secs(30);

/// How long a link may be starting before its waiting clients get `NO_BACKEND`. A browser on a loaded machine
/// has taken 40 s to start.
pub const START_DEADLINE: Duration = Duration::from_secs(90);

/// How long the browser may take to attach a client for its auto-attach; the client's responses wait for it.
pub const ATTACH_DEADLINE: Duration = Duration::from_secs(10);

/// How long to wait for a partition to end. A page with a `beforeunload` dialog may stay; it is then left
/// open.
pub const PARTITION_END_DEADLINE: Duration = Duration::from_secs(10);

/// Bytes queued for a client whose browser-level CDP session is being opened.
pub const JOINING_QUEUE_BYTES: usize = 64 * 1024 * 1024;

/// Created targets kept until the browser announces them. Chromium announces them before it responds to
/// `Target.createTarget`, so only other upstreams need this.
pub const UNANNOUNCED_TARGETS: usize = 1_024;

/// How long a created target that was never announced is kept.
pub const UNANNOUNCED_DEADLINE: Duration = PENDING_DEADLINE;

/// Setting commands kept for each CDP session, to be repeated when the browser drops them.
pub const SETTINGS_PER_SESSION: usize = 64;

/// Bytes of setting commands kept for each CDP session.
pub const SETTINGS_BYTES_PER_SESSION: usize = 64 * 1024;

/// Weak loss signals that are kept.
pub const LOSS_SIGNALS: usize = 10;

/// How near a weak signal must be to a transport error to prove that the browser is gone.
pub const LOSS_WINDOW: Duration = Duration::from_secs(2);

/// Bytes queued towards one client above which droppable events are dropped.
pub const QUEUE_SOFT_BYTES: usize = 8 * 1024 * 1024;

/// Bytes queued towards one client above which it is disconnected; holds one full-size browser message.
pub const QUEUE_HARD_BYTES: usize = 256 * 1024 * 1024;

/// Frames queued towards one client above which droppable events are dropped.
pub const QUEUE_SOFT_FRAMES: usize = 8_192;

/// Frames queued towards one client above which it is disconnected.
pub const QUEUE_HARD_FRAMES: usize = 262_144;

/// Frames whose parent is remembered, to find the owner of a download.
pub const FRAMES_REMEMBERED: usize = 16_384;

/// Downloads tracked at once; the browser saves further ones without events to clients.
pub const DOWNLOADS_FOLLOWED: usize = 1_024;

/// Documents of one page whose remote address is remembered: more than a browser keeps for going back.
pub const DOCUMENTS_REMEMBERED: usize = 64;

/// Frames of one target whose URLs are known; a page with more cannot be checked, and its content is refused.
pub const FRAMES_PER_PAGE: usize = 4_096;

/// Characters of a frame's URL that are kept: longer than any path in a grant.
pub const FRAME_URL_LETTERS: usize = 2_048;

/// Frame navigations kept, to check responses that were pending meanwhile.
pub const FRAME_MOVES: usize = 4_096;

/// Commands of one CDP session that wait until the frames of its target are known.
pub const WAITING_FOR_FRAMES: usize = 1_024;

/// Execution contexts remembered for each CDP session.
pub const CONTEXTS_REMEMBERED: usize = 8_192;

/// Requests remembered for each CDP session, so that reads of their bodies can be checked.
pub const REQUESTS_REMEMBERED: usize = 4_096;

/// Redirects of one request that are remembered; browsers follow twenty.
pub const REQUEST_HOPS: usize = 32;

/// Streams remembered for each CDP session.
pub const STREAMS_REMEMBERED: usize = 256;

/// Entries of a page's history that are remembered; browsers keep fifty.
pub const HISTORY_ENTRIES: usize = 256;

/// Events kept for each CDP session until their request is known.
pub const EARLY_EVENTS: usize = 256;

/// Frames navigated by clients, whose redirects are checked like those of pages.
pub const NAVIGATED_FRAMES: usize = 256;
