//! Bounds of the MCP server, each with its reason.

use std::time::Duration;

/// Tokens that the list of usual tools may have, four bytes each; every conversation pays them.
pub const LIST_TOKENS: usize = 4_000;

/// Characters of one response; the rest is kept, and handed out by its handle.
pub const RESULT_CHARACTERS: usize = 45_000;

/// Characters of a note behind a response.
pub const NOTE_CHARACTERS: usize = 2_000;

/// Answers that were cut and whose rest is kept for a connection; the oldest goes first.
pub const KEPT_RESPONSES: usize = 16;

/// Characters of one kept answer; what is longer is cut for good, and that is said.
pub const KEPT_CHARACTERS: usize = 2_000_000;

/// Largest image that is sent within a response; a larger one is linked to.
pub const IMAGE_BYTES: usize = 4 * 1024 * 1024;

/// Calls of one connection under way at once; more are refused with what to do.
pub const CALLS_AT_ONCE: usize = 64;

/// How long a call may take before its progress is told, and how long between two tellings.
pub const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// How long calls under way may take once their client has stopped speaking.
pub const LAST_CALLS: Duration = Duration::from_millis(700);

/// Longest line of a client.
pub const LINE_BYTES: usize = 8 * 1024 * 1024;

/// Rows of the journal that are shown.
pub const JOURNAL_ROWS: usize = 50;

/// Clients that may be served over HTTP at once.
pub const HTTP_CLIENTS: usize = 64;

/// How long a client over HTTP may be silent before it counts as gone.
pub const HTTP_SILENCE: Duration = Duration::from_secs(600);

/// Calls of one connection that may wait for what somebody says, while the client has been told the question.
pub const WAITING_CALLS: usize = 16;

/// How long such a call is kept after its question's time is up, for its client to learn what came of it.
pub const WAITING_GRACE: Duration = Duration::from_secs(60);

/// How long somebody at the client may take to answer a question.
pub const ASKING_DEADLINE: Duration = Duration::from_secs(60);
