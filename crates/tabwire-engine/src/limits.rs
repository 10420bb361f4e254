//! Limits of the engine that users can notice (`pub`) or several files share.

use std::time::Duration;

/// Largest result of an evaluation that is returned as a whole, in bytes.
pub const RESULT_BYTES: usize = 256 * 1024;

/// How long the setup of a tab may take.
pub(crate) const SETUP_DEADLINE: Duration = Duration::from_secs(10);

/// Console lines per page. The oldest are dropped first.
pub const CONSOLE_ENTRIES: usize = 500;

/// Characters of one console line.
pub(crate) const CONSOLE_CHARACTERS: usize = 2_000;

/// Mouse moves of a drag, so that elements on the path see it.
pub(crate) const DRAG_STEPS: u8 = 10;

/// Default size of a snapshot in tokens.
pub const SNAPSHOT_TOKENS: usize = 4_000;

/// Most characters of a snapshot, also of a full one.
pub(crate) const SNAPSHOT_CHARACTERS: usize = 1024 * 1024;

/// Characters of any one string of a page.
pub(crate) const PAGE_STRING_CHARACTERS: usize = 8_192;

/// Characters of a title in a result.
pub(crate) const TITLE_CHARACTERS: usize = 200;

/// Characters of a field's value that a result's text quotes. The data has more of it.
pub(crate) const ECHO_CHARACTERS: usize = 120;

/// Characters of page text that a line quotes.
pub(crate) const QUOTED_CHARACTERS: usize = 500;

/// Characters of the page's URL in a snapshot.
pub(crate) const PAGE_URL_CHARACTERS: usize = 160;

/// Most additions and removals of a delta. Beyond that the whole snapshot is shorter.
pub(crate) const DELTA_STEPS: usize = 400;

/// Default size limit of a download in bytes. Larger ones are cancelled.
pub const DOWNLOAD_BYTES: u64 = 256 * 1024 * 1024;

/// Files of one upload.
pub const UPLOAD_FILES: usize = 100;

/// Default characters of a page's text, Markdown or HTML in one result.
pub const READING_CHARACTERS: usize = 40_000;

/// Most characters of a page's text, Markdown or HTML in one result.
pub const READING_CHARACTERS_MOST: usize = 1_000_000;

/// Requests in the log of a page. The oldest are dropped first.
pub const REQUEST_ENTRIES: usize = 1_000;

/// Routes per page.
pub const ROUTES: usize = 200;

/// Largest body of a route's response, in bytes.
pub(crate) const ROUTE_BODY_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of a recording. It ends when it is full.
pub const RECORDING_BYTES: u64 = 64 * 1024 * 1024;

/// Longest duration of a recording.
pub const RECORDING_TIME: Duration = Duration::from_secs(600);

/// Frames per second of a video.
pub(crate) const RECORDING_RATE: u32 = 10;

/// Events that wait for a script. More are counted and dropped.
pub(crate) const QUEUED_EVENTS: usize = 1_000;

/// How long a paused request waits for a script. Then it goes on.
pub(crate) const ROUTE_DECISION_TIMEOUT: Duration = Duration::from_secs(30);
