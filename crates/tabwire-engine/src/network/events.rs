//! CDP events of requests, as far as they are used.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;

use super::headers::HeaderList;

/// A request starts, or continues after a redirect.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestWillBeSent {
    pub(crate) request_id: String,
    pub(crate) request: SentRequest,
    /// The document that makes it.
    #[serde(rename = "documentURL", default)]
    pub(crate) document: String,
    #[serde(default)]
    pub(crate) timestamp: f64,
    #[serde(default)]
    pub(crate) wall_time: f64,
    #[serde(default)]
    pub(crate) redirect_has_extra_info: bool,
    pub(crate) redirect_response: Option<ResponseHead>,
    #[serde(rename = "type", default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) frame_id: String,
    #[serde(default)]
    pub(crate) loader_id: String,
}

/// A request.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SentRequest {
    pub(crate) url: String,
    pub(crate) method: String,
    pub(crate) headers: HeaderList,
    pub(crate) post_data: Option<String>,
    pub(crate) post_data_entries: Vec<PostDataEntry>,
    pub(crate) has_post_data: bool,
}

/// A part of a request's body.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PostDataEntry {
    /// In Base64; absent for a file.
    pub(crate) bytes: Option<String>,
}

impl SentRequest {
    /// The body in Base64, if its text differs from its bytes.
    pub(crate) fn post_bytes(&self) -> Option<String> {
        let parts = self.post_data_entries.iter().filter_map(|entry| entry.bytes.as_deref());
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend(BASE64_STANDARD.decode(part).ok()?);
        }
        let is_text = self.post_data.as_deref().is_some_and(|text| text.as_bytes() == bytes);
        (!is_text && !bytes.is_empty()).then(|| BASE64_STANDARD.encode(bytes))
    }
}

/// The head of a response.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ResponseHead {
    /// Its URL, which a service worker may have chosen.
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) status_text: String,
    pub(crate) headers: HeaderList,
    pub(crate) mime_type: String,
    pub(crate) protocol: Option<String>,
    #[serde(rename = "remoteIPAddress")]
    pub(crate) remote_address: Option<String>,
    pub(crate) remote_port: Option<u32>,
    pub(crate) from_disk_cache: bool,
    pub(crate) from_service_worker: bool,
    pub(crate) from_prefetch_cache: bool,
    pub(crate) timing: Option<ResourceTiming>,
}

/// Times of a request's phases in milliseconds after its start; -1 for absent phases.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ResourceTiming {
    /// Its start, in seconds of the browser's monotonic clock.
    pub(crate) request_time: f64,
    pub(crate) dns_start: f64,
    pub(crate) dns_end: f64,
    pub(crate) connect_start: f64,
    pub(crate) connect_end: f64,
    pub(crate) ssl_start: f64,
    pub(crate) ssl_end: f64,
    pub(crate) send_start: f64,
    pub(crate) send_end: f64,
    pub(crate) receive_headers_end: f64,
}

/// Headers as they were sent or received.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExtraInfo {
    pub(crate) request_id: String,
    #[serde(default)]
    pub(crate) headers: HeaderList,
}

/// A response starts.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResponseReceived {
    pub(crate) request_id: String,
    pub(crate) response: ResponseHead,
}

/// A response is complete.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoadingFinished {
    pub(crate) request_id: String,
    #[serde(default)]
    pub(crate) timestamp: f64,
    #[serde(default)]
    pub(crate) encoded_data_length: f64,
}

/// A request failed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoadingFailed {
    pub(crate) request_id: String,
    #[serde(default)]
    pub(crate) timestamp: f64,
    #[serde(default)]
    pub(crate) error_text: String,
    #[serde(default)]
    pub(crate) canceled: bool,
    pub(crate) blocked_reason: Option<String>,
    pub(crate) cors_error_status: Option<CorsError>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CorsError {
    #[serde(default)]
    pub(crate) cors_error: String,
}

/// Only the id of the request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestIdOnly {
    pub(crate) request_id: String,
    #[serde(default)]
    pub(crate) timestamp: f64,
}

/// A WebSocket is created.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SocketCreated {
    pub(crate) request_id: String,
    pub(crate) url: String,
}

/// The handshake of a WebSocket.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SocketHandshake {
    pub(crate) request_id: String,
    pub(crate) request: SentRequest,
    pub(crate) timestamp: f64,
    pub(crate) wall_time: f64,
}

/// A WebSocket message.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SocketFrame {
    pub(crate) request_id: String,
    pub(crate) timestamp: f64,
    pub(crate) response: SocketPayload,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SocketPayload {
    pub(crate) opcode: f64,
    pub(crate) payload_data: String,
}

/// A WebSocket failed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SocketError {
    pub(crate) request_id: String,
    pub(crate) error_message: String,
}

/// A server-sent event.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerEvent {
    pub(crate) request_id: String,
    pub(crate) timestamp: f64,
    #[serde(default)]
    pub(crate) event_name: String,
    #[serde(default)]
    pub(crate) data: String,
}

/// A paused request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestPaused {
    pub(crate) request_id: String,
    pub(crate) request: SentRequest,
    #[serde(default)]
    pub(crate) resource_type: String,
    #[serde(default)]
    pub(crate) frame_id: String,
    pub(crate) network_id: Option<String>,
    /// The paused request that was redirected to this one.
    pub(crate) redirected_request_id: Option<String>,
}

/// A response, as far as it may be the page's own document.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DocumentCame {
    #[serde(rename = "type", default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) frame_id: String,
    pub(crate) response: DocumentAddress,
}

/// Its URL.
#[derive(Debug, Deserialize)]
pub(crate) struct DocumentAddress {
    pub(crate) url: String,
}

/// An authentication challenge.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthRequired {
    pub(crate) request_id: String,
    pub(crate) request: SentRequest,
    #[serde(default)]
    pub(crate) resource_type: String,
    pub(crate) frame_id: String,
    pub(crate) auth_challenge: AuthChallenge,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthChallenge {
    #[serde(default)]
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) origin: String,
}
