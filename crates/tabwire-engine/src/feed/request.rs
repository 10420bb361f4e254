//! Requests, responses and WebSockets of one page as scripts get them.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::TargetId;
use tabwire_cdp::Event;

use super::{EventFeed, EventKind};
use crate::network::events::{RequestPaused, SocketError, SocketFrame};
use crate::network::log::RequestLog;
use crate::network::log::entry::{Outcome, RequestEntry};
use crate::network::{HeaderList, judged_urls};

/// The way of one page's network events into the feed.
#[derive(Clone, Debug)]
pub(crate) struct NetworkFeed {
    feed: EventFeed,
    target: TargetId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestIdOnly {
    request_id: String,
}

impl NetworkFeed {
    pub(crate) fn new(feed: EventFeed, target: &TargetId) -> Self {
        Self { feed, target: target.clone() }
    }

    pub(crate) fn feed(&self) -> &EventFeed {
        &self.feed
    }

    pub(crate) fn target(&self) -> &TargetId {
        &self.target
    }

    /// Whether any event of the network is wanted.
    pub(crate) fn is_wanted(&self) -> bool {
        use EventKind::{Request, RequestFailed, RequestFinished, Response, WebSocket};
        [Request, Response, RequestFinished, RequestFailed, WebSocket]
            .iter()
            .any(|kind| self.feed.wants(*kind))
    }

    /// Reports a CDP event that the log has recorded.
    pub(crate) fn observe(&self, log: &RequestLog, event: &Event) {
        let Ok(RequestIdOnly { request_id }) = event.to::<RequestIdOnly>() else { return };
        let Some(entry) = log.last_of(&request_id) else { return };
        match event.method() {
            "Network.requestWillBeSent" => {
                // CDP reports a redirect as one more `requestWillBeSent` with the same id, and sends no
                // `responseReceived` for it.
                let before = log.redirected_to(entry);
                if let Some(before) = before {
                    self.send(EventKind::Response, before, response_facts(before));
                    self.send(EventKind::RequestFinished, before, end_facts(before));
                }
                let facts = request_facts(entry, before);
                self.send(EventKind::Request, entry, facts);
            }
            "Network.responseReceived" => self.send(EventKind::Response, entry, response_facts(entry)),
            "Network.loadingFinished" => self.send(EventKind::RequestFinished, entry, end_facts(entry)),
            "Network.loadingFailed" => self.send(EventKind::RequestFailed, entry, end_facts(entry)),
            method if method.starts_with("Network.webSocket") => self.socket(entry, event),
            _ => {}
        }
    }

    fn send(&self, kind: EventKind, entry: &RequestEntry, data: Value) {
        self.feed.emit(kind, &self.target, || (judged_urls(entry), data));
    }

    fn socket(&self, entry: &RequestEntry, event: &Event) {
        let (what, payload, is_text) = match event.method() {
            "Network.webSocketCreated" => ("open", None, true),
            "Network.webSocketClosed" => ("close", None, true),
            "Network.webSocketFrameError" => {
                ("error", event.to::<SocketError>().ok().map(|error| error.error_message), true)
            }
            "Network.webSocketFrameSent" | "Network.webSocketFrameReceived" => {
                let Ok(SocketFrame { response, .. }) = event.to::<SocketFrame>() else { return };
                let what = if event.method().ends_with("Sent") { "sent" } else { "received" };
                // RFC 6455: opcode 1 is text. CDP gives other payloads in base64.
                (what, Some(response.payload_data), (response.opcode - 1.0).abs() < 0.5)
            }
            _ => return,
        };
        let data = json!({
            "number": entry.number, "url": entry.url, "what": what, "payload": payload, "is_text": is_text,
        });
        self.send(EventKind::WebSocket, entry, data);
    }
}

/// Headers as pairs.
pub(crate) fn header_pairs(headers: &HeaderList) -> Value {
    headers.iter().map(|header| json!([header.name, header.value])).collect()
}

/// The facts of a request that starts.
pub(crate) fn request_facts(entry: &RequestEntry, before: Option<&RequestEntry>) -> Value {
    json!({
        "number": entry.number, "id": entry.id, "url": entry.url, "method": entry.method,
        "headers": header_pairs(&entry.headers), "post_data": entry.post_data, "post_bytes": entry.post_bytes,
        "type": entry.kind.as_str(), "frame": entry.frame, "started": entry.wall,
        "is_navigation": entry.is_navigation, "redirected_from": before.map(|before| before.number),
    })
}

/// The facts of a response.
pub(crate) fn response_facts(entry: &RequestEntry) -> Value {
    let Some(head) = &entry.response else { return json!({"number": entry.number}) };
    let timing = head.timing.as_ref().map(|timing| {
        json!({
            "domainLookupStart": timing.dns_start, "domainLookupEnd": timing.dns_end,
            "connectStart": timing.connect_start, "secureConnectionStart": timing.ssl_start,
            "connectEnd": timing.connect_end, "requestStart": timing.send_start,
            "responseStart": timing.receive_headers_end,
        })
    });
    json!({
        "number": entry.number, "url": head.url, "status": head.status, "status_text": head.status_text,
        "headers": header_pairs(&head.headers), "from_service_worker": head.from_service_worker,
        "address": head.remote_address, "port": head.remote_port, "timing": timing,
        "protocol": head.protocol,
    })
}

/// The facts of a request that has ended.
fn end_facts(entry: &RequestEntry) -> Value {
    let error = match &entry.outcome {
        Outcome::Failed(error) => Some(error.as_str()),
        _ => None,
    };
    json!({
        "number": entry.number, "duration": entry.milliseconds(), "bytes": entry.bytes, "error": error,
    })
}

/// The facts of a paused request.
pub(crate) fn paused_facts(paused: &RequestPaused, number: Option<u64>, main: &str) -> Value {
    let request = &paused.request;
    json!({
        "number": number, "id": paused.network_id, "url": request.url, "method": request.method,
        "headers": header_pairs(&request.headers),
        "post_data": request.post_data, "post_bytes": request.post_bytes(), "frame": paused.frame_id,
        "type": crate::network::ResourceKind::from_browser(&paused.resource_type).as_str(),
        "is_navigation": paused.resource_type == "Document", "is_main": paused.frame_id == main,
        "paused": paused.request_id, "redirected_from_paused": paused.redirected_request_id,
    })
}
