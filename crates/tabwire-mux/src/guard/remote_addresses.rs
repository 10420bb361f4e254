//! The remote IP addresses of a page's documents. A host name can resolve to any address, and to another one
//! later.
//!
//! Fed by the browser's events for responses and shown documents. Until the browser reports which document is
//! shown, the addresses of all received ones count.

use std::collections::VecDeque;
use std::net::IpAddr;

use serde_json::Value;

/// Documents of one page whose remote address is remembered: more than a browser keeps for going back.
const DOCUMENTS_REMEMBERED: usize = 64;

/// A document received for a page, with its loader id.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ReceivedDocument {
    loader: String,
    /// The address it came from; none behind a proxy, or when there was no server.
    address: Option<IpAddr>,
}

/// The documents of one page.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemoteAddresses {
    /// The document that is shown, once the browser has reported it.
    shown: Option<ReceivedDocument>,
    /// Documents that were received and may be shown next.
    coming: VecDeque<ReceivedDocument>,
    /// Documents that were shown before: history navigation shows them again without a request to a server.
    past: VecDeque<ReceivedDocument>,
    /// The addresses of the documents that may be shown now.
    addresses: Vec<IpAddr>,
}

impl RemoteAddresses {
    /// The addresses that the shown document may have come from.
    pub(crate) fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// A response for a document of the page arrived.
    pub(crate) fn received(&mut self, loader: &str, response: &Value) {
        self.coming.retain(|document| document.loader != loader);
        keep(
            &mut self.coming,
            ReceivedDocument { loader: loader.to_owned(), address: direct_address(response) },
        );
        self.count();
    }

    /// The page shows a document.
    pub(crate) fn shows(&mut self, loader: &str) {
        let is_it = |document: &ReceivedDocument| document.loader == loader;
        if self.shown.as_ref().is_some_and(is_it) {
            // Reported by another client's session before.
            return;
        }
        let found = if let Some(place) = self.coming.iter().position(is_it) {
            // Documents received before this one were given up.
            self.coming.drain(..=place).next_back()
        } else {
            let place = self.past.iter().position(is_it);
            place.and_then(|place| self.past.remove(place))
        };
        let shown = found.unwrap_or_else(|| ReceivedDocument { loader: loader.to_owned(), address: None });
        if let Some(before) = self.shown.replace(shown) {
            keep(&mut self.past, before);
        }
        self.count();
    }

    fn count(&mut self) {
        let shown = self.shown.iter().chain(&self.coming);
        self.addresses = shown.filter_map(|document| document.address).collect();
        self.addresses.sort_unstable();
        self.addresses.dedup();
    }
}

fn keep(list: &mut VecDeque<ReceivedDocument>, document: ReceivedDocument) {
    if list.len() == DOCUMENTS_REMEMBERED {
        list.pop_front();
    }
    list.push_back(document);
}

/// The address that a response came from. None behind a proxy, which listens on a port of its own.
fn direct_address(response: &Value) -> Option<IpAddr> {
    let text = |field: &str| response.get(field).and_then(Value::as_str);
    let address = text("remoteIPAddress")?.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
    let port = response.get("remotePort").and_then(Value::as_u64);
    (port.is_some() && port == port_of(text("url")?)).then_some(address)
}

/// The port that a URL names or implies.
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

    fn listed(sources: &RemoteAddresses) -> Vec<String> {
        sources.addresses().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn shown_and_pending_documents_count() {
        let mut sources = RemoteAddresses::default();
        sources.received("a", &response("10.0.0.1", 8080));
        assert_eq!(listed(&sources), ["10.0.0.1"]);
        sources.received("b", &response("93.184.216.34", 8080));
        assert_eq!(listed(&sources), ["10.0.0.1", "93.184.216.34"], "the shown document is unknown");
        sources.shows("b");
        assert_eq!(listed(&sources), ["93.184.216.34"]);
        sources.received("c", &response("[fd00::1]", 8080));
        assert_eq!(listed(&sources), ["93.184.216.34", "fd00::1"], "it may be shown next");
        for _ in 0..2 {
            sources.shows("c");
            assert_eq!(listed(&sources), ["fd00::1"], "a repeated report changes nothing");
        }
        sources.shows("blank");
        assert!(listed(&sources).is_empty());
        sources.shows("c");
        assert_eq!(listed(&sources), ["fd00::1"], "history shows it again without a request");
    }

    #[test]
    fn proxied_responses_have_no_server_address() {
        let mut sources = RemoteAddresses::default();
        sources.received("a", &response("127.0.0.1", 3128));
        sources.shows("a");
        assert!(listed(&sources).is_empty());
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
    fn documents_are_bounded() {
        let mut sources = RemoteAddresses::default();
        for number in 0..1_000 {
            sources.received(&number.to_string(), &response("10.0.0.1", 8080));
            if number % 2 == 0 {
                sources.shows(&number.to_string());
            }
        }
        assert!(sources.past.len() <= DOCUMENTS_REMEMBERED && sources.coming.len() <= DOCUMENTS_REMEMBERED);
    }
}
