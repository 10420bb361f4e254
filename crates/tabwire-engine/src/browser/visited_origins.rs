//! The origins that pages and frames of a browser have visited, from target events.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError, Weak};

use tabwire_cdp::{CdpError, Feed, TargetInfo};
use url::Url;

/// Visited origins whose storage can be saved. Later ones are ignored.
const VISITED_ORIGINS: usize = 1_000;

/// Visited http and https origins, up to a limit.
#[derive(Debug, Default)]
pub(crate) struct VisitedOrigins {
    seen: Mutex<BTreeSet<String>>,
}

impl VisitedOrigins {
    /// Adds the origin of a URL.
    pub(crate) fn note(&self, url: &str) {
        let Some(origin) = origin_of(url) else { return };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < VISITED_ORIGINS {
            seen.insert(origin);
        }
    }

    /// The origins so far, in order.
    pub(crate) fn list(&self) -> BTreeSet<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds the URLs of all targets until the browser is gone.
    pub(crate) async fn follow(
        visited: Weak<Self>,
        mut created: Feed<TargetInfo>,
        mut changed: Feed<TargetInfo>,
    ) {
        loop {
            let event = tokio::select! {
                event = created.next() => event,
                event = changed.next() => event,
            };
            let Some(visited) = visited.upgrade() else { return };
            match event {
                Ok(info) if matches!(info.kind.as_str(), "page" | "iframe") => visited.note(&info.url),
                Ok(_) | Err(CdpError::Missed { .. }) => {}
                Err(_) => return,
            }
        }
    }
}

/// The origin of an http or https URL, as `location.origin` writes it.
#[must_use]
pub fn origin_of(url: &str) -> Option<String> {
    let url =
        Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())?;
    Some(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_origins_are_kept() {
        let visited = VisitedOrigins::default();
        for url in [
            "https://a.example/x?y",
            "https://a.example/z",
            "http://b.example:8080/",
            "https://c.example:443/",
            "about:blank",
            "data:,x",
            "file:///x",
            "chrome://newtab",
            "",
            "blob:https://d.example/1",
        ] {
            visited.note(url);
        }
        let listed: Vec<String> = visited.list().into_iter().collect();
        assert_eq!(listed, ["http://b.example:8080", "https://a.example", "https://c.example"]);
    }
}
