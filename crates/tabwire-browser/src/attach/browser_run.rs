//! Which run of a browser a websocket belongs to.

use serde::{Deserialize, Serialize};
use url::Url;

use crate::files::stable_digest::stable_digest;

/// Where browsers of the Chromium family have their own websocket; a random name follows, new with every start.
const BROWSER_PATH: &str = "/devtools/browser/";

/// Tells one start of a browser from another at the same address. The name it is made of opens the browser to who knows
/// it, so only a digest is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BrowserRun(String);

impl BrowserRun {
    /// A run that tells its own name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self(stable_digest(name.as_bytes()))
    }

    /// The run that a websocket's address names; services in between may name none.
    pub(crate) fn find(websocket: &Url) -> Option<Self> {
        let name = websocket.path().strip_prefix(BROWSER_PATH)?;
        (!name.is_empty()).then(|| Self(stable_digest(name.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_told_apart_by_the_name_alone() {
        let run = |text: &str| BrowserRun::find(&Url::parse(text).expect(text));
        let first = run("ws://127.0.0.1:9222/devtools/browser/0f6c-1");
        assert!(first.is_some());
        assert_eq!(first, run("ws://localhost:9223/devtools/browser/0f6c-1"), "reached another way");
        assert_ne!(first, run("ws://127.0.0.1:9222/devtools/browser/0f6c-2"));
        for none in ["wss://example.org/?token=1", "ws://127.0.0.1:1/devtools/browser/"] {
            assert_eq!(run(none), None, "{none}");
        }
    }
}
