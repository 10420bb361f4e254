//! Limits of the MCP server.

use std::time::Duration;

/// Most tokens of the default tool list, at four bytes each. Every conversation pays for them.
pub const LIST_TOKENS: usize = 4_000;

/// Most characters of one result. The rest is kept and can be read with its handle.
pub const RESULT_CHARACTERS: usize = 45_000;

/// Most characters of a note after a result.
pub const NOTE_CHARACTERS: usize = 2_000;

/// Truncated results that are kept per connection. The oldest is removed first.
pub const KEPT_RESPONSES: usize = 16;

/// Most characters of one kept result. Longer results lose their end, with a note.
pub const KEPT_CHARACTERS: usize = 2_000_000;

/// Largest image that is sent in a result. A larger one is linked.
pub const IMAGE_BYTES: usize = 4 * 1024 * 1024;

/// Concurrent calls of one connection. More are refused.
pub const CALLS_AT_ONCE: usize = 64;

/// Time before the first progress notification of a call, and between two of them.
pub const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// How long running calls may take after their client has closed its input.
pub const LAST_CALLS: Duration = Duration::from_millis(700);

/// Longest line of a client.
pub const LINE_BYTES: usize = 8 * 1024 * 1024;

/// Rows of the audit log that are shown.
pub const AUDIT_ROWS: usize = 50;

/// Clients that may be served over HTTP at once.
pub const HTTP_CLIENTS: usize = 64;

/// How long a client over HTTP may be silent before it counts as gone.
pub const HTTP_SILENCE: Duration = Duration::from_secs(600);

/// Calls of one connection that may wait for the user's answer to a returned question.
pub const WAITING_CALLS: usize = 16;

/// How long such a call is kept after the question's deadline, so that its client can read the result.
pub const WAITING_GRACE: Duration = Duration::from_secs(60);

/// How long the client's user may take to answer a question.
pub const QUESTION_TIMEOUT: Duration = Duration::from_secs(60);

/// Images that one run of a script shows.
pub const SCRIPT_IMAGES: usize = 8;
