//! The browsers that Tabwire can launch, and their names.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A family of browsers that Tabwire can launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BrowserKind {
    /// Google Chrome.
    Chrome,
    /// Chromium, as Linux distributions package it.
    Chromium,
    /// Microsoft Edge.
    Edge,
    /// Brave.
    Brave,
    /// Mozilla's browser, over WebDriver BiDi.
    Firefox,
}

/// The release channel of a browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// The stable release.
    #[default]
    Stable,
    /// The next stable release.
    Beta,
    /// The development release.
    Dev,
    /// The nightly build.
    Canary,
}

/// Every kind and channel with its name and aliases.
const NAMES: &[(&str, BrowserKind, Channel)] = &[
    ("chrome", BrowserKind::Chrome, Channel::Stable),
    ("chromium", BrowserKind::Chromium, Channel::Stable),
    ("edge", BrowserKind::Edge, Channel::Stable),
    ("brave", BrowserKind::Brave, Channel::Stable),
    ("firefox", BrowserKind::Firefox, Channel::Stable),
    ("firefox-esr", BrowserKind::Firefox, Channel::Stable),
    ("chrome-beta", BrowserKind::Chrome, Channel::Beta),
    ("chrome-dev", BrowserKind::Chrome, Channel::Dev),
    ("chrome-canary", BrowserKind::Chrome, Channel::Canary),
    ("edge-beta", BrowserKind::Edge, Channel::Beta),
    ("edge-dev", BrowserKind::Edge, Channel::Dev),
    ("edge-canary", BrowserKind::Edge, Channel::Canary),
    ("brave-beta", BrowserKind::Brave, Channel::Beta),
    ("brave-dev", BrowserKind::Brave, Channel::Dev),
    ("brave-canary", BrowserKind::Brave, Channel::Canary),
    ("msedge", BrowserKind::Edge, Channel::Stable),
    ("msedge-beta", BrowserKind::Edge, Channel::Beta),
    ("msedge-dev", BrowserKind::Edge, Channel::Dev),
    ("msedge-canary", BrowserKind::Edge, Channel::Canary),
    ("google-chrome", BrowserKind::Chrome, Channel::Stable),
    ("beta", BrowserKind::Chrome, Channel::Beta),
    ("dev", BrowserKind::Chrome, Channel::Dev),
    ("canary", BrowserKind::Chrome, Channel::Canary),
    ("stable", BrowserKind::Chrome, Channel::Stable),
];

impl BrowserKind {
    /// The kind and channel of a name.
    #[must_use]
    pub fn find(word: &str) -> Option<(Self, Channel)> {
        let named = NAMES.iter().find(|(name, ..)| name.eq_ignore_ascii_case(word));
        named.map(|(_, kind, channel)| (*kind, *channel))
    }

    /// Every kind and channel once, stable releases first.
    pub fn all() -> impl Iterator<Item = (Self, Channel)> {
        let mut seen = Vec::new();
        NAMES.iter().map(|(_, kind, channel)| (*kind, *channel)).filter(move |one| {
            let is_new = !seen.contains(one);
            seen.push(*one);
            is_new
        })
    }

    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chrome => "chrome",
            Self::Chromium => "chromium",
            Self::Edge => "edge",
            Self::Brave => "brave",
            Self::Firefox => "firefox",
        }
    }
}

impl fmt::Display for BrowserKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
