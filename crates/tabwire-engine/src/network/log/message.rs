//! Messages of WebSockets and server-sent events.

use schemars::JsonSchema;
use serde::Serialize;

/// Characters of one message.
const MESSAGE_CHARACTERS: usize = 4_000;

/// The direction or kind of a message.
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
    /// Its direction.
    pub(crate) direction: Direction,
    /// Milliseconds since the request started.
    pub(crate) after: u64,
    /// Its text, cut at a limit; base64 for binary data.
    pub(crate) text: String,
    /// Whether the text is base64.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) binary: bool,
    /// Total characters, when it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cut_from: Option<usize>,
    /// The name of a server-sent event, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event: Option<String>,
}

impl Message {
    /// Creates a message from a CDP event.
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
