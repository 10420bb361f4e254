//! One message of a WebSocket or of a stream of server-sent events. Knows nothing of connections.

use schemars::JsonSchema;
use serde::Serialize;

use crate::limits::MESSAGE_CHARACTERS;

/// Which way a message went, or which kind it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// From the page.
    Sent,
    /// To the page.
    Received,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Message {
    /// Which way it went.
    pub(crate) direction: Direction,
    /// Milliseconds since the request began.
    pub(crate) after: u64,
    /// What it says, cut at a limit; bytes that are no text in base64.
    pub(crate) text: String,
    /// Whether the text is base64.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) binary: bool,
    /// How many characters it has, when it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cut_from: Option<usize>,
    /// The name of a server-sent event, when it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event: Option<String>,
}

impl Message {
    /// Makes a message of what the browser tells.
    pub(crate) fn new(
        direction: Direction,
        after: u64,
        text: &str,
        binary: bool,
        event: Option<String>,
    ) -> Self {
        let end = text.char_indices().nth(MESSAGE_CHARACTERS).map(|(at, _)| at);
        let cut_from = end.map(|_| text.chars().count());
        let text = end.map_or(text, |end| &text[..end]).to_owned();
        Self { direction, after, text, binary, cut_from, event }
    }
}
