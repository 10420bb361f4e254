//! The requests of a browser for guarded sessions: every one waits until the clients have set up its tab, and a page's
//! document until the addresses of its host name are known. Firefox reports no addresses and pauses no new tabs.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use serde_json::{Value, json};

use super::network::requests::{request_id, resource_type};
use super::{EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, text};

/// Requests of one tab that wait until it is set up. Further ones fail.
const WAITING: usize = 256;

/// Documents whose host is being resolved. Further ones fail.
const RESOLVING: usize = 1_024;

/// Documents whose address is remembered until their response arrives.
const ADDRESSES: usize = 1_024;

/// Removes from every document what Firefox reports no requests of. A preload script runs before any script can reach the
/// document.
const FENCE: &str = "() => { delete globalThis.SharedWorker; }";

/// How a browser for guarded sessions was launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestHold {
    /// Whether the addresses of host names say where pages come from; not behind a proxy.
    pub resolves_names: bool,
}

/// A host name whose addresses are needed before its document is requested. Call [`EmulatedBrowser::resolved`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// Names the request in the call.
    pub number: u64,
    /// The host.
    pub host: String,
}

/// The state of a contained browser.
#[derive(Debug)]
pub(crate) struct Contained {
    resolves_names: bool,
    /// Stops every request, of every tab.
    intercept: Option<String>,
    /// Requests of tabs that are not set up yet, in order.
    waiting: BTreeMap<String, Vec<Value>>,
    lookups: Vec<Lookup>,
    /// Document requests whose host is being resolved.
    resolving: BTreeMap<u64, (String, Value)>,
    /// Where documents come from, by the id of their request.
    addresses: VecDeque<(String, IpAddr)>,
}

impl Contained {
    pub(crate) fn new(containment: RequestHold) -> Self {
        Self {
            resolves_names: containment.resolves_names,
            intercept: None,
            waiting: BTreeMap::new(),
            lookups: Vec::new(),
            resolving: BTreeMap::new(),
            addresses: VecDeque::new(),
        }
    }
}

impl EmulatedBrowser {
    /// Takes the host names to resolve.
    pub fn take_lookups(&mut self) -> Vec<Lookup> {
        self.contained.as_mut().map(|contained| std::mem::take(&mut contained.lookups)).unwrap_or_default()
    }

    /// Whether every request waits until clients allow it.
    pub(super) fn is_contained(&self) -> bool {
        self.contained.is_some()
    }

    /// Whether this intercept stops the requests of all tabs.
    pub(super) fn is_standing(&self, intercept: &str) -> bool {
        let contained = self.contained.as_ref();
        contained.is_some_and(|contained| contained.intercept.as_deref() == Some(intercept))
    }

    /// Stops every request from now on, then goes on with the start.
    pub(super) fn contain(&mut self) {
        self.send(
            "network.addIntercept",
            json!({"phases": ["beforeRequestSent"]}),
            Box::new(|browser, outcome| match outcome {
                Ok(added) => {
                    if let Some(contained) = &mut browser.contained {
                        contained.intercept = Some(text(&added, "intercept").to_owned());
                    }
                    browser.fence();
                }
                Err(error) => browser.start_failed(&error),
            }),
        );
    }

    fn fence(&mut self) {
        self.send(
            "script.addPreloadScript",
            json!({"functionDeclaration": FENCE}),
            Box::new(|browser, outcome| match outcome {
                Ok(_) => browser.list_user_contexts(),
                Err(error) => browser.start_failed(&error),
            }),
        );
    }

    /// Keeps a request that cannot be judged yet; returns whether it did.
    pub(super) fn keeps_request(&mut self, tab: &str, context: &str, params: &Value) -> bool {
        if !self.is_contained() || self.is_anchor(tab) {
            return false;
        }
        if self.is_tab_waiting(tab) {
            self.keep_waiting(tab, params);
            return true;
        }
        self.keep_resolving(tab, context, params)
    }

    fn keep_waiting(&mut self, tab: &str, params: &Value) {
        let Some(contained) = &mut self.contained else { return };
        let kept = contained.waiting.entry(tab.to_owned()).or_default();
        if kept.len() < WAITING {
            return kept.push(params.clone());
        }
        self.fail_blocked(params);
    }

    /// A page's own document waits for the addresses of its host name.
    fn keep_resolving(&mut self, tab: &str, context: &str, params: &Value) -> bool {
        let url = params.pointer("/request/url").and_then(Value::as_str).unwrap_or_default();
        let is_page = context == tab && resource_type(params) == "Document";
        let host = host_of(url).filter(|_| is_page).map(str::to_owned);
        let number = self.next_number();
        let (Some(contained), Some(host)) = (&mut self.contained, host) else { return false };
        if !contained.resolves_names {
            return false;
        }
        if let Ok(address) = host.trim_matches(['[', ']']).parse() {
            contained.remember(&request_id(params), address);
            return false;
        }
        if contained.resolving.len() >= RESOLVING {
            self.request_sent(tab, context, params);
            self.fail_blocked(params);
            return true;
        }
        contained.resolving.insert(number, (tab.to_owned(), params.clone()));
        contained.lookups.push(Lookup { number, host });
        true
    }

    /// The address that a host name leads to: one that is not on the internet, if it has one. A document whose host cannot
    /// be resolved is not requested.
    pub fn resolved(&mut self, number: u64, address: Option<IpAddr>) {
        let Some(contained) = &mut self.contained else { return };
        let Some((tab, params)) = contained.resolving.remove(&number) else { return };
        if let Some(address) = address {
            contained.remember(&request_id(&params), address);
        }
        if self.contexts.find(&tab).is_none() {
            return self.fail_blocked(&params);
        }
        let context = text(&params, "context").to_owned();
        if address.is_some() {
            return self.request_event(&tab, &context, "network.beforeRequestSent", &params);
        }
        self.request_sent(&tab, &context, &params);
        self.fail_blocked(&params);
    }

    /// A session has set up a tab. When none is left that has to, its requests go on.
    pub(super) fn release_waiting(&mut self, tab: &str) {
        if self.is_tab_waiting(tab) {
            return;
        }
        let kept = self.contained.as_mut().and_then(|contained| contained.waiting.remove(tab));
        for params in kept.unwrap_or_default() {
            self.network_event("network.beforeRequestSent", &params);
        }
    }

    /// A tab is gone: the requests that it waited with fail.
    pub(super) fn drop_waiting(&mut self, tab: &str) {
        let kept = self.contained.as_mut().and_then(|contained| contained.waiting.remove(tab));
        for params in kept.unwrap_or_default() {
            self.fail_blocked(&params);
        }
    }

    pub(super) fn fail_blocked(&mut self, params: &Value) {
        if params.get("isBlocked") == Some(&json!(true)) {
            let request = params.pointer("/request/request").cloned().unwrap_or_default();
            self.post("network.failRequest", json!({"request": request}));
        }
    }

    /// Adds to the response of a page's document where it came from.
    pub(super) fn add_address(&self, id: &str, response: &mut Value) {
        let known = self.contained.as_ref().and_then(|contained| contained.address_of(id));
        let port = port_of(text(response, "url"));
        if let (Some(address), Some(port)) = (known, port) {
            response["remoteIPAddress"] = json!(address.to_string());
            response["remotePort"] = json!(port);
        }
    }

    /// `Network.setBypassServiceWorker`: in a contained browser there are no service workers.
    pub(super) fn bypass_service_workers(&mut self, method: &str, is_on: bool, reply: Reply) {
        if !is_on || self.is_contained() {
            return self.succeed(reply, "{}");
        }
        self.refuse(reply, method);
    }

    pub(super) fn start_failed(&mut self, _error: &BidiError) {
        // Every command then fails as in a browser that is gone, which the hub notices.
        self.phase = super::Phase::Ready;
        self.browser_disconnected();
    }
}

impl Contained {
    fn remember(&mut self, id: &str, address: IpAddr) {
        self.addresses.retain(|(known, _)| known != id);
        if self.addresses.len() == ADDRESSES {
            self.addresses.pop_front();
        }
        self.addresses.push_back((id.to_owned(), address));
    }

    fn address_of(&self, id: &str) -> Option<IpAddr> {
        self.addresses.iter().find(|(known, _)| known == id).map(|(_, address)| *address)
    }
}

/// The host and port of a web URL, as Firefox writes it: lower case, without a default port.
fn authority_of(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    Some(authority.rsplit_once('@').map_or(authority, |(_, host)| host)).filter(|host| !host.is_empty())
}

/// The host of a web URL; an IPv6 address keeps its brackets.
fn host_of(url: &str) -> Option<&str> {
    let authority = authority_of(url)?;
    match authority.rsplit_once(']') {
        Some((address, _)) => authority.get(..=address.len()),
        None => authority.split(':').next(),
    }
}

fn port_of(url: &str) -> Option<u16> {
    let authority = authority_of(url)?;
    let after_host = authority.strip_prefix(host_of(url)?)?;
    match after_host.strip_prefix(':') {
        Some(port) => port.parse().ok(),
        None => Some(if url.starts_with("https") { 443 } else { 80 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_read_from_urls() {
        for (url, host, port) in [
            ("http://name.test/a?b", Some("name.test"), Some(80)),
            ("https://name.test?x", Some("name.test"), Some(443)),
            ("http://u:p@name.test:81/", Some("name.test"), Some(81)),
            ("http://[fd00::1]:82/x", Some("[fd00::1]"), Some(82)),
            ("https://[::1]/", Some("[::1]"), Some(443)),
            ("about:blank", None, None),
            ("data:text/html,x", None, None),
        ] {
            assert_eq!((host_of(url), port_of(url)), (host, port), "{url}");
        }
    }

    #[test]
    fn addresses_are_bounded_and_the_last_one_counts() {
        let mut contained = Contained::new(RequestHold { resolves_names: true });
        for number in 0..2_000_u32 {
            contained.remember(&number.to_string(), IpAddr::from(number.to_be_bytes()));
        }
        assert_eq!(contained.addresses.len(), ADDRESSES);
        assert!(contained.address_of("0").is_none());
        contained.remember("1999", IpAddr::from([10, 0, 0, 1]));
        assert_eq!(contained.address_of("1999"), Some(IpAddr::from([10, 0, 0, 1])));
    }
}
