//! `Fetch`: requests that wait for a client, as BiDi's intercepts.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde_json::{Value, json};
use tabwire_api::CdpSessionId;
use tabwire_cdp::ProtocolError;

use crate::browser::network::requests::{request_id, resource_type, to_headers, to_request};
use crate::browser::{Command, EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, text};
use crate::state::session::{FetchPattern, FetchState};

/// Requests that wait at once. Further ones go on without a client.
const PAUSED: usize = 4_096;

/// Headers that clients cannot change, as in Chrome.
const UNSAFE_HEADERS: &[&str] =
    &["content-length", "host", "trailer", "te", "upgrade", "cookie2", "keep-alive", "transfer-encoding"];

/// The requests that wait for clients, by CDP's id.
#[derive(Debug, Default)]
pub(crate) struct PausedRequests {
    last: u64,
    by_id: BTreeMap<String, PausedRequest>,
}

/// Where in its life a request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Request,
    Response,
    Auth,
}

#[derive(Clone, Debug)]
struct PausedRequest {
    session: CdpSessionId,
    /// Sessions that get the request after this one.
    next: Vec<CdpSessionId>,
    bidi: String,
    stage: Stage,
    params: Value,
    /// What clients have changed so far.
    changes: Value,
}

impl PausedRequest {
    /// Changes the body, as Base64. Firefox keeps the length of the former one, and sends only as much.
    fn change_body(&mut self, body: &Value) {
        let bytes = base64::prelude::BASE64_STANDARD.decode(body.as_str().unwrap_or_default());
        let length = bytes.map_or(0, |bytes| bytes.len()).to_string();
        let before = self.changes.get("headers").or_else(|| self.params.pointer("/request/headers"));
        let mut headers = before.and_then(Value::as_array).cloned().unwrap_or_default();
        headers.retain(|header| !text(header, "name").eq_ignore_ascii_case("content-length"));
        headers.push(json!({"name": "Content-Length", "value": {"type": "string", "value": length}}));
        self.changes["headers"] = Value::from(headers);
        self.changes["body"] = json!({"type": "base64", "value": body});
    }

    /// Whether a script made it with `fetch` or `XMLHttpRequest`.
    fn is_of_script(&self) -> bool {
        matches!(resource_type(&self.params), "Fetch" | "XHR")
    }
}

impl EmulatedBrowser {
    pub(in crate::browser) fn fetch_domain(
        &mut self,
        tab: &str,
        session: &CdpSessionId,
        command: &Command,
        reply: Reply,
    ) {
        let params = &command.params;
        match command.method.as_str() {
            "Fetch.enable" => self.enable_fetch(tab, session, params, reply),
            "Fetch.disable" => self.disable_fetch(session, reply),
            "Fetch.continueRequest" => self.continue_request(session, params, reply),
            "Fetch.failRequest" => {
                self.end_paused(session, params, reply, |bidi, _| {
                    ("network.failRequest", json!({"request": bidi}))
                });
            }
            "Fetch.fulfillRequest" => self.fulfill_request(session, params, reply),
            "Fetch.continueResponse" => self.continue_response(session, params, reply),
            "Fetch.continueWithAuth" => self.continue_with_auth(session, params, reply),
            method => self.refuse(reply, method),
        }
    }

    fn enable_fetch(&mut self, tab: &str, session: &CdpSessionId, params: &Value, reply: Reply) {
        let patterns = read_patterns(params.get("patterns"));
        let handles_auth = params.get("handleAuthRequests") == Some(&json!(true));
        let mut phases: Vec<&str> = Vec::new();
        // A contained browser stops every request anyway.
        if !self.is_contained() && patterns.iter().any(|pattern| !pattern.is_response) {
            phases.push("beforeRequestSent");
        }
        if patterns.iter().any(|pattern| pattern.is_response) {
            phases.push("responseStarted");
        }
        if handles_auth {
            phases.push("authRequired");
        }
        let mut command = json!({"phases": phases, "contexts": [tab]});
        let narrow: Option<Vec<Value>> =
            patterns.iter().map(|pattern| to_url_pattern(&pattern.url)).collect();
        if let Some(narrow) = narrow.filter(|narrow| !narrow.is_empty()) {
            command["urlPatterns"] = json!(narrow);
        }
        let turn = self.next_number();
        let state = FetchState { patterns, handles_auth, intercepts: Vec::new(), turn };
        let Some(entry) = self.sessions.find_mut(Some(session)) else { return };
        let before = entry.fetch.replace(state).map(|fetch| fetch.intercepts).unwrap_or_default();
        self.remove_intercepts(before);
        if phases.is_empty() {
            return self.succeed(reply, "{}");
        }
        let session = session.clone();
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            if let Ok(added) = &outcome {
                let intercept = text(added, "intercept").to_owned();
                let entry = browser.sessions.find_mut(Some(&session));
                match entry.and_then(|entry| entry.fetch.as_mut()).filter(|fetch| fetch.turn == turn) {
                    Some(fetch) => fetch.intercepts.push(intercept),
                    // It was disabled, or its session ended, meanwhile.
                    None => browser.remove_intercepts(vec![intercept]),
                }
            }
            browser.acknowledge(reply, outcome);
        };
        self.send("network.addIntercept", command, Box::new(then));
    }

    fn disable_fetch(&mut self, session: &CdpSessionId, reply: Reply) {
        let entry = self.sessions.find_mut(Some(session));
        let intercepts = entry.and_then(|entry| entry.fetch.take()).map(|fetch| fetch.intercepts);
        self.remove_intercepts(intercepts.unwrap_or_default());
        self.release_paused_of(session);
        self.succeed(reply, "{}");
    }

    pub(in crate::browser) fn remove_intercepts(&mut self, intercepts: Vec<String>) {
        for intercept in intercepts {
            self.post("network.removeIntercept", json!({"intercept": intercept}));
        }
    }

    /// A session no longer intercepts: its requests go on.
    pub(in crate::browser) fn release_paused_of(&mut self, session: &CdpSessionId) {
        let held: Vec<String> = self
            .paused
            .by_id
            .iter()
            .filter(|(_, paused)| paused.session == *session)
            .map(|(id, _)| id.clone())
            .collect();
        for id in held {
            if let Some(paused) = self.paused.by_id.remove(&id) {
                self.pass_on(paused);
            }
        }
    }

    /// A request without a page of ours, or one that an intercept of an earlier daemon blocks, goes on.
    pub(in crate::browser) fn release_foreign(&mut self, method: &str, params: &Value) {
        if self.is_contained() && method == "network.beforeRequestSent" {
            return self.fail_blocked(params);
        }
        if params.get("isBlocked") == Some(&json!(true)) {
            self.release(method, params);
        }
    }

    fn release(&mut self, method: &str, params: &Value) {
        let request = params.pointer("/request/request").cloned().unwrap_or_default();
        match method {
            "network.beforeRequestSent" => self.post("network.continueRequest", json!({"request": request})),
            "network.authRequired" => {
                self.post("network.continueWithAuth", json!({"request": request, "action": "default"}));
            }
            _ => self.post("network.continueResponse", json!({"request": request})),
        }
    }

    /// A request is blocked: it goes to the sessions that intercept it, one after the other.
    pub(in crate::browser) fn request_blocked(&mut self, tab: &str, method: &str, params: &Value) {
        let stage = match method {
            "network.beforeRequestSent" => Stage::Request,
            "network.responseStarted" => Stage::Response,
            "network.authRequired" => Stage::Auth,
            _ => return,
        };
        // Chrome's `Fetch` does not pause them either.
        if resource_type(params) == "WebSocket" {
            return self.release(method, params);
        }
        let blocking: Vec<&str> = params
            .get("intercepts")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let known = |intercept: &str| {
            let has = |fetch: &FetchState| fetch.intercepts.iter().any(|one| one == intercept);
            self.is_standing(intercept)
                || self.sessions.all().any(|(_, session)| session.fetch.as_ref().is_some_and(has))
        };
        let left: Vec<String> =
            blocking.iter().filter(|intercept| !known(intercept)).map(|one| (*one).to_owned()).collect();
        let mut sessions = self.sessions_that_pause(tab, stage, params);
        // Those of an earlier daemon have no client any more. A new one of ours may have no response yet.
        if sessions.is_empty() {
            self.remove_intercepts(left);
        }
        if sessions.is_empty() || self.paused.by_id.len() >= PAUSED {
            return self.release(method, params);
        }
        let first = sessions.remove(0);
        let bidi = params.pointer("/request/request").and_then(Value::as_str).unwrap_or_default();
        self.pause(PausedRequest {
            session: first,
            next: sessions,
            bidi: bidi.to_owned(),
            stage,
            params: params.clone(),
            changes: json!({}),
        });
    }

    /// The sessions of a tab that pause a request at this stage.
    fn sessions_that_pause(&self, tab: &str, stage: Stage, params: &Value) -> Vec<CdpSessionId> {
        let url = params.pointer("/request/url").and_then(Value::as_str).unwrap_or_default();
        let kind = resource_type(params);
        let wants = |fetch: &FetchState| match stage {
            Stage::Auth => fetch.handles_auth,
            stage => fetch.patterns.iter().any(|pattern| {
                pattern.is_response == (stage == Stage::Response) && pattern.matches(url, kind)
            }),
        };
        let mut sessions = self.sessions.on_tab(tab);
        sessions.retain(|id| {
            let fetch = self.sessions.find(Some(id)).and_then(|session| session.fetch.as_ref());
            fetch.is_some_and(wants)
        });
        // As in Chrome: the last session is the first, and the mux's own sees what clients have changed.
        sessions.reverse();
        sessions
    }

    fn pause(&mut self, paused: PausedRequest) {
        self.paused.last += 1;
        let id = match paused.stage {
            // The same for each challenge of a request, as in Chrome: clients see by it that credentials were refused.
            Stage::Auth => format!("interception-auth-{}", paused.bidi),
            _ => format!("interception-{}", self.paused.last),
        };
        let params = &paused.params;
        let mut request = params.get("request").cloned().unwrap_or_default();
        if let Some(changed) = paused.changes.get("url") {
            request["url"] = changed.clone();
        }
        let mut event = json!({
            "requestId": id, "request": to_request(&request), "frameId": text(params, "context"),
            "resourceType": paused_type(resource_type(params)), "networkId": request_id(params),
        });
        let session = paused.session.clone();
        let method = match paused.stage {
            Stage::Auth => {
                let challenge = params.pointer("/response/authChallenges/0").cloned().unwrap_or_default();
                event["authChallenge"] = json!({
                    "source": "Server", "origin": text(&request, "url"), "scheme": text(&challenge, "scheme"),
                    "realm": text(&challenge, "realm"),
                });
                "Fetch.authRequired"
            }
            Stage::Response => {
                let response = params.get("response").cloned().unwrap_or_default();
                let headers = to_headers(response.get("headers"));
                let headers: Vec<Value> = headers
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| json!({"name": name, "value": value}))
                    .collect();
                event["responseStatusCode"] = json!(response.get("status"));
                event["responseStatusText"] = json!(response.get("statusText"));
                event["responseHeaders"] = json!(headers);
                "Fetch.requestPaused"
            }
            Stage::Request => "Fetch.requestPaused",
        };
        self.paused.by_id.insert(id, paused);
        self.send_event(Some(&session), method, &event);
    }

    fn take_paused(&mut self, session: &CdpSessionId, params: &Value) -> Option<PausedRequest> {
        let id = text(params, "requestId");
        self.paused.by_id.get(id).filter(|paused| paused.session == *session)?;
        self.paused.by_id.remove(id)
    }

    /// The request goes to the next session, or on its way.
    fn pass_on(&mut self, mut paused: PausedRequest) {
        if !paused.next.is_empty() {
            paused.session = paused.next.remove(0);
            return self.pause(paused);
        }
        let mut command = paused.changes;
        command["request"] = json!(paused.bidi);
        match paused.stage {
            Stage::Request => self.post("network.continueRequest", command),
            Stage::Response => self.post("network.continueResponse", command),
            Stage::Auth => {
                self.post("network.continueWithAuth", json!({"request": paused.bidi, "action": "default"}));
            }
        }
    }

    fn continue_request(&mut self, session: &CdpSessionId, params: &Value, reply: Reply) {
        let paused = self.paused.by_id.get(text(params, "requestId"));
        if let Some(name) = paused.and_then(|paused| unsafe_header(params.get("headers"), &paused.params)) {
            return self.fail(reply, &ProtocolError::invalid_params(format!("Unsafe header: {name}")));
        }
        if params.get("url").is_some() && paused.is_some_and(PausedRequest::is_of_script) {
            return self.refuse(reply, "Fetch.continueRequest");
        }
        let Some(mut paused) = self.take_paused(session, params) else {
            return self.fail(reply, &invalid_id());
        };
        if let Some(url) = params.get("url") {
            paused.changes["url"] = url.clone();
        }
        if let Some(method) = params.get("method") {
            paused.changes["method"] = method.clone();
        }
        if let Some(headers) = params.get("headers") {
            paused.changes["headers"] = to_bidi_headers(Some(headers));
        }
        if let Some(body) = params.get("postData") {
            paused.change_body(body);
        }
        self.succeed(reply, "{}");
        self.pass_on(paused);
    }

    fn continue_response(&mut self, session: &CdpSessionId, params: &Value, reply: Reply) {
        let Some(mut paused) = self.take_paused(session, params) else {
            return self.fail(reply, &invalid_id());
        };
        if let Some(status) = params.get("responseCode") {
            paused.changes["statusCode"] = status.clone();
        }
        if let Some(headers) = params.get("responseHeaders") {
            paused.changes["headers"] = to_bidi_headers(Some(headers));
        }
        self.succeed(reply, "{}");
        self.pass_on(paused);
    }

    fn fulfill_request(&mut self, session: &CdpSessionId, params: &Value, reply: Reply) {
        let mut command = json!({
            "statusCode": params.get("responseCode"), "headers": to_bidi_headers(params.get("responseHeaders")),
        });
        let phrase = text(params, "responsePhrase");
        if !phrase.is_empty() {
            command["reasonPhrase"] = json!(phrase);
        }
        let body = params.get("body").and_then(Value::as_str).unwrap_or_default();
        command["body"] = json!({"type": "base64", "value": body});
        self.end_paused(session, params, reply, move |bidi, _| {
            command["request"] = json!(bidi);
            ("network.provideResponse", command)
        });
    }

    fn continue_with_auth(&mut self, session: &CdpSessionId, params: &Value, reply: Reply) {
        let answer = params.get("authChallengeResponse").cloned().unwrap_or_default();
        let command = match text(&answer, "response") {
            "ProvideCredentials" => json!({
                "action": "provideCredentials",
                "credentials": {
                    "type": "password", "username": text(&answer, "username"),
                    "password": text(&answer, "password"),
                },
            }),
            // By default Firefox shows a dialog that no client sees, and the request would wait for it.
            _ => json!({"action": "cancel"}),
        };
        self.end_paused(session, params, reply, move |bidi, _| {
            let mut command = command;
            command["request"] = json!(bidi);
            ("network.continueWithAuth", command)
        });
    }

    /// Ends a paused request with a command of BiDi, whose outcome is the response.
    fn end_paused(
        &mut self,
        session: &CdpSessionId,
        params: &Value,
        reply: Reply,
        make: impl FnOnce(&str, &Value) -> (&'static str, Value),
    ) {
        let Some(paused) = self.take_paused(session, params) else {
            return self.fail(reply, &invalid_id());
        };
        let (method, command) = make(&paused.bidi, &paused.params);
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            // The page gave the request up meanwhile.
            Err(error) if error.name == "no such request" => browser.fail(reply, &invalid_id()),
            outcome => browser.acknowledge(reply, outcome),
        };
        self.send(method, command, Box::new(then));
    }
}

/// A header that frames the request and that a client changes: Chrome refuses it, and with Firefox the server would wait for
/// the rest of a body.
fn unsafe_header(headers: Option<&Value>, paused: &Value) -> Option<String> {
    let before = to_headers(paused.pointer("/request/headers"));
    let is_same = |name: &str, value: &str| {
        let mut before = before.as_object().into_iter().flatten();
        before.any(|(known, before)| known.eq_ignore_ascii_case(name) && before.as_str() == Some(value))
    };
    headers.and_then(Value::as_array)?.iter().find_map(|header| {
        let (name, value) = (text(header, "name"), text(header, "value"));
        let is_unsafe = UNSAFE_HEADERS.iter().any(|one| one.eq_ignore_ascii_case(name));
        (is_unsafe && !is_same(name, value)).then(|| name.to_owned())
    })
}

fn invalid_id() -> ProtocolError {
    ProtocolError::chrome(-32602, "Invalid InterceptionId.")
}

fn read_patterns(patterns: Option<&Value>) -> Vec<FetchPattern> {
    let Some(patterns) = patterns.and_then(Value::as_array) else {
        return vec![FetchPattern { url: "*".to_owned(), kind: None, is_response: false }];
    };
    let read = |pattern: &Value| FetchPattern {
        url: match text(pattern, "urlPattern") {
            "" => "*".to_owned(),
            url => url.to_owned(),
        },
        kind: pattern.get("resourceType").and_then(Value::as_str).map(str::to_owned),
        is_response: text(pattern, "requestStage") == "Response",
    };
    patterns.iter().map(read).collect()
}

impl FetchPattern {
    fn matches(&self, url: &str, kind: &str) -> bool {
        let url = url.split('#').next().unwrap_or_default();
        self.kind.as_deref().is_none_or(|wanted| wanted == kind || wanted == paused_type(kind))
            && wildcard(self.url.as_bytes(), url.as_bytes())
    }
}

/// The type of a paused request: as in Chrome, a script's fetch is an `XHR`, and only a prefetch is a `Fetch`, which
/// Firefox does not report.
fn paused_type(kind: &str) -> &str {
    if kind == "Fetch" { "XHR" } else { kind }
}

/// Whether a text matches a pattern with `*` and `?`; `\` before either means the character itself.
fn wildcard(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut position) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while position < text.len() {
        let (wanted, width) = match (pattern.get(at), pattern.get(at + 1)) {
            (Some(b'\\'), Some(next)) => (Some(*next), 2),
            (Some(b'*'), _) => {
                star = Some((at + 1, position));
                at += 1;
                continue;
            }
            (Some(b'?'), _) => (text.get(position).copied(), 1),
            (found, _) => (found.copied(), 1),
        };
        if wanted.is_some() && wanted == text.get(position).copied() {
            (at, position) = (at + width, position + 1);
        } else if let Some((after, from)) = star {
            star = Some((after, from + 1));
            (at, position) = (after, from + 1);
        } else {
            return false;
        }
    }
    pattern.get(at..).is_none_or(|rest| rest.iter().all(|byte| *byte == b'*'))
}

/// A pattern as BiDi's URL pattern, when it names an exact URL or everything of one origin. An intercept without patterns
/// stops every request, which costs each one 60 ms.
fn to_url_pattern(pattern: &str) -> Option<Value> {
    if !pattern.contains(['*', '?', '\\']) {
        return Some(json!({"type": "string", "pattern": pattern}));
    }
    let (protocol, rest) = pattern.split_once("://")?;
    let (authority, path) = rest.split_once('/')?;
    if path != "*"
        || authority.is_empty()
        || [protocol, authority].concat().contains(['*', '?', '\\', '@', '['])
    {
        return None;
    }
    let mut made = json!({"type": "pattern", "protocol": protocol});
    match authority.split_once(':') {
        Some((host, port)) => {
            made["hostname"] = json!(host);
            made["port"] = json!(port);
        }
        None => made["hostname"] = json!(authority),
    }
    Some(made)
}

/// BiDi's headers from CDP's list.
fn to_bidi_headers(headers: Option<&Value>) -> Value {
    let convert = |header: &Value| {
        let value = text(header, "value");
        let is_plain = value.is_ascii();
        let value = match is_plain {
            true => json!({"type": "string", "value": value}),
            false => json!({
                "type": "base64", "value": base64::prelude::BASE64_STANDARD.encode(value.as_bytes()),
            }),
        };
        json!({"name": text(header, "name"), "value": value})
    };
    headers.and_then(Value::as_array).into_iter().flatten().map(convert).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_as_in_chrome() {
        let matches = |pattern: &str, text: &str| wildcard(pattern.as_bytes(), text.as_bytes());
        assert!(matches("*", "") && matches("*", "http://a/"));
        assert!(matches("*/x?z*", "http://a/xyz/1") && !matches("*/x?z", "http://a/xyz/1"));
        assert!(matches("a\\*b", "a*b") && !matches("a\\*b", "axb"));
        assert!(matches("http://a/*", "http://a/b") && !matches("http://a/*", "https://a/b"));
    }

    #[test]
    fn headers_that_frame_a_request_cannot_be_changed() {
        let paused = json!({"request": {"headers": [
            {"name": "Host", "value": {"type": "string", "value": "a.test"}},
        ]}});
        let unsafe_in =
            |name: &str, value: &str| unsafe_header(Some(&json!([{"name": name, "value": value}])), &paused);
        assert_eq!(unsafe_in("content-length", "7").as_deref(), Some("content-length"));
        assert_eq!(unsafe_in("host", "b.test").as_deref(), Some("host"));
        assert_eq!((unsafe_in("host", "a.test"), unsafe_in("x-any", "1")), (None, None));
    }

    #[test]
    fn narrow_patterns_become_patterns_of_the_browser() {
        assert_eq!(to_url_pattern("http://a/b"), Some(json!({"type": "string", "pattern": "http://a/b"})));
        let origin = json!({"type": "pattern", "protocol": "http", "hostname": "a", "port": "8"});
        assert_eq!(to_url_pattern("http://a:8/*"), Some(origin));
        assert_eq!(to_url_pattern("*"), None);
        assert_eq!(to_url_pattern("http://*.a/*"), None);
    }
}
