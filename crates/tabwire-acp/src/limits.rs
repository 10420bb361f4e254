//! The bounds on what an agent can send.

/// Longest line. Results of tools can contain images.
pub const LINE_BYTES: usize = 16 * 1024 * 1024;

/// Longest text of one item of a transcript.
pub const ITEM_TEXT_BYTES: usize = 256 * 1024;

/// Items of a transcript. The oldest are dropped.
pub const ITEMS: usize = 4_000;

/// Text of a whole transcript. The oldest items are dropped.
pub const TRANSCRIPT_BYTES: usize = 4 * 1024 * 1024;

/// Longest name, id or title.
pub const NAME_BYTES: usize = 512;

/// Longest description, question or input of a tool call, as text.
pub const DETAIL_BYTES: usize = 16 * 1024;

/// Questions of an agent that wait at once.
pub const QUESTIONS: usize = 32;

/// Requests to the agent that wait at once.
pub const REQUESTS: usize = 64;

/// Options of a session, commands of an agent, entries of a plan, fields of a form.
pub const LIST_ENTRIES: usize = 256;

/// Tool calls of a turn whose facts are kept for permission requests.
pub const TURN_TOOLS: usize = 1_024;
