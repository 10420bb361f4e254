//! Who started a browser, which decides whether Tabwire may close it.

use serde::{Deserialize, Serialize};

/// Whose browser it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ownership {
    /// Started by us: its keeper ends it.
    Launched,
    /// Found running: never closed by us.
    Attached,
}

impl Ownership {
    /// Whether we may end the browser.
    #[must_use]
    pub const fn may_close(self) -> bool {
        matches!(self, Self::Launched)
    }
}
