//! The two built-in policies of a session.

use serde::{Deserialize, Serialize};

/// What holds in a session where nothing was granted or denied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyProfile {
    /// Everything of the web is allowed; what was denied, and where clouds give out credentials, is not.
    #[default]
    Open,
    /// Nothing is allowed that was not granted, reading included.
    Guarded,
}

impl PolicyProfile {
    /// The word it is asked for with.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Guarded => "guarded",
        }
    }

    /// Finds the profile a word names.
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
