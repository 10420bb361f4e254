//! One rule for what becomes of some of a page's requests. Knows nothing of when it is asked.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::header_list::{Header, HeaderList};
use super::network_event::RequestPaused;
use super::resource_kind::ResourceKind;
use super::url_glob::UrlGlob;

/// How a request fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AbortReason {
    /// As if a blocker had stopped it.
    #[default]
    Blocked,
    /// For no reason that is told.
    Failed,
    /// As if the page had given up.
    Aborted,
    /// As if there had been no answer in time.
    TimedOut,
    /// As if the server did not listen.
    ConnectionRefused,
    /// As if the server had hung up.
    ConnectionReset,
    /// As if the name did not exist.
    NameNotResolved,
    /// As if there were no network.
    Offline,
}

impl AbortReason {
    pub(super) const fn browser_word(self) -> &'static str {
        match self {
            Self::Blocked => "BlockedByClient",
            Self::Failed => "Failed",
            Self::Aborted => "Aborted",
            Self::TimedOut => "TimedOut",
            Self::ConnectionRefused => "ConnectionRefused",
            Self::ConnectionReset => "ConnectionReset",
            Self::NameNotResolved => "NameNotResolved",
            Self::Offline => "InternetDisconnected",
        }
    }
}

/// An answer in place of the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderList,
    pub(crate) body: Vec<u8>,
}

/// What is changed about a request before it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) url: Option<String>,
    pub(crate) method: Option<String>,
    pub(crate) set_headers: HeaderList,
    pub(crate) remove_headers: Vec<String>,
    pub(crate) post_data: Option<Vec<u8>>,
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RouteEffect {
    /// It fails.
    Abort(AbortReason),
    /// It is answered here.
    Fulfil(Answer),
    /// It is sent otherwise.
    Rewrite(Change),
}

/// A rule: which requests, and what becomes of them.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) number: u32,
    pub(crate) glob: UrlGlob,
    /// Kinds of requests that are meant; none means every kind.
    pub(crate) kinds: Vec<ResourceKind>,
    pub(crate) effect: RouteEffect,
    /// How often it applies; none means always.
    pub(crate) times: Option<u32>,
    pub(crate) hits: u32,
    /// How often the browser refused what it was to do.
    pub(crate) refused: u32,
}

/// What the browser is told of a request that is held: a command and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) method: &'static str,
    pub(super) params: Value,
}

impl Verdict {
    pub(super) fn go_on(id: &str) -> Self {
        Self { method: "Fetch.continueRequest", params: json!({"requestId": id}) }
    }

    /// Adds headers to a request that goes on.
    pub(super) fn add_headers(&mut self, paused: &RequestPaused, added: &HeaderList) {
        if self.method != "Fetch.continueRequest" {
            return;
        }
        let mut headers = match self.params.get("headers") {
            Some(changed) => {
                let changed: Vec<Header> = serde_json::from_value(changed.clone()).unwrap_or_default();
                changed.into_iter().collect()
            }
            None => paused.request.headers.clone(),
        };
        added.iter().for_each(|header| headers.set(&header.name, &header.value));
        self.params["headers"] = headers.to_value();
    }

    pub(super) fn fail(id: &str, reason: AbortReason) -> Self {
        let params = json!({"requestId": id, "errorReason": reason.browser_word()});
        Self { method: "Fetch.failRequest", params }
    }

    pub(super) fn fulfil(id: &str, answer: &Answer) -> Self {
        let params = json!({
            "requestId": id, "responseCode": answer.status, "responseHeaders": answer.headers.to_value(),
            "body": BASE64_STANDARD.encode(&answer.body),
        });
        Self { method: "Fetch.fulfillRequest", params }
    }
}

impl Route {
    /// Whether a request is meant.
    pub(super) fn applies(&self, url: &str, kind: ResourceKind) -> bool {
        let left = self.times.is_none_or(|times| self.hits < times);
        left && (self.kinds.is_empty() || self.kinds.contains(&kind)) && self.glob.matches(url)
    }

    /// What becomes of a request that is meant.
    pub(super) fn judge(&self, paused: &RequestPaused) -> Verdict {
        let id = &paused.request_id;
        match &self.effect {
            RouteEffect::Abort(reason) => Verdict::fail(id, *reason),
            RouteEffect::Fulfil(answer) => fulfil(paused, answer),
            // The browser asks again for the request itself; only that is changed.
            RouteEffect::Rewrite(_) if is_preflight(paused) => Verdict::go_on(id),
            RouteEffect::Rewrite(change) => rewrite(paused, change),
        }
    }

    /// What the browser is asked to hold for this rule.
    pub(super) fn browser_patterns(&self) -> Vec<Value> {
        let url = self.glob.browser_pattern();
        if self.kinds.is_empty() {
            return vec![json!({"urlPattern": url})];
        }
        let words = self.kinds.iter().flat_map(|kind| kind.browser_words());
        words.map(|word| json!({"urlPattern": url, "resourceType": word})).collect()
    }
}

fn is_preflight(paused: &RequestPaused) -> bool {
    let request = &paused.request;
    request.method == "OPTIONS" && request.headers.find("access-control-request-method").is_some()
}

/// Answers a request; one from another origin is let read the answer, as nobody else can say so here.
pub(super) fn fulfil(paused: &RequestPaused, answer: &Answer) -> Verdict {
    let asked = &paused.request.headers;
    let origin = asked.find("origin").filter(|origin| *origin != "null" || is_preflight(paused));
    let mut answer = if is_preflight(paused) {
        Answer { status: 204, headers: HeaderList::default(), body: Vec::new() }
    } else {
        answer.clone()
    };
    if let Some(origin) = origin
        && answer.headers.find("access-control-allow-origin").is_none()
    {
        answer.headers.push("access-control-allow-origin", origin);
        answer.headers.push("access-control-allow-credentials", "true");
        answer.headers.push("vary", "origin");
    }
    if is_preflight(paused) {
        let method = asked.find("access-control-request-method").unwrap_or("GET");
        answer.headers.push("access-control-allow-methods", method);
        if let Some(names) = asked.find("access-control-request-headers") {
            answer.headers.push("access-control-allow-headers", names);
        }
    }
    Verdict::fulfil(&paused.request_id, &answer)
}

fn rewrite(paused: &RequestPaused, change: &Change) -> Verdict {
    let mut verdict = Verdict::go_on(&paused.request_id);
    let params = &mut verdict.params;
    if let Some(url) = &change.url {
        params["url"] = json!(url);
    }
    if let Some(method) = &change.method {
        params["method"] = json!(method);
    }
    if let Some(data) = &change.post_data {
        params["postData"] = json!(BASE64_STANDARD.encode(data));
    }
    if !change.set_headers.is_empty() || !change.remove_headers.is_empty() {
        let mut headers = paused.request.headers.clone();
        change.remove_headers.iter().for_each(|name| headers.remove(name));
        change.set_headers.iter().for_each(|header| headers.set(&header.name, &header.value));
        params["headers"] = headers.to_value();
    }
    verdict
}
