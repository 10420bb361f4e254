//! The execution contexts, requests, streams and history entries that a client's CDP session has received, by
//! the ids that commands use. Bounded: a dropped entry counts as unknown.

use std::collections::{BTreeMap, VecDeque};

use bytes::BytesMut;
use serde_json::Value;

use crate::guard::page_frames::kept_url;

/// Events kept for each CDP session until their request is known.
const EARLY_EVENTS: usize = 256;

/// Entries of a page's history that are remembered; browsers keep fifty.
const HISTORY_ENTRIES: usize = 256;

/// Streams remembered for each CDP session.
const STREAMS_REMEMBERED: usize = 256;

/// Redirects of one request that are remembered; browsers follow twenty.
const REQUEST_HOPS: usize = 32;

/// Requests remembered for each CDP session, so that reads of their bodies can be checked.
const REQUESTS_REMEMBERED: usize = 4_096;

/// Execution contexts remembered for each CDP session.
const CONTEXTS_REMEMBERED: usize = 8_192;

/// A request that the session has received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenRequest {
    /// Every URL that it was sent to or received from, oldest first.
    pub hops: Vec<Box<str>>,
    /// The frame that sent it.
    pub frame: Option<Box<str>>,
    /// Whether it is for a document, which replaces the frame's content.
    pub is_document: bool,
    /// Whether it had more redirects than the limit.
    pub is_cut: bool,
}

impl SeenRequest {
    fn add(&mut self, url: &str) {
        let url = kept_url(url);
        if self.hops.contains(&url) {
            return;
        }
        if self.hops.len() < REQUEST_HOPS {
            self.hops.push(url);
        } else {
            self.is_cut = true;
        }
    }
}

/// An event of a request that is not known yet.
#[derive(Clone, Debug)]
pub(crate) struct EarlyEvent {
    pub(crate) request: String,
    pub(crate) method: Box<str>,
    pub(crate) frame: BytesMut,
}

/// A map that drops the oldest entry when it is full.
#[derive(Clone, Debug)]
struct BoundedMap<T> {
    entries: BTreeMap<String, T>,
    order: VecDeque<String>,
    limit: usize,
}

impl<T> BoundedMap<T> {
    fn new(limit: usize) -> Self {
        Self { entries: BTreeMap::new(), order: VecDeque::new(), limit }
    }

    fn insert(&mut self, id: &str, value: T) {
        if self.entries.insert(id.to_owned(), value).is_none() {
            self.order.push_back(id.to_owned());
        }
        if self.order.len() > self.limit
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
    }
}

/// The ids that one session has received.
#[derive(Clone, Debug)]
pub(crate) struct SessionWatch {
    /// Frames of execution contexts, by number and by unique id.
    contexts: BoundedMap<Box<str>>,
    requests: BoundedMap<SeenRequest>,
    /// URLs of scripts and style sheets.
    sources: BoundedMap<Box<str>>,
    /// URLs that the content of streams comes from.
    streams: BoundedMap<Vec<Box<str>>>,
    history: BTreeMap<i64, Box<str>>,
    early: VecDeque<EarlyEvent>,
}

impl Default for SessionWatch {
    fn default() -> Self {
        Self {
            contexts: BoundedMap::new(CONTEXTS_REMEMBERED),
            requests: BoundedMap::new(REQUESTS_REMEMBERED),
            sources: BoundedMap::new(REQUESTS_REMEMBERED),
            streams: BoundedMap::new(STREAMS_REMEMBERED),
            history: BTreeMap::new(),
            early: VecDeque::new(),
        }
    }
}

fn text<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    value.pointer(path).and_then(Value::as_str)
}

impl SessionWatch {
    /// Whether an event carries ids to record.
    pub(crate) fn learns_from(method: &str) -> bool {
        matches!(
            method,
            "Runtime.executionContextCreated"
                | "Runtime.executionContextsCleared"
                | "Network.requestWillBeSent"
                | "Network.responseReceived"
                | "Network.webSocketCreated"
                | "Fetch.requestPaused"
                | "Fetch.authRequired"
                | "Debugger.scriptParsed"
                | "Debugger.scriptFailedToParse"
                | "CSS.styleSheetAdded"
        )
    }

    /// Records the ids of an event.
    pub(crate) fn learn(&mut self, method: &str, params: &Value) {
        match method {
            "Runtime.executionContextCreated" => {
                let context = params.get("context").unwrap_or(&Value::Null);
                let number = context.get("id").and_then(Value::as_i64);
                if let (Some(number), Some(frame)) = (number, text(context, "/auxData/frameId")) {
                    self.learn_context(number, frame);
                    if let Some(unique) = text(context, "/uniqueId") {
                        self.contexts.insert(unique, frame.into());
                    }
                }
            }
            "Runtime.executionContextsCleared" => self.forget_contexts(),
            "Debugger.scriptParsed" | "Debugger.scriptFailedToParse" => {
                self.learn_source(text(params, "/scriptId"), text(params, "/url"));
            }
            "CSS.styleSheetAdded" => {
                self.learn_source(text(params, "/header/styleSheetId"), text(params, "/header/sourceURL"));
            }
            _ => self.learn_request(params),
        }
    }

    fn learn_source(&mut self, id: Option<&str>, url: Option<&str>) {
        if let Some(id) = id {
            self.sources.insert(id, kept_url(url.unwrap_or_default()));
        }
    }

    /// The execution contexts are gone.
    pub(crate) fn forget_contexts(&mut self) {
        self.contexts = BoundedMap::new(CONTEXTS_REMEMBERED);
    }

    /// Records the frame of an execution context.
    pub(crate) fn learn_context(&mut self, number: i64, frame: &str) {
        self.contexts.insert(&number.to_string(), frame.into());
    }

    fn learn_request(&mut self, params: &Value) {
        let Some(id) = text(params, "/requestId") else { return };
        let mut request = self.requests.entries.get(id).cloned().unwrap_or_default();
        for path in ["/redirectResponse/url", "/request/url", "/response/url", "/url"] {
            if let Some(url) = text(params, path) {
                request.add(url);
            }
        }
        if let Some(frame) = text(params, "/frameId") {
            request.frame = Some(frame.into());
        }
        let kind = text(params, "/resourceType").or_else(|| text(params, "/type"));
        request.is_document = kind.map_or(request.is_document, |kind| kind == "Document");
        self.requests.insert(id, request);
    }

    /// Records the URLs that a stream's content comes from.
    pub(crate) fn learn_stream(&mut self, handle: &str, urls: Vec<Box<str>>) {
        self.streams.insert(handle, urls);
    }

    /// Records the result of `Page.getNavigationHistory`.
    pub(crate) fn learn_history(&mut self, entries: &[Value]) {
        self.history.clear();
        for entry in entries.iter().take(HISTORY_ENTRIES) {
            if let (Some(id), Some(url)) = (entry.get("id").and_then(Value::as_i64), text(entry, "/url")) {
                self.history.insert(id, kept_url(url));
            }
        }
    }

    /// Keeps an event until its request is known.
    pub(crate) fn keep_early(&mut self, event: EarlyEvent) {
        if self.early.len() >= EARLY_EVENTS {
            self.early.pop_front();
        }
        self.early.push_back(event);
    }

    /// Takes the kept events whose requests are known now.
    pub(crate) fn take_early(&mut self) -> Vec<EarlyEvent> {
        if self.early.is_empty() {
            return Vec::new();
        }
        let requests = &self.requests.entries;
        let is_known = |event: &EarlyEvent| requests.contains_key(&event.request);
        let (taken, left): (Vec<_>, Vec<_>) = self.early.drain(..).partition(is_known);
        self.early = left.into();
        taken
    }

    pub(crate) fn context(&self, id: &str) -> Option<&str> {
        self.contexts.entries.get(id).map(|frame| &**frame)
    }

    pub(crate) fn request(&self, id: &str) -> Option<&SeenRequest> {
        self.requests.entries.get(id)
    }

    pub(crate) fn source(&self, id: &str) -> Option<&str> {
        self.sources.entries.get(id).map(|url| &**url)
    }

    pub(crate) fn stream(&self, handle: &str) -> Option<&[Box<str>]> {
        self.streams.entries.get(handle).map(Vec::as_slice)
    }

    pub(crate) fn history(&self, entry: i64) -> Option<&str> {
        self.history.get(&entry).map(|url| &**url)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn request_records_every_redirect() {
        let mut watch = SessionWatch::default();
        let sent =
            |url: &str| json!({"requestId": "1", "frameId": "f", "type": "Fetch", "request": {"url": url}});
        watch.learn("Network.requestWillBeSent", &sent("https://a.test/go?to"));
        watch.learn("Network.requestWillBeSent", &sent("https://v.test/secret"));
        let request = watch.request("1").expect("known");
        assert_eq!(request.hops, ["https://a.test/go".into(), "https://v.test/secret".into()]);
        assert_eq!((request.frame.as_deref(), request.is_document), (Some("f"), false));
        assert_eq!(watch.request("2"), None);
    }

    #[test]
    fn records_are_bounded_and_dropped_ones_are_unknown() {
        let mut watch = SessionWatch::default();
        for number in 0..=REQUESTS_REMEMBERED {
            let params = json!({"requestId": number.to_string(), "request": {"url": "https://a.test/"}});
            watch.learn("Network.requestWillBeSent", &params);
        }
        assert!(watch.request("0").is_none() && watch.request("1").is_some());
        for number in 0..=REQUEST_HOPS {
            let params = json!({"requestId": "x", "request": {"url": format!("https://a.test/{number}")}});
            watch.learn("Network.requestWillBeSent", &params);
        }
        assert!(watch.request("x").is_some_and(|request| request.is_cut));
        for number in 0..2 * EARLY_EVENTS {
            let request = number.to_string();
            watch.keep_early(EarlyEvent { request, method: "X.y".into(), frame: BytesMut::new() });
        }
        assert_eq!(watch.early.len(), EARLY_EVENTS);
        assert_eq!(watch.take_early().len(), EARLY_EVENTS, "their requests are known");
    }
}
