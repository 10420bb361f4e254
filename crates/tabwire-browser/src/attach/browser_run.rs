//! Identifies one run of a browser by its websocket URL.

use serde::{Deserialize, Serialize};
use url::Url;

use crate::files::stable_digest::stable_digest;

/// Path prefix of the browser-level websocket of Chromium browsers. A random id follows, new with every start.
const BROWSER_PATH: &str = "/devtools/browser/";

/// Identifies one start of a browser, to notice a restart at the same URL. Holds only a digest, because the id in the
/// URL gives full access to the browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BrowserRun(String);

impl BrowserRun {
    /// The run with this id.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self(stable_digest(name.as_bytes()))
    }

    /// The run in a websocket's URL. URLs of proxies and browser services may have none.
    pub(crate) fn find(websocket: &Url) -> Option<Self> {
        let name = websocket.path().strip_prefix(BROWSER_PATH)?;
        (!name.is_empty()).then(|| Self(stable_digest(name.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_identified_by_the_id_in_the_path() {
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
