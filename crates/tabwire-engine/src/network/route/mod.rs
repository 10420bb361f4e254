//! One route: what happens to matching requests.

pub(crate) mod listed;
mod script;
pub(crate) mod table;
pub(crate) mod url_glob;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::events::RequestPaused;
use super::headers::{Header, HeaderList};
use super::log::resource_kind::ResourceKind;
use super::route::url_glob::UrlGlob;

/// How a request fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AbortReason {
    /// Blocked by the client.
    #[default]
    Blocked,
    /// Failed without a reason.
    Failed,
    /// Aborted.
    Aborted,
    /// Timed out.
    TimedOut,
    /// Connection refused.
    ConnectionRefused,
    /// Connection closed.
    ConnectionReset,
    /// Name not resolved.
    NameNotResolved,
    /// Internet disconnected.
    Offline,
}

impl AbortReason {
    pub(crate) const fn browser_word(self) -> &'static str {
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

/// A response instead of the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MockResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderList,
    pub(crate) body: Vec<u8>,
}

/// Changes of a request before it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) url: Option<String>,
    pub(crate) method: Option<String>,
    pub(crate) set_headers: HeaderList,
    pub(crate) remove_headers: Vec<String>,
    pub(crate) post_data: Option<Vec<u8>>,
}

/// What happens to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RouteEffect {
    /// It fails.
    Abort(AbortReason),
    /// It is fulfilled.
    Fulfil(MockResponse),
    /// It is changed and continued.
    Rewrite(Change),
}

/// A route: which requests, and what happens to them.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) number: u32,
    pub(crate) glob: UrlGlob,
    /// Its resource types; empty for all.
    pub(crate) kinds: Vec<ResourceKind>,
    pub(crate) effect: RouteEffect,
    /// How often it applies; none for always.
    pub(crate) times: Option<u32>,
    pub(crate) hits: u32,
    /// How often the browser rejected it.
    pub(crate) refused: u32,
}

/// The CDP command for a paused request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
}

impl Verdict {
    pub(crate) fn proceed(id: &str) -> Self {
        Self { method: "Fetch.continueRequest", params: json!({"requestId": id}) }
    }

    /// Adds headers to a request that continues.
    pub(crate) fn add_headers(&mut self, paused: &RequestPaused, added: &HeaderList) {
        if self.method != "Fetch.continueRequest" {
            return;
        }
        let mut headers = match self.params.get("headers") {
            Some(changed) => {
                let changed: Vec<Header> = serde_json::from_value(changed.clone()).unwrap_or_default();
                changed.into_iter().collect()
            }
            // `headers` of `Fetch.continueRequest` replaces all headers: the request's own have to be in
            // it.
            None => paused.request.headers.clone(),
        };
        added.iter().for_each(|header| headers.set(&header.name, &header.value));
        self.params["headers"] = headers.to_value();
    }

    pub(crate) fn fail(id: &str, reason: AbortReason) -> Self {
        let params = json!({"requestId": id, "errorReason": reason.browser_word()});
        Self { method: "Fetch.failRequest", params }
    }

    pub(crate) fn fulfil(id: &str, response: &MockResponse) -> Self {
        let mut params = json!({
            "requestId": id, "responseCode": response.status, "responseHeaders": response.headers.to_value(),
            "body": BASE64_STANDARD.encode(&response.body),
        });
        if let Some(phrase) = own_phrase(response.status) {
            params["responsePhrase"] = json!(phrase);
        }
        Self { method: "Fetch.fulfillRequest", params }
    }
}

/// The phrase of a status for which Chromium has none, or another one than Playwright. Chromium refuses a status without a
/// phrase.
const fn own_phrase(status: u16) -> Option<&'static str> {
    match status {
        422 => Some("Unprocessable Entity"),
        100..=103
        | 200..=208
        | 226
        | 300..=305
        | 307
        | 308
        | 400..=418
        | 421..=426
        | 428
        | 429
        | 431
        | 451
        | 500..=508
        | 510
        | 511 => None,
        _ => Some("Unknown"),
    }
}

impl Route {
    /// Whether a request matches.
    pub(crate) fn applies(&self, url: &str, kind: ResourceKind) -> bool {
        let left = self.times.is_none_or(|times| self.hits < times);
        left && (self.kinds.is_empty() || self.kinds.contains(&kind)) && self.glob.matches(url)
    }

    /// The command for a matching request.
    pub(crate) fn judge(&self, paused: &RequestPaused) -> Verdict {
        let id = &paused.request_id;
        match &self.effect {
            RouteEffect::Abort(reason) => Verdict::fail(id, *reason),
            RouteEffect::Fulfil(response) => fulfil(paused, response),
            // The browser sends a preflight first; only the request itself is changed.
            RouteEffect::Rewrite(_) if is_preflight(paused) => Verdict::proceed(id),
            RouteEffect::Rewrite(change) => rewrite(paused, change),
        }
    }

    /// The interception pattern of this route.
    pub(crate) fn browser_patterns(&self) -> Vec<Value> {
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

/// Fulfils a request. A cross-origin one gets CORS headers, because no server can send them.
pub(crate) fn fulfil(paused: &RequestPaused, response: &MockResponse) -> Verdict {
    let asked = &paused.request.headers;
    let origin = asked.find("origin").filter(|origin| *origin != "null" || is_preflight(paused));
    let mut response = if is_preflight(paused) {
        MockResponse { status: 204, headers: HeaderList::default(), body: Vec::new() }
    } else {
        response.clone()
    };
    if let Some(origin) = origin
        && response.headers.find("access-control-allow-origin").is_none()
    {
        response.headers.push("access-control-allow-origin", origin);
        response.headers.push("access-control-allow-credentials", "true");
        response.headers.push("vary", "origin");
    }
    if is_preflight(paused) {
        let method = asked.find("access-control-request-method").unwrap_or("GET");
        response.headers.push("access-control-allow-methods", method);
        if let Some(names) = asked.find("access-control-request-headers") {
            response.headers.push("access-control-allow-headers", names);
        }
    }
    Verdict::fulfil(&paused.request_id, &response)
}

fn rewrite(paused: &RequestPaused, change: &Change) -> Verdict {
    let mut verdict = Verdict::proceed(&paused.request_id);
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
