//! Limits of the MCP server that users can notice (`pub`).

use std::time::Duration;

/// Most tokens of the default tool list, at four bytes each. Every conversation pays for them.
pub const LIST_TOKENS: usize = 4_000;

/// Most characters of one result. The rest is kept and can be read with its handle.
pub const RESULT_CHARACTERS: usize = 45_000;

/// Largest image that is sent in a result. A larger one is linked.
pub const IMAGE_BYTES: usize = 4 * 1024 * 1024;

/// Concurrent calls of one connection. More are refused.
pub const CALLS_AT_ONCE: usize = 64;

/// Clients that may be served over HTTP at once.
pub const HTTP_CLIENTS: usize = 64;

/// Calls of one connection that may wait for the user's answer to a returned question.
#[doc(hidden)]
pub const WAITING_CALLS: usize = 16;

/// How long the client's user may take to answer a question.
pub const QUESTION_TIMEOUT: Duration = Duration::from_secs(60);
