//! Bounds of the engine, each with its reason.

use std::time::Duration;

/// Characters of a page's text that are returned when a page is opened.
pub const OUTLINE_CHARACTERS: usize = 4_000;

/// Largest result of an evaluation that is returned whole.
pub const RESULT_BYTES: usize = 256 * 1024;

/// How long setting up a tab (attaching, enabling) may take.
pub const SETUP_DEADLINE: Duration = Duration::from_secs(10);

/// Tab numbers set aside ahead of use, so that a crash never gives one out twice.
pub const TAB_NUMBERS_AHEAD: u32 = 64;

/// Events of a page held for its watcher; beyond this a gap is logged.
pub const PAGE_EVENTS: usize = 8_192;

/// Lines of a page's console that are kept; older ones go first.
pub const CONSOLE_ENTRIES: usize = 500;

/// Characters of one console line that are kept.
pub const CONSOLE_CHARACTERS: usize = 2_000;

/// How much longer than a wait inside the page its answer is waited for, so that the page can say why it failed.
pub const PAGE_GRACE: Duration = Duration::from_secs(2);

/// How long an action's answer waits for a page that is loading because of it.
pub const SETTLE_LOADING: Duration = Duration::from_secs(10);

/// How long an action's answer waits for requests that the page made because of it.
pub const SETTLE_REQUESTS: Duration = Duration::from_secs(3);

/// How long an action's answer waits for a document that keeps changing.
pub const SETTLE_QUIET: Duration = Duration::from_millis(500);

/// Console errors that an action's answer tells.
pub const ERRORS_TOLD: usize = 5;

/// How long an action's answer waits for animations that the action began.
pub const SETTLE_ANIMATION: Duration = Duration::from_millis(1_000);

/// How long the page agent may take to say whether a document is at rest.
pub const SETTLE_ANSWER: Duration = Duration::from_secs(3);

/// How long an action's answer waits for a window that the page said it opens.
pub const SETTLE_WINDOW: Duration = Duration::from_secs(2);
