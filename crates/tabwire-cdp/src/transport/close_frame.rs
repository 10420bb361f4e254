//! Why a connection is closed, as a websocket says it.

/// The last words to a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CloseFrame {
    /// Nothing more to say: 1000.
    #[default]
    Done,
    /// What the connection was for is gone: 1001.
    Gone(&'static str),
    /// The peer does not keep up: 1013.
    Overloaded(&'static str),
}

impl CloseFrame {
    /// The sentence that goes with the code; a close frame has room for 123 bytes.
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
