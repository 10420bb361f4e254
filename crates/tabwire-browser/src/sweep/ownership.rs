//! How a session got its browser, which decides whether Tabwire may end it.

use serde::{Deserialize, Serialize};

/// How a session got its browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ownership {
    /// Started by Tabwire: its keeper ends it.
    Launched,
    /// Found running: Tabwire never closes it.
    Attached,
    /// Created for a session by a Grid or a provider, on another machine: Tabwire releases it.
    Rented,
}

impl Ownership {
    /// Whether Tabwire may end the browser.
    #[must_use]
    pub const fn may_close(self) -> bool {
        matches!(self, Self::Launched | Self::Rented)
    }

    /// Whether Tabwire launched it: it runs on this machine, with options and a profile of ours.
    #[must_use]
    pub const fn is_launched(self) -> bool {
        matches!(self, Self::Launched)
    }

    /// Its name in a status.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Launched => "launched",
            Self::Attached => "attached",
            Self::Rented => "rented",
        }
    }
}
