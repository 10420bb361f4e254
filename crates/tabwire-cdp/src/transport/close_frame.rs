//! The reason in a websocket's close frame.

/// The reason for closing a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CloseFrame {
    /// A normal close: 1000.
    #[default]
    Done,
    /// The served object is gone: 1001.
    Gone(&'static str),
    /// The peer reads too slowly: 1013.
    Overloaded(&'static str),
}

impl CloseFrame {
    /// The text beside the code; a close frame holds 123 bytes of it.
    pub(crate) fn sentence(self) -> &'static str {
        let text = match self {
            Self::Done => "",
            Self::Gone(text) | Self::Overloaded(text) => text,
        };
        let end = text
            .char_indices()
            .map(|(at, letter)| at + letter.len_utf8())
            .take_while(|end| *end <= 123)
            .last();
        text.get(..end.unwrap_or(0)).unwrap_or_default()
    }
}
