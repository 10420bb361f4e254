//! Bounds of the engine, each with its reason.

use std::time::Duration;

/// Characters of a page's text that are returned when a page is opened.
pub const OUTLINE_CHARACTERS: usize = 4_000;

/// Largest result of an evaluation that is returned whole.
pub const RESULT_BYTES: usize = 256 * 1024;

/// Origins whose visits are remembered for saving their storage; later ones are not.
pub const VISITED_ORIGINS: usize = 1_000;

/// Characters of such a script that are shown in a list.
pub const INIT_SCRIPT_SHOWN: usize = 80;

/// How long setting up a tab (attaching, enabling) may take.
pub const SETUP_DEADLINE: Duration = Duration::from_secs(10);

/// Tab numbers set aside ahead of use, so that a crash never gives one out twice.
pub const TAB_NUMBERS_AHEAD: u32 = 64;

/// Lines of a page's console that are kept; older ones go first.
pub const CONSOLE_ENTRIES: usize = 500;

/// Characters of one console line that are kept.
pub const CONSOLE_CHARACTERS: usize = 2_000;

/// How much longer than a wait inside the page its response is waited for, so that the page can say why it failed.
pub const PAGE_GRACE: Duration = Duration::from_secs(2);

/// How long an action's answer waits for a page that is loading because of it.
pub const SETTLE_LOADING: Duration = Duration::from_secs(10);

/// How long an action's answer waits for requests that the page made because of it.
pub const SETTLE_REQUESTS: Duration = Duration::from_secs(3);

/// Characters typed before the browser's answers are waited for.
pub const KEYS_AT_ONCE: usize = 64;

/// The pause after each key when a text is typed slowly: as a fast typist does.
pub const KEY_PAUSE: Duration = Duration::from_millis(50);

/// How long a box that was clicked may take to show that it is ticked.
pub const TICK_TIMEOUT: Duration = Duration::from_millis(1_500);

/// How long the browser may take to hand over a drag that the page has begun.
pub const DRAG_TIMEOUT: Duration = Duration::from_secs(2);

/// Moves that a drag is made of, so that what lies between is passed as by a hand.
pub const DRAG_STEPS: u8 = 10;

/// How long a link that was clicked for a new tab may take to open it.
pub const NEW_TAB_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the browser may take to send the mouse to a frame that has just been scrolled into view.
pub const REACH_TIMEOUT: Duration = Duration::from_secs(2);

/// The same for the page itself, which gets what is sent to it in any case unless a frame of another origin does.
pub const REACH_MAIN_TIMEOUT: Duration = Duration::from_millis(250);

/// How long a page that is on its way to another document is given to get there before something on it is pressed that
/// a ref stood for: what is pressed in that moment may go to the other document.
pub const LEAVE_TIMEOUT: Duration = Duration::from_millis(250);

/// Pause between two looks at whether it got there.
pub const LEAVE_LOOK: Duration = Duration::from_millis(5);

/// How long a frame is given to see one move of the mouse.
pub const REACH_LOOK: Duration = Duration::from_millis(50);

/// How long a frame may take to say whether it saw it; one that runs no scripts never does.
pub const REACH_RESPONSE: Duration = Duration::from_millis(1_000);

/// How long a tap may take to become a click; a page that prevents it never gets one.
pub const TAP_TIMEOUT: Duration = Duration::from_millis(500);

/// Characters a token is taken for when a budget is given in tokens.
pub const CHARACTERS_PER_TOKEN: usize = 4;

/// Tokens of a snapshot unless told otherwise.
pub const SNAPSHOT_TOKENS: usize = 4_000;

/// Characters of a snapshot that are never exceeded, in full mode either.
pub const SNAPSHOT_CHARACTERS: usize = 1024 * 1024;

/// A snapshot longer than this is written densely: several things on a line, fewer refs and targets.
pub const SNAPSHOT_SPACIOUS: usize = 3_000;

/// Characters of a line on which several things stand.
pub const SNAPSHOT_LINE: usize = 160;

/// Levels of nesting that are distinguished; what is deeper stands on the last one.
pub const SNAPSHOT_DEPTH: u16 = 32;

/// Characters of any one string of a page that are kept.
pub const PAGE_STRING_CHARACTERS: usize = 8_192;

/// Characters of a title that are told.
pub const TITLE_CHARACTERS: usize = 200;

/// Characters of a title that was asked for by itself.
pub const WHOLE_TITLE_CHARACTERS: usize = 2_000;

/// Characters of an address in data.
pub const URL_CHARACTERS: usize = 4_096;

/// Characters of an address on a line of text.
pub const LINE_URL_CHARACTERS: usize = 500;

/// Characters of what a dialog says.
pub const DIALOG_CHARACTERS: usize = 2_000;

/// Characters of a text of a page that a line quotes.
pub const QUOTED_CHARACTERS: usize = 500;

/// Characters of a failure's message, and of its hint.
pub const FAILURE_CHARACTERS: usize = 2_000;

/// Characters of a link's target that are written.
pub const LINK_TARGET_CHARACTERS: usize = 60;

/// Refs a tab keeps; the oldest go first.
pub const REFS_KEPT: usize = 65_536;

/// Characters of a page's own address that are written.
pub const PAGE_URL_CHARACTERS: usize = 160;

/// Additions and removals a delta has at most; beyond that the whole snapshot is shorter to read.
pub const DELTA_STEPS: usize = 400;

/// Snapshots remembered for deltas, one for each way of asking.
pub const SNAPSHOTS_REMEMBERED: usize = 4;

/// Characters of what is searched for.
pub const PATTERN_CHARACTERS: usize = 1_000;

/// Bytes a regular expression may take when it is compiled.
pub const PATTERN_BYTES: usize = 1024 * 1024;

/// Characters of a page that are searched at a time.
pub const SEARCH_PORTION: usize = 1024 * 1024;

/// Matches of a search that are shown.
pub const SEARCH_MATCHES: usize = 40;

/// A row or list item of at most this many nodes is shown whole when something in it matches.
pub const SEARCH_ROW: usize = 16;

/// Largest download unless the caller says otherwise; larger ones are cancelled.
pub const DOWNLOAD_BYTES: u64 = 256 * 1024 * 1024;

/// Downloads of a browser that are remembered; older ones are forgotten first, their files stay.
pub const DOWNLOADS_REMEMBERED: usize = 200;

/// Downloads under way at once; a page that begins more has them cancelled.
pub const DOWNLOADS_AT_ONCE: usize = 32;

/// How long an action's answer waits for downloads that it set off; longer ones are told as under way.
pub const SETTLE_DOWNLOAD: Duration = Duration::from_secs(1);

/// How long a click may take to begin a download.
pub const DOWNLOAD_BEGINS: Duration = Duration::from_secs(10);

/// Files that are given to a page at once.
pub const UPLOAD_FILES: usize = 100;

/// Characters of a page's text, Markdown or HTML that one response has unless more are asked for.
pub const READING_CHARACTERS: usize = 40_000;

/// Characters of a page's text, Markdown or HTML that one response has at most.
pub const READING_CHARACTERS_MOST: usize = 1_000_000;

/// Links that one response lists unless more are asked for.
pub const LINKS_LISTED: usize = 200;

/// Lines of the console that one response tells unless more are asked for; the newest ones.
pub const CONSOLE_REPORTED: usize = 100;

/// Requests of a page that are kept; older ones go first.
pub const REQUEST_ENTRIES: usize = 1_000;

/// Requests of a page that are kept while they are recorded.
pub const RECORDED_REQUESTS: usize = 10_000;

/// Bytes of bodies that one recording holds; what comes after is recorded without its body.
pub const RECORDED_BYTES: usize = 64 * 1024 * 1024;

/// How long a recording waits for one body.
pub const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// News of requests held until the requests themselves are told.
pub const EARLY_NEWS: usize = 256;

/// Messages of one WebSocket or event stream that are kept; older ones go first.
pub const MESSAGES: usize = 200;

/// Characters of one message that are kept.
pub const MESSAGE_CHARACTERS: usize = 4_000;

/// Largest body of a request that is kept in the log; larger ones are asked for.
pub const POST_DATA_BYTES: usize = 64 * 1024;

/// Requests that are listed at once unless asked otherwise.
pub const REQUESTS_LISTED: usize = 100;

/// Characters of a body that are shown; the whole can be saved.
pub const BODY_CHARACTERS: usize = 20_000;

/// Held requests that wait for a verdict; beyond this all that are held go on.
pub const HELD_REQUESTS: usize = 4_096;

/// How long the browser may take to let a held request go.
pub const VERDICT_DEADLINE: Duration = Duration::from_secs(10);

/// Requests whose server was told a password; a second question means it was wrong.
pub const CHALLENGES_REMEMBERED: usize = 64;

/// Rules a page can have.
pub const ROUTES: usize = 200;

/// Largest body a rule answers with.
pub const ROUTE_BODY_BYTES: usize = 16 * 1024 * 1024;

/// How long a navigation waits for a page that was only just taken up.
pub const FIRST_STEPS: Duration = Duration::from_millis(500);

/// How long a change to a tab's network waits for processes that are on their way to another document.
pub const SETTING_TIMEOUT: Duration = Duration::from_secs(1);

/// Pixels of one side of an image that is taken: what graphics cards and browsers can do.
pub const CAPTURE_PIXELS: f64 = 16_384.0;

/// CSS pixels of one side of an image that is shrunk afterwards: of a larger one nothing could be read.
pub const CAPTURE_SHRUNK: f64 = 8_192.0;

/// Bytes of a page in print.
pub const PDF_BYTES: usize = 256 * 1024 * 1024;
/// Bytes of a trace that are written; beyond this it is cut after a whole event.
pub const TRACE_BYTES: u64 = 256 * 1024 * 1024;

/// Bytes of a trace that are asked for at a time.
pub const TRACE_PIECE: u64 = 1024 * 1024;

/// What the browser may set aside for a trace, in KiB; when it is full nothing more is traced.
pub const TRACE_BUFFER_KIB: u64 = 200 * 1024;

/// Scripts of a trace whose time is added up.
pub const TRACE_SCRIPTS: usize = 1_000;

/// Scripts that a trace's summary names: those that took longest.
pub const TRACE_SCRIPTS_REPORTED: usize = 5;

/// How long gathering evidence of one action may take.
pub const EVIDENCE_DEADLINE: Duration = Duration::from_secs(10);

/// How long an action waits for a look at the page before it, so that evidence can tell what changed.
pub const EVIDENCE_BEFORE: Duration = Duration::from_secs(2);

/// Tabs of which the last look is remembered for evidence.
pub const EVIDENCE_TABS: usize = 64;

/// Characters of an action's answer that evidence repeats.
pub const EVIDENCE_RESULT: usize = 4_000;

/// Bytes a recording may have; when it is full it ends by itself.
pub const RECORDING_BYTES: u64 = 64 * 1024 * 1024;

/// How long a recording may take before it ends by itself.
pub const RECORDING_TIME: Duration = Duration::from_secs(600);

/// The longest side of a recording's images, in pixels.
pub const RECORDING_SIDE: u32 = 1_280;

/// The shortest time between two images of a recording.
pub const RECORDING_GAP: Duration = Duration::from_millis(66);

/// Images a second in a movie.
pub const RECORDING_RATE: u32 = 10;

/// How long the start of a recording waits for its first image.
pub const RECORDING_FIRST: Duration = Duration::from_secs(3);

/// How long a tab may take to close before it is asked again.
pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// How many refs of a snapshot are offered for completion.
pub const KNOWN_REFS: usize = 500;

/// How long a page may take to show the fields of a login; pages draw them late.
pub const LOGIN_FIELDS_DEADLINE: Duration = Duration::from_secs(5);

/// How long between two looks for them.
pub const LOGIN_LOOK: Duration = Duration::from_millis(50);

/// How many frames inside each other are followed to find the one that gets input.
pub const FRAMES_DEEP: usize = 32;

/// For how long images of a recording may still show a frame that is gone.
pub const PICTURE_AFTERGLOW: Duration = Duration::from_secs(1);

/// Frames of a page that are listed.
pub const FRAMES_REPORTED: usize = 200;
