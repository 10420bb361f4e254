//! The two built-in policies of a session.

use serde::{Deserialize, Serialize};

/// The default for sites without a grant or denial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyProfile {
    /// All of the web is allowed, except denied sites and cloud metadata services.
    #[default]
    Open,
    /// Only granted access is allowed, reading included.
    Guarded,
}

impl PolicyProfile {
    /// Its name in options.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Guarded => "guarded",
        }
    }

    /// Parses a name.
    #[must_use]
    pub fn find(word: &str) -> Option<Self> {
        [Self::Open, Self::Guarded].into_iter().find(|profile| profile.as_str() == word)
    }

    /// The one of two that allows less.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        self.max(other)
    }
}
