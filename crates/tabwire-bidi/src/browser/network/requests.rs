//! Requests: BiDi's network events as CDP's, and the bodies of responses.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value, json};
use tabwire_api::CdpSessionId;
use tabwire_cdp::ProtocolError;

use crate::browser::documents::navigation::error_text;
use crate::browser::network::cookies::bytes_text;
use crate::browser::{Command, EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, number, seconds, text};

/// Requests whose ids are remembered, for their bodies.
const REQUESTS: usize = 10_000;

/// BiDi's request of each id for CDP: a document's request has the id of its navigation.
#[derive(Debug, Default)]
pub(crate) struct RequestTable {
    by_id: BTreeMap<String, KnownRequest>,
    order: VecDeque<String>,
}

#[derive(Clone, Debug)]
struct KnownRequest {
    bidi: String,
    kind: &'static str,
    /// The response that redirected it.
    redirect: Option<Value>,
}

impl RequestTable {
    fn add(&mut self, id: &str, request: KnownRequest) {
        if self.by_id.insert(id.to_owned(), request).is_none() {
            self.order.push_back(id.to_owned());
        }
        if self.order.len() > REQUESTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_id.remove(&oldest);
        }
    }
}

impl EmulatedBrowser {
    pub(in crate::browser) fn network_domain(
        &mut self,
        tab: &str,
        session: &CdpSessionId,
        command: &Command,
        reply: Reply,
    ) {
        let params = &command.params;
        match command.method.as_str() {
            "Network.enable" => {
                self.set_domain(session, "Network", true);
                self.succeed(reply, "{}");
            }
            "Network.disable" => {
                self.set_domain(session, "Network", false);
                self.succeed(reply, "{}");
            }
            "Network.getRequestPostData" => self.request_body(text(params, "requestId"), reply),
            "Network.getResponseBody" => self.response_body(text(params, "requestId"), reply),
            "Network.getCookies" | "Network.setCookie" | "Network.deleteCookies" => {
                self.cookie_command(&command.method, params, Some(tab), reply);
            }
            "Network.setUserAgentOverride" => self.set_user_agent(tab, params, reply),
            "Network.emulateNetworkConditions" => self.set_conditions(tab, command, reply),
            "Network.setExtraHTTPHeaders" => {
                let given = params.get("headers").and_then(Value::as_object);
                let headers: Vec<Value> = given
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| json!({"name": name, "value": {"type": "string", "value": value}}))
                    .collect();
                let set = json!({"headers": headers, "contexts": [tab]});
                self.send_acknowledged("network.setExtraHeaders", set, reply);
            }
            "Network.setCacheDisabled" => {
                let is_off = params.get("cacheDisabled") == Some(&json!(true));
                if let Some(found) = self.contexts.find_mut(tab) {
                    found.has_cache_off = is_off;
                }
                self.send_acknowledged("network.setCacheBehavior", cache_behavior(tab, is_off), reply);
            }
            "Network.setBlockedURLs" if is_empty_list(params.get("urls")) => self.succeed(reply, "{}"),
            "Network.setBypassServiceWorker" => {
                let is_on = params.get("bypass") != Some(&json!(false));
                self.bypass_service_workers(&command.method, is_on, reply);
            }
            method => self.refuse(reply, method),
        }
    }

    pub(in crate::browser) fn network_event(&mut self, method: &str, params: &Value) {
        let context = text(params, "context").to_owned();
        let Some(tab) = self.contexts.tab_of(&context).map(|tab| tab.id.clone()) else {
            return self.release_foreign(method, params);
        };
        if method == "network.beforeRequestSent" && self.keeps_request(&tab, &context, params) {
            return;
        }
        self.request_event(&tab, &context, method, params);
    }

    pub(in crate::browser) fn request_event(
        &mut self,
        tab: &str,
        context: &str,
        method: &str,
        params: &Value,
    ) {
        match method {
            "network.beforeRequestSent" => self.request_sent(tab, context, params),
            "network.responseStarted" => self.response_started(tab, context, params),
            "network.responseCompleted" => self.response_completed(tab, context, params),
            "network.fetchError" => self.request_failed(tab, context, params),
            "network.authRequired" => {}
            _ => return,
        }
        if params.get("isBlocked") == Some(&json!(true)) {
            self.request_blocked(tab, method, params);
        }
    }

    pub(in crate::browser) fn request_sent(&mut self, tab: &str, context: &str, params: &Value) {
        let id = request_id(params);
        let request = params.get("request").cloned().unwrap_or_default();
        let kind = resource_type(params);
        let known = self.requests.by_id.get(&id).and_then(|known| known.redirect.clone());
        let bidi = text(&request, "request").to_owned();
        self.requests.add(&id, KnownRequest { bidi, kind, redirect: None });
        if let Some(found) = self
            .contexts
            .find_mut(context)
            .filter(|_| !matches!(kind, "Document" | "WebSocket" | "EventSource"))
        {
            found.requests.insert(id.clone());
        }
        let at = seconds(params);
        let mut event = json!({
            "requestId": id, "loaderId": self.loader_of(context, params), "documentURL": self.url_of(context),
            "request": to_request(&request), "timestamp": at, "wallTime": at,
            "initiator": {"type": initiator_of(params)}, "redirectHasExtraInfo": false, "type": kind,
            "frameId": context, "hasUserGesture": false,
        });
        if let Some(redirect) = known.filter(|_| number(params, "redirectCount").is_some_and(|n| n > 0.0)) {
            event["redirectResponse"] = redirect;
        }
        self.tab_event(tab, "Network.requestWillBeSent", &event);
    }

    fn response_started(&mut self, tab: &str, context: &str, params: &Value) {
        let id = request_id(params);
        let mut response = to_response(params);
        if tab == context {
            self.add_address(&id, &mut response);
        }
        let status = number(&response, "status").unwrap_or_default();
        if (300.0..400.0).contains(&status) && has_header(&response, "location") {
            if let Some(known) = self.requests.by_id.get_mut(&id) {
                known.redirect = Some(response);
            }
            return;
        }
        let kind = self.requests.by_id.get(&id).map_or_else(|| resource_type(params), |known| known.kind);
        if params.pointer("/response/fromCache") == Some(&json!(true)) {
            self.tab_event(tab, "Network.requestServedFromCache", &json!({"requestId": id}));
        }
        let event = json!({
            "requestId": id, "loaderId": self.loader_of(context, params), "timestamp": seconds(params),
            "type": kind, "response": response, "hasExtraInfo": false, "frameId": context,
        });
        self.tab_event(tab, "Network.responseReceived", &event);
        if status >= 400.0 {
            let phrase = params.pointer("/response/statusText").and_then(Value::as_str).unwrap_or_default();
            self.load_failed(
                tab,
                params,
                &format!("the server responded with a status of {status} ({phrase})"),
            );
        }
    }

    /// Firefox has no line in the console for a response that is an error, Chrome has one.
    fn load_failed(&mut self, tab: &str, params: &Value, why: &str) {
        let entry = json!({
            "source": "network", "level": "error", "text": format!("Failed to load resource: {why}"),
            "timestamp": params.get("timestamp"),
            "url": params.pointer("/request/url"), "networkRequestId": request_id(params),
        });
        self.tab_event(tab, "Log.entryAdded", &json!({"entry": entry}));
    }

    fn response_completed(&mut self, tab: &str, context: &str, params: &Value) {
        let id = request_id(params);
        let status = params.pointer("/response/status").and_then(Value::as_f64).unwrap_or_default();
        if (300.0..400.0).contains(&status) && has_header(&to_response(params), "location") {
            return;
        }
        if let Some(found) = self.contexts.find_mut(context) {
            found.requests.remove(&id);
        }
        let size = params.pointer("/response/bytesReceived").cloned().unwrap_or(json!(0));
        let event = json!({"requestId": id, "timestamp": seconds(params), "encodedDataLength": size});
        self.tab_event(tab, "Network.loadingFinished", &event);
    }

    fn request_failed(&mut self, tab: &str, context: &str, params: &Value) {
        let id = request_id(params);
        if let Some(found) = self.contexts.find_mut(context) {
            found.requests.remove(&id);
        }
        let kind = self.requests.by_id.get(&id).map_or("Other", |known| known.kind);
        let message = error_text(text(params, "errorText"));
        let event = json!({
            "requestId": id, "timestamp": seconds(params), "type": kind, "errorText": message,
            "canceled": message == "net::ERR_ABORTED",
        });
        self.tab_event(tab, "Network.loadingFailed", &event);
    }

    fn loader_of(&self, context: &str, params: &Value) -> String {
        match text(params, "navigation") {
            "" => self.contexts.find(context).map(|found| found.loader.clone()).unwrap_or_default(),
            navigation => navigation.to_owned(),
        }
    }

    fn url_of(&self, context: &str) -> String {
        self.contexts.find(context).map(|found| found.url.clone()).unwrap_or_default()
    }

    fn request_body(&mut self, id: &str, reply: Reply) {
        let missing = || ProtocolError::chrome(-32000, "No post data available for the request");
        let Some(known) = self.requests.by_id.get(id) else { return self.fail(reply, &missing()) };
        let command = json!({"dataType": "request", "request": known.bidi});
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(data) => browser.succeed(reply, json!({"postData": bytes_text(data.get("bytes"))})),
            Err(_) => browser.fail(reply, &missing()),
        };
        self.send("network.getData", command, Box::new(then));
    }

    fn response_body(&mut self, id: &str, reply: Reply) {
        let Some(known) = self.requests.by_id.get(id) else {
            let message = "No resource with given identifier found";
            return self.fail(reply, &ProtocolError::chrome(-32000, message));
        };
        let command = json!({"dataType": "response", "request": known.bidi});
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(data) => {
                let bytes = data.get("bytes").cloned().unwrap_or_default();
                let encoded = text(&bytes, "type") == "base64";
                let body = json!({"body": text(&bytes, "value"), "base64Encoded": encoded});
                browser.succeed(reply, body);
            }
            Err(_) => {
                let message = "No data found for resource with given identifier";
                browser.fail(reply, &ProtocolError::chrome(-32000, message));
            }
        };
        self.send("network.getData", command, Box::new(then));
    }
}

/// The parameters of `network.setCacheBehavior`.
pub(in crate::browser) fn cache_behavior(tab: &str, is_off: bool) -> Value {
    let behavior = if is_off { "bypass" } else { "default" };
    json!({"cacheBehavior": behavior, "contexts": [tab]})
}

fn is_empty_list(list: Option<&Value>) -> bool {
    list.and_then(Value::as_array).is_none_or(Vec::is_empty)
}

/// The id of a request for CDP: a document's request has the id of its navigation, which is its loader id.
pub(in crate::browser) fn request_id(params: &Value) -> String {
    match text(params, "navigation") {
        "" => params.pointer("/request/request").and_then(Value::as_str).unwrap_or_default().to_owned(),
        navigation => navigation.to_owned(),
    }
}

/// Chrome's type of a request.
pub(in crate::browser) fn resource_type(params: &Value) -> &'static str {
    let request = params.get("request").cloned().unwrap_or_default();
    match (text(&request, "destination"), text(&request, "initiatorType")) {
        // Reported in the context of their page, before it is known whether they show a document.
        ("embed" | "object", _) => "Other",
        _ if !text(params, "navigation").is_empty() => "Document",
        ("document" | "iframe" | "frame", _) => "Document",
        ("script" | "worker" | "sharedworker" | "serviceworker", _) => "Script",
        ("style", _) => "Stylesheet",
        ("image", _) => "Image",
        ("font", _) => "Font",
        ("audio" | "video" | "track", _) => "Media",
        ("manifest", _) => "Manifest",
        ("report", _) => "CSPViolationReport",
        (_, "xmlhttprequest") => "XHR",
        (_, "fetch") => "Fetch",
        // Firefox names no initiator of sockets, event sources and beacons.
        _ if has_value(&request, "upgrade", "websocket") => "WebSocket",
        ("", "") if has_value(&request, "accept", "text/event-stream") => "EventSource",
        ("", "" | "beacon") if text(&request, "method") == "POST" => "Ping",
        _ => "Other",
    }
}

fn has_value(request: &Value, name: &str, value: &str) -> bool {
    let headers = to_headers(request.get("headers"));
    let mut headers = headers.as_object().into_iter().flatten();
    headers.any(|(key, found)| key.eq_ignore_ascii_case(name) && found.as_str() == Some(value))
}

fn initiator_of(params: &Value) -> &'static str {
    match params.pointer("/request/initiatorType").and_then(Value::as_str) {
        Some("fetch" | "xmlhttprequest" | "script") => "script",
        Some("img" | "link" | "css" | "iframe") => "parser",
        _ => "other",
    }
}

/// CDP's `Request`.
pub(in crate::browser) fn to_request(request: &Value) -> Value {
    let url = text(request, "url");
    let (url, fragment) = url.split_once('#').map_or((url, ""), |(url, fragment)| (url, fragment));
    let mut converted = json!({
        "url": url, "method": request.get("method"), "headers": to_headers(request.get("headers")),
        "initialPriority": "Medium", "referrerPolicy": "strict-origin-when-cross-origin",
        "mixedContentType": "none",
    });
    if !fragment.is_empty() {
        converted["urlFragment"] = json!(format!("#{fragment}"));
    }
    if number(request, "bodySize").is_some_and(|size| size > 0.0) {
        converted["hasPostData"] = json!(true);
    }
    converted
}

/// CDP's `Response`.
pub(in crate::browser) fn to_response(params: &Value) -> Value {
    let response = params.get("response").cloned().unwrap_or_default();
    let url = text(&response, "url");
    let is_secure = url.starts_with("https:");
    json!({
        "url": url, "status": response.get("status"), "statusText": response.get("statusText"),
        "headers": to_headers(response.get("headers")),
        "mimeType": text(&response, "mimeType").split(';').next().unwrap_or_default().trim(),
        "charset": "", "connectionReused": false, "connectionId": 0,
        "fromDiskCache": response.get("fromCache"), "fromServiceWorker": false,
        "encodedDataLength": response.get("headersSize").cloned().unwrap_or(json!(0)),
        "protocol": response.get("protocol"), "securityState": if is_secure { "secure" } else { "insecure" },
    })
}

/// CDP's headers: an object; the values of a repeated name are joined.
pub(in crate::browser) fn to_headers(headers: Option<&Value>) -> Value {
    let mut object: Map<String, Value> = Map::new();
    for header in headers.and_then(Value::as_array).into_iter().flatten() {
        let value = bytes_text(header.get("value"));
        let joined = match object.get(text(header, "name")).and_then(Value::as_str) {
            Some(before) => format!("{before}\n{value}"),
            None => value,
        };
        object.insert(text(header, "name").to_owned(), Value::from(joined));
    }
    Value::Object(object)
}

fn has_header(response: &Value, name: &str) -> bool {
    let headers = response.get("headers").and_then(Value::as_object);
    headers.is_some_and(|headers| headers.keys().any(|key| key.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_documents_have_the_id_of_their_navigation() {
        let document = json!({"navigation": "N", "request": {"request": "1"}});
        assert_eq!((request_id(&document).as_str(), resource_type(&document)), ("N", "Document"));
        let script = json!({"navigation": null, "request": {"request": "2", "destination": "script"}});
        assert_eq!((request_id(&script).as_str(), resource_type(&script)), ("2", "Script"));
    }

    #[test]
    fn repeated_headers_are_joined() {
        let header = |value: &str| json!({"name": "Set-Cookie", "value": {"type": "string", "value": value}});
        let headers = to_headers(Some(&json!([header("a=1"), header("b=2")])));
        assert_eq!(headers, json!({"Set-Cookie": "a=1\nb=2"}));
    }
}
