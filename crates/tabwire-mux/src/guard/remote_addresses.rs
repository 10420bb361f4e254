//! Which addresses the documents of a page came from, whatever its name: a name can lead anywhere, and elsewhere later.
//!
//! Fed with what the browser tells of responses and of documents that are shown. As long as it is not told which one is
//! shown, every one that came counts. Knows nothing of who may read what.

use std::collections::VecDeque;
use std::net::IpAddr;

use serde_json::Value;

use crate::limits::DOCUMENTS_REMEMBERED;

/// A document that came for a page, under the browser's name for its loading.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Came {
    loader: String,
    /// The address it came from; none when a server in between hides it, or there was no server.
    address: Option<IpAddr>,
}

/// The documents of one page.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemoteAddresses {
    /// The one that is shown, once that was told.
    shown: Option<Came>,
    /// Those that have come and may be shown next.
    coming: VecDeque<Came>,
    /// Those that were shown before: going back brings them again, and nothing is asked of a server.
    past: VecDeque<Came>,
    /// The addresses of those that may be shown now.
    addresses: Vec<IpAddr>,
}

impl RemoteAddresses {
    /// The addresses that what is shown may have come from.
    pub(crate) fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// A response for a document of the page.
    pub(crate) fn came(&mut self, loader: &str, response: &Value) {
        self.coming.retain(|came| came.loader != loader);
        keep(&mut self.coming, Came { loader: loader.to_owned(), address: direct_address(response) });
        self.count();
    }

    /// The page shows a document.
    pub(crate) fn shows(&mut self, loader: &str) {
        let is_it = |came: &Came| came.loader == loader;
        if self.shown.as_ref().is_some_and(is_it) {
            // Told by one more client.
            return;
        }
        let came = if let Some(place) = self.coming.iter().position(is_it) {
            // What came before it was given up.
            self.coming.drain(..=place).next_back()
        } else {
            let place = self.past.iter().position(is_it);
            place.and_then(|place| self.past.remove(place))
        };
        let shown = came.unwrap_or_else(|| Came { loader: loader.to_owned(), address: None });
        if let Some(before) = self.shown.replace(shown) {
            keep(&mut self.past, before);
        }
        self.count();
    }

    fn count(&mut self) {
        let shown = self.shown.iter().chain(&self.coming);
        self.addresses = shown.filter_map(|came| came.address).collect();
        self.addresses.sort_unstable();
        self.addresses.dedup();
    }
}

fn keep(list: &mut VecDeque<Came>, came: Came) {
    if list.len() == DOCUMENTS_REMEMBERED {
        list.pop_front();
    }
    list.push_back(came);
}

/// The address that a response came from, unless a proxy is in between: those listen on ports of their own.
fn direct_address(response: &Value) -> Option<IpAddr> {
    let text = |field: &str| response.get(field).and_then(Value::as_str);
    let address = text("remoteIPAddress")?.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
    let port = response.get("remotePort").and_then(Value::as_u64);
    (port.is_some() && port == port_of(text("url")?)).then_some(address)
}

/// The port that an address of the web names or means.
fn port_of(url: &str) -> Option<u64> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let after_host = match authority.rsplit_once(']') {
        Some((_, after)) => after.strip_prefix(':'),
        None => authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host)
            .split_once(':')
            .map(|(_, port)| port),
    };
    match (after_host, scheme) {
        (Some(port), _) => port.parse().ok(),
        (None, "http") => Some(80),
        (None, "https") => Some(443),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn response(address: &str, port: u16) -> Value {
        json!({"url": "http://name.test:8080/x", "remoteIPAddress": address, "remotePort": port})
    }

    fn told(sources: &RemoteAddresses) -> Vec<String> {
        sources.addresses().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_shown_counts_and_what_may_be_shown_next() {
        let mut sources = RemoteAddresses::default();
        sources.came("a", &response("10.0.0.1", 8080));
        assert_eq!(told(&sources), ["10.0.0.1"]);
        sources.came("b", &response("93.184.216.34", 8080));
        assert_eq!(told(&sources), ["10.0.0.1", "93.184.216.34"], "nobody has said which is shown");
        sources.shows("b");
        assert_eq!(told(&sources), ["93.184.216.34"]);
        sources.came("c", &response("[fd00::1]", 8080));
        assert_eq!(told(&sources), ["93.184.216.34", "fd00::1"], "it may be shown any moment");
        for _ in 0..2 {
            sources.shows("c");
            assert_eq!(told(&sources), ["fd00::1"], "every client that listens tells it");
        }
        sources.shows("blank");
        assert!(told(&sources).is_empty());
        sources.shows("c");
        assert_eq!(told(&sources), ["fd00::1"], "history brings it back without asking a server");
    }

    #[test]
    fn a_proxy_in_between_tells_nothing_of_the_server() {
        let mut sources = RemoteAddresses::default();
        sources.came("a", &response("127.0.0.1", 3128));
        sources.shows("a");
        assert!(told(&sources).is_empty());
        for (url, port) in [
            ("http://a.test/", Some(80)),
            ("https://a.test?x", Some(443)),
            ("https://u:p@a.test:444/", Some(444)),
            ("http://[::1]:81/", Some(81)),
            ("http://[::1]/", Some(80)),
            ("data:,x", None),
        ] {
            assert_eq!(port_of(url), port, "{url}");
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut sources = RemoteAddresses::default();
        for number in 0..1_000 {
            sources.came(&number.to_string(), &response("10.0.0.1", 8080));
            if number % 2 == 0 {
                sources.shows(&number.to_string());
            }
        }
        assert!(sources.past.len() <= DOCUMENTS_REMEMBERED && sources.coming.len() <= DOCUMENTS_REMEMBERED);
    }
}
