//! Whether Tabwire started a browser, which decides whether it may close it.

use serde::{Deserialize, Serialize};

/// Whether Tabwire started the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ownership {
    /// Started by Tabwire: its keeper ends it.
    Launched,
    /// Found running: Tabwire never closes it.
    Attached,
}

impl Ownership {
    /// Whether Tabwire may end the browser.
    #[must_use]
    pub const fn may_close(self) -> bool {
        matches!(self, Self::Launched)
    }
}
