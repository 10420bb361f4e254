//! Engines that Tabwire does not support, with the message for each.

use std::fmt;

/// A browser engine that Tabwire cannot automate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherEngine {
    /// The engine of Safari, as Playwright and WebKitGTK build it.
    WebKit,
    /// Apple's browser.
    Safari,
}

impl OtherEngine {
    /// The engine of a name.
    #[must_use]
    pub fn find(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let kind = word.split('-').next().unwrap_or_default();
        match kind {
            "webkit" | "webkitgtk" | "epiphany" => Some(Self::WebKit),
            "safari" => Some(Self::Safari),
            _ => None,
        }
    }

    /// The message for the user.
    #[must_use]
    pub const fn state(self) -> &'static str {
        match self {
            Self::WebKit => {
                "WebKit cannot be driven yet, and persistent sessions do not exist for it: its automation ends with the connection that started it, and so do its tabs and logins."
            }
            Self::Safari => {
                "Safari cannot be driven yet: safaridriver gives one window to one client, and persistent sessions do not exist for WebKit."
            }
        }
    }
}

impl fmt::Display for OtherEngine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.state())
    }
}

#[cfg(test)]
mod tests {
    use super::OtherEngine;

    #[test]
    fn names_of_other_engines_are_recognized() {
        for (word, engine) in [
            ("WebKit-GTK", OtherEngine::WebKit),
            ("webkit", OtherEngine::WebKit),
            ("safari", OtherEngine::Safari),
        ] {
            assert_eq!(OtherEngine::find(word), Some(engine), "{word}");
        }
        for word in ["chrome", "chromium", "fire", "/usr/bin/firefox"] {
            assert_eq!(OtherEngine::find(word), None, "{word}");
        }
        assert!(OtherEngine::WebKit.state().contains("persistent sessions do not exist"));
    }
}
