//! The origins that pages and frames of a browser have been at, as far as the browser told. Knows nothing of storage.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError, Weak};

use tabwire_cdp::{CdpError, Feed, TargetInfo};
use url::Url;

use crate::limits::VISITED_ORIGINS;

/// Origins of the web that were visited, within a bound.
#[derive(Debug, Default)]
pub(crate) struct VisitedOrigins {
    seen: Mutex<BTreeSet<String>>,
}

impl VisitedOrigins {
    /// Takes note of an address.
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

    /// Takes note of where targets go, for as long as the browser is there.
    pub(crate) async fn follow(
        visited: Weak<Self>,
        mut created: Feed<TargetInfo>,
        mut changed: Feed<TargetInfo>,
    ) {
        loop {
            let told = tokio::select! {
                told = created.next() => told,
                told = changed.next() => told,
            };
            let Some(visited) = visited.upgrade() else { return };
            match told {
                Ok(info) if matches!(info.kind.as_str(), "page" | "iframe") => visited.note(&info.url),
                Ok(_) | Err(CdpError::Missed { .. }) => {}
                Err(_) => return,
            }
        }
    }
}

/// The origin of an address of the web, as scripts write it.
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
    fn only_the_web_has_origins_that_are_kept() {
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
