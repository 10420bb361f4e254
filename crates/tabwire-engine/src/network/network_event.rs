//! What browsers tell of requests, as far as it is used here. Only shapes.

use serde::Deserialize;

use super::header_list::HeaderList;

/// A request begins, or goes on after a redirect.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestWillBeSent {
    pub(super) request_id: String,
    pub(super) request: SentRequest,
    /// The document that makes it.
    #[serde(rename = "documentURL", default)]
    pub(super) document: String,
    #[serde(default)]
    pub(super) timestamp: f64,
    #[serde(default)]
    pub(super) wall_time: f64,
    #[serde(default)]
    pub(super) redirect_has_extra_info: bool,
    pub(super) redirect_response: Option<ResponseHead>,
    #[serde(rename = "type", default)]
    pub(super) kind: String,
}

/// A request as a page makes it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct SentRequest {
    pub(super) url: String,
    pub(super) method: String,
    pub(super) headers: HeaderList,
    pub(super) post_data: Option<String>,
    pub(super) has_post_data: bool,
}

/// The head of an answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ResponseHead {
    /// Where it came from, which a service worker may have chosen.
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

/// When a request's steps began and ended, in milliseconds after it was made; -1 for steps it had not.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ResourceTiming {
    /// When it was made, in seconds of the browser's own clock.
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

/// Headers as they went over the wire, or came.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExtraInfo {
    pub(super) request_id: String,
    #[serde(default)]
    pub(super) headers: HeaderList,
}

/// An answer begins.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResponseReceived {
    pub(super) request_id: String,
    pub(super) response: ResponseHead,
}

/// An answer is whole.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadingFinished {
    pub(super) request_id: String,
    #[serde(default)]
    pub(super) timestamp: f64,
    #[serde(default)]
    pub(super) encoded_data_length: f64,
}

/// There is no answer, or no whole one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadingFailed {
    pub(super) request_id: String,
    #[serde(default)]
    pub(super) timestamp: f64,
    #[serde(default)]
    pub(super) error_text: String,
    #[serde(default)]
    pub(super) canceled: bool,
    pub(super) blocked_reason: Option<String>,
    pub(super) cors_error_status: Option<CorsError>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CorsError {
    #[serde(default)]
    pub(super) cors_error: String,
}

/// Only which request it is about.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct About {
    pub(super) request_id: String,
    #[serde(default)]
    pub(super) timestamp: f64,
}

/// A WebSocket is made.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SocketCreated {
    pub(super) request_id: String,
    pub(super) url: String,
}

/// A WebSocket asks to be let in.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SocketAsks {
    pub(super) request_id: String,
    pub(super) request: SentRequest,
    pub(super) timestamp: f64,
    pub(super) wall_time: f64,
}

/// A WebSocket's message.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SocketFrame {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) response: SocketPayload,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SocketPayload {
    pub(super) opcode: f64,
    pub(super) payload_data: String,
}

/// A WebSocket failed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SocketError {
    pub(super) request_id: String,
    pub(super) error_message: String,
}

/// A server-sent event.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServerEvent {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    #[serde(default)]
    pub(super) event_name: String,
    #[serde(default)]
    pub(super) data: String,
}

/// A request is held until it is said what becomes of it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestPaused {
    pub(super) request_id: String,
    pub(super) request: SentRequest,
    #[serde(default)]
    pub(super) resource_type: String,
    #[serde(default)]
    pub(super) frame_id: String,
    pub(super) network_id: Option<String>,
}

/// Something came, as far as it may be a page's own document.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentCame {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) frame_id: String,
    pub(super) response: DocumentAddress,
}

/// Where it came from.
#[derive(Debug, Deserialize)]
pub(super) struct DocumentAddress {
    pub(super) url: String,
}

/// A server asks who is there.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuthRequired {
    pub(super) request_id: String,
    pub(super) request: SentRequest,
    #[serde(default)]
    pub(super) resource_type: String,
    pub(super) frame_id: String,
    pub(super) auth_challenge: AuthChallenge,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuthChallenge {
    #[serde(default)]
    pub(super) source: String,
    #[serde(default)]
    pub(super) origin: String,
}
