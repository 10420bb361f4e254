//! How Tabwire reaches a browser.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How Tabwire reaches a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UpstreamKind {
    /// Launched by Tabwire, over its debugging pipe.
    Pipe,
    /// Attached or remote, over a websocket.
    Websocket,
    /// The user's own Chrome, through the extension.
    Extension,
}

impl UpstreamKind {
    /// The name in tab ids.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pipe => "pipe",
            Self::Websocket => "websocket",
            Self::Extension => "extension",
        }
    }

    /// Parses a name.
    #[must_use]
    pub fn find(word: &str) -> Option<Self> {
        [Self::Pipe, Self::Websocket, Self::Extension].into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for UpstreamKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
