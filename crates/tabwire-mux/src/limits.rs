//! Bounds of the mux, each with its reason.

use std::time::Duration;

/// Commands one client may have unanswered. Busy suites stay below 300; past this it is a flood.
pub const PENDING_PER_CLIENT: usize = 16_384;

/// How long an unanswered command is remembered. Long evaluations are legitimate; forgetting is for leaks.
pub const PENDING_DEADLINE: Duration = Duration::from_secs(30 * 60);

/// Frames kept for a client whose browser-level CDP session is still being made.
pub const JOINING_QUEUE: usize = 1_024;

/// How long a new page may stay paused for clients that were told of it and have not let it run.
pub const RESUME_DEADLINE: Duration = Duration::from_secs(5);

/// How long the browser may take to give a new client its CDP session.
pub const JOIN_DEADLINE: Duration = Duration::from_secs(30);

/// How long a link may be starting before the clients that wait for it are told that there is no browser.
/// A browser on a loaded machine has taken 40 s to come up.
pub const START_DEADLINE: Duration = Duration::from_secs(90);

/// How long the browser may take to attach a client to a target for its auto-attach; answers wait for it.
pub const ATTACH_DEADLINE: Duration = Duration::from_secs(10);

/// How long the end of a partition is waited for. A page may ask its user before it goes, and is then left behind.
pub const PARTITION_END_DEADLINE: Duration = Duration::from_secs(10);

/// Bytes kept for a client whose browser-level CDP session is still being made.
pub const JOINING_QUEUE_BYTES: usize = 64 * 1024 * 1024;

/// Created targets remembered until the browser announces them; it does so before it answers, so this is
/// for odd upstreams only.
pub const UNANNOUNCED_TARGETS: usize = 1_024;

/// How long a created target that was never announced is remembered.
pub const UNANNOUNCED_DEADLINE: Duration = PENDING_DEADLINE;

/// Setting commands kept for each CDP session, to be sent again when the browser forgets them.
pub const SETTINGS_PER_SESSION: usize = 64;

/// Bytes of setting commands kept for each CDP session.
pub const SETTINGS_BYTES_PER_SESSION: usize = 64 * 1024;

/// Weak signs of a loss that are remembered.
pub const LOSS_SIGNALS: usize = 10;

/// How near a transport error a weak sign must be to prove that the browser is gone.
pub const LOSS_WINDOW: Duration = Duration::from_secs(2);

/// Bytes queued towards one client above which droppable events are dropped.
pub const QUEUE_SOFT_BYTES: usize = 8 * 1024 * 1024;

/// Bytes queued towards one client above which it is disconnected; holds one full-size browser message.
pub const QUEUE_HARD_BYTES: usize = 256 * 1024 * 1024;

/// Frames queued towards one client above which droppable events are dropped.
pub const QUEUE_SOFT_FRAMES: usize = 8_192;

/// Frames queued towards one client above which it is disconnected.
pub const QUEUE_HARD_FRAMES: usize = 262_144;

/// Frames whose place in a page is remembered, to know whose a download is.
pub const FRAMES_REMEMBERED: usize = 16_384;

/// Downloads followed at once; one more is saved and told to nobody.
pub const DOWNLOADS_FOLLOWED: usize = 1_024;

/// Documents of one page whose server's address is remembered: as many as a browser keeps for going back, and more.
pub const DOCUMENTS_REMEMBERED: usize = 64;

/// Frames of one target whose URLs are known; a page with more is not judged, and its content is refused.
pub const FRAMES_PER_PAGE: usize = 4_096;

/// Letters of a frame's URL that are kept: longer than any path that grants name.
pub const FRAME_URL_LETTERS: usize = 2_048;

/// URLs that frames went to, remembered to judge answers that were under way meanwhile.
pub const FRAME_MOVES: usize = 4_096;

/// Commands of one CDP session that wait until the frames of its target are known.
pub const WAITING_FOR_FRAMES: usize = 1_024;

/// Execution contexts remembered for each CDP session.
pub const CONTEXTS_REMEMBERED: usize = 8_192;

/// Requests remembered for each CDP session, so that their bodies can be judged.
pub const REQUESTS_REMEMBERED: usize = 4_096;

/// Redirects of one request that are remembered; browsers follow twenty.
pub const REQUEST_HOPS: usize = 32;

/// Streams remembered for each CDP session.
pub const STREAMS_REMEMBERED: usize = 256;

/// Entries of a page's history that are remembered; browsers keep fifty.
pub const HISTORY_ENTRIES: usize = 256;

/// Events kept for each CDP session until the request they tell of is known.
pub const EARLY_EVENTS: usize = 256;

/// Frames that clients sent somewhere and whose redirects are judged as those of pages are.
pub const NAVIGATED_FRAMES: usize = 256;
