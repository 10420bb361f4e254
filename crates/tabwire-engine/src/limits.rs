//! Limits and timeouts of the engine.

use std::time::Duration;

/// Characters of a page's text in the result of opening it.
pub const OUTLINE_CHARACTERS: usize = 4_000;

/// Largest result of an evaluation that is returned as a whole, in bytes.
pub const RESULT_BYTES: usize = 256 * 1024;

/// Visited origins whose storage can be saved. Later ones are ignored.
pub const VISITED_ORIGINS: usize = 1_000;

/// Characters of an init script in a list.
pub const INIT_SCRIPT_SHOWN: usize = 80;

/// How long the setup of a tab may take.
pub const SETUP_DEADLINE: Duration = Duration::from_secs(10);

/// Tab numbers that are reserved in advance, so that none is reused after a crash.
pub const TAB_NUMBERS_AHEAD: u32 = 64;

/// Console lines per page. The oldest are dropped first.
pub const CONSOLE_ENTRIES: usize = 500;

/// Characters of one console line.
pub const CONSOLE_CHARACTERS: usize = 2_000;

/// How much longer the engine waits than the page agent, so that the agent's error arrives first.
pub const PAGE_GRACE: Duration = Duration::from_secs(2);

/// How long an action that reads searches for its element, if the caller gives no timeout.
pub const FIND_TIMEOUT: Duration = Duration::from_secs(5);

/// How long typing and hovering wait for a list that the page opens with a delay, in milliseconds.
pub const DEBOUNCE_MILLISECONDS: u64 = 400;

/// How long a new tab may take to show its first document, for the result that reports it.
pub const NEW_PAGE_TIMEOUT: Duration = Duration::from_millis(1_500);

/// How long a drag rests on its end before the button is released. Lists reorder their rows meanwhile.
pub const DRAG_REST: Duration = Duration::from_millis(150);

/// How long an action waits for a page load that it started.
pub const SETTLE_LOADING: Duration = Duration::from_secs(10);

/// How long an action waits for requests that it started.
pub const SETTLE_REQUESTS: Duration = Duration::from_secs(3);

/// Characters that are typed as one batch.
pub const KEYS_AT_ONCE: usize = 64;

/// The pause after each key when text is typed slowly: the speed of a fast typist.
pub const KEY_PAUSE: Duration = Duration::from_millis(50);

/// How long a clicked checkbox may take to change its state.
pub const CHECKED_TIMEOUT: Duration = Duration::from_millis(1_500);

/// How long Chrome may take to report a drag that the page started.
pub const DRAG_TIMEOUT: Duration = Duration::from_secs(2);

/// Mouse moves of a drag, so that elements on the path see it.
pub const DRAG_STEPS: u8 = 10;

/// How long a click on a link may take to open a new tab.
pub const NEW_TAB_TIMEOUT: Duration = Duration::from_secs(3);

/// How long Chrome may take to send mouse input to a frame that was just scrolled into view.
pub const REACH_TIMEOUT: Duration = Duration::from_secs(2);

/// The same for the main frame, which receives the input anyway unless a frame of another process does.
pub const REACH_MAIN_TIMEOUT: Duration = Duration::from_millis(250);

/// How long input to a ref waits for a pending navigation: input at that moment may hit the next document.
pub const LEAVE_TIMEOUT: Duration = Duration::from_millis(250);

/// Interval of checks whether the navigation is over.
pub const LEAVE_INTERVAL: Duration = Duration::from_millis(5);

/// How long a frame may take to receive one mouse move.
pub const REACH_INTERVAL: Duration = Duration::from_millis(50);

/// How long a frame may take to report a mouse move. A frame that runs no scripts never reports.
pub const REACH_RESPONSE: Duration = Duration::from_millis(1_000);

/// How long a tap may take to become a click. The page may prevent the click.
pub const TAP_TIMEOUT: Duration = Duration::from_millis(500);

/// Characters per token, for budgets in tokens.
pub const CHARACTERS_PER_TOKEN: usize = 4;

/// Default size of a snapshot in tokens.
pub const SNAPSHOT_TOKENS: usize = 4_000;

/// Most characters of a snapshot, also of a full one.
pub const SNAPSHOT_CHARACTERS: usize = 1024 * 1024;

/// Characters beyond which a snapshot is compact: several elements on a line, fewer refs and link targets.
pub const SNAPSHOT_VERBOSE: usize = 3_000;

/// Characters of a line with several elements.
pub const SNAPSHOT_LINE: usize = 160;

/// Most levels of nesting. Deeper elements are on the last level.
pub const SNAPSHOT_DEPTH: u16 = 32;

/// Characters of any one string of a page.
pub const PAGE_STRING_CHARACTERS: usize = 8_192;

/// Characters of a title in a result.
pub const TITLE_CHARACTERS: usize = 200;

/// Characters of a title that was requested alone.
pub const WHOLE_TITLE_CHARACTERS: usize = 2_000;

/// Characters of a URL in JSON.
pub const URL_CHARACTERS: usize = 4_096;

/// Characters of a URL on a line of text.
pub const LINE_URL_CHARACTERS: usize = 500;

/// Characters of a dialog's text.
pub const DIALOG_CHARACTERS: usize = 2_000;

/// Characters of a field's value that a result's text quotes. The data has more of it.
pub const ECHO_CHARACTERS: usize = 120;

/// Characters of page text that a line quotes.
pub const QUOTED_CHARACTERS: usize = 500;

/// Characters of an error message, and of its remedy.
pub const FAILURE_CHARACTERS: usize = 2_000;

/// Characters of a link target in a snapshot.
pub const LINK_TARGET_CHARACTERS: usize = 60;

/// Refs per tab. The oldest expire first.
pub const REFS_KEPT: usize = 65_536;

/// Characters of the page's URL in a snapshot.
pub const PAGE_URL_CHARACTERS: usize = 160;

/// Most additions and removals of a delta. Beyond that the whole snapshot is shorter.
pub const DELTA_STEPS: usize = 400;

/// How long an action waits for a snapshot before it, so that its result can contain only changes.
pub const BASELINE_TIMEOUT: Duration = Duration::from_secs(2);

/// Snapshots that are kept for deltas, one per set of options.
pub const SNAPSHOTS_REMEMBERED: usize = 4;

/// Characters of a search pattern.
pub const PATTERN_CHARACTERS: usize = 1_000;

/// Bytes of a compiled regular expression.
pub const PATTERN_BYTES: usize = 1024 * 1024;

/// Characters of a page that are searched in one step.
pub const SEARCH_PORTION: usize = 1024 * 1024;

/// The largest `limit` of a search.
pub const SEARCH_LIMIT: usize = 1_000;

/// Matches in the result of a search.
pub const SEARCH_MATCHES: usize = 40;

/// A matching row or list item of at most this many nodes is shown as a whole.
pub const SEARCH_ROW: usize = 16;

/// Default size limit of a download in bytes. Larger ones are cancelled.
pub const DOWNLOAD_BYTES: u64 = 256 * 1024 * 1024;

/// Downloads in the log of a browser. The oldest are dropped first; their files stay.
pub const DOWNLOADS_REMEMBERED: usize = 200;

/// Concurrent downloads. Further ones are cancelled.
pub const DOWNLOADS_AT_ONCE: usize = 32;

/// How long an action waits for downloads that it started. Slower ones are reported as in progress.
pub const SETTLE_DOWNLOAD: Duration = Duration::from_secs(1);

/// How long a click may take to start a download.
pub const DOWNLOAD_BEGINS: Duration = Duration::from_secs(10);

/// Files of one upload.
pub const UPLOAD_FILES: usize = 100;

/// Default characters of a page's text, Markdown or HTML in one result.
pub const READING_CHARACTERS: usize = 40_000;

/// Most characters of a page's text, Markdown or HTML in one result.
pub const READING_CHARACTERS_MOST: usize = 1_000_000;

/// Default number of links in one result.
pub const LINKS_LISTED: usize = 200;

/// Default number of console lines in one result: the newest ones.
pub const CONSOLE_REPORTED: usize = 100;

/// Requests in the log of a page. The oldest are dropped first.
pub const REQUEST_ENTRIES: usize = 1_000;

/// Requests in the log of a page during a recording.
pub const RECORDED_REQUESTS: usize = 10_000;

/// Bytes of all bodies in one recording. Later requests are recorded without their bodies.
pub const RECORDED_BYTES: usize = 64 * 1024 * 1024;

/// How long a recording waits for a body.
pub const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// Early request data: events that arrived before `Network.requestWillBeSent` of their request.
pub const EARLY_REQUEST_DATA: usize = 256;

/// Messages of one WebSocket or event stream. The oldest are dropped first.
pub const MESSAGES: usize = 200;

/// Characters of one message.
pub const MESSAGE_CHARACTERS: usize = 4_000;

/// Largest request body in the log, in bytes. Larger ones are fetched on demand.
pub const POST_DATA_BYTES: usize = 64 * 1024;

/// Default number of requests in a list.
pub const REQUESTS_LISTED: usize = 100;

/// Characters of a body in a result. The whole body can be saved.
pub const BODY_CHARACTERS: usize = 20_000;

/// Paused requests that wait for a decision. Beyond this all paused requests continue.
pub const HELD_REQUESTS: usize = 4_096;

/// How long a command for a paused request may take.
pub const VERDICT_DEADLINE: Duration = Duration::from_secs(10);

/// Requests that sent credentials. A second challenge for one means that they were wrong.
pub const CHALLENGES_REMEMBERED: usize = 64;

/// Routes per page.
pub const ROUTES: usize = 200;

/// Largest body of a route's response, in bytes.
pub const ROUTE_BODY_BYTES: usize = 16 * 1024 * 1024;

/// How long a navigation waits for the setup of a page that was just attached.
pub const FIRST_SETUP_TIMEOUT: Duration = Duration::from_millis(500);

/// How long a change of network settings waits for processes that are navigating.
pub const SETTING_TIMEOUT: Duration = Duration::from_secs(1);

/// Longest side of a screenshot in pixels: the limit of graphics cards and browsers.
pub const SCREENSHOT_PIXELS: f64 = 16_384.0;

/// Longest side in CSS pixels of a screenshot that is shrunk afterwards. A larger one would be unreadable.
pub const SCREENSHOT_SHRUNK: f64 = 8_192.0;

/// Bytes of a PDF.
pub const PDF_BYTES: usize = 256 * 1024 * 1024;
/// Bytes of a trace file. A longer trace is cut after a whole event.
pub const TRACE_BYTES: u64 = 256 * 1024 * 1024;

/// Bytes of a trace that are read at a time.
pub const TRACE_PIECE: u64 = 1024 * 1024;

/// The browser's trace buffer in KiB. Tracing ends when it is full.
pub const TRACE_BUFFER_KIB: u64 = 200 * 1024;

/// Scripts of a trace whose time is summed.
pub const TRACE_SCRIPTS: usize = 1_000;

/// Scripts in the summary of a trace: the slowest ones.
pub const TRACE_SCRIPTS_REPORTED: usize = 5;

/// How long the capture of one action may take.
pub const CAPTURE_DEADLINE: Duration = Duration::from_secs(10);

/// How long an action waits for a snapshot before it, so that its capture can list changes.
pub const CAPTURE_BEFORE: Duration = Duration::from_secs(2);

/// Tabs whose last snapshot is kept for captures.
pub const CAPTURE_TABS: usize = 64;

/// Bytes of an action's result in the index of captures. A longer one is left out.
pub const CAPTURE_RESULT: usize = 4_000;

/// Bytes of a recording. It ends when it is full.
pub const RECORDING_BYTES: u64 = 64 * 1024 * 1024;

/// Longest duration of a recording.
pub const RECORDING_TIME: Duration = Duration::from_secs(600);

/// The longest side of a recording's frames, in pixels.
pub const RECORDING_SIDE: u32 = 1_280;

/// The shortest time between two frames of a recording.
pub const RECORDING_GAP: Duration = Duration::from_millis(66);

/// Frames per second of a video.
pub const RECORDING_RATE: u32 = 10;

/// How long the start of a recording waits for its first frame.
pub const RECORDING_FIRST: Duration = Duration::from_secs(3);

/// How long a tab may take to close before the command is repeated.
pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Refs of a snapshot that are offered for completion.
pub const KNOWN_REFS: usize = 500;

/// How long a page may take to show its login fields. Many pages render them late.
pub const LOGIN_FIELDS_DEADLINE: Duration = Duration::from_secs(5);

/// Interval of checks for login fields.
pub const LOGIN_INTERVAL: Duration = Duration::from_millis(50);

/// Levels of nested frames that are followed to find the one that receives input.
pub const NESTED_FRAMES: usize = 32;

/// How long frames of a recording may still show a removed iframe.
pub const FRAME_AFTERGLOW: Duration = Duration::from_secs(1);

/// Frames in a list.
pub const FRAMES_REPORTED: usize = 200;
