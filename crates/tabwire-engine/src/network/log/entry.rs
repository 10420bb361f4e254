//! One request in the log.

use std::collections::VecDeque;
use std::time::Duration;

use tabwire_cdp::CdpSession;

use super::message::Message;
use super::resource_kind::ResourceKind;
use crate::network::events::{ResponseHead, SentRequest};
use crate::network::headers::HeaderList;

/// Largest request body in the log, in bytes. Larger ones are fetched on demand.
const POST_DATA_BYTES: usize = 64 * 1024;

/// Messages of one WebSocket or event stream. The oldest are dropped first.
const MESSAGES: usize = 200;

/// The state of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Not finished.
    UnderWay,
    /// Finished with a response.
    Done,
    /// Redirected; the next request in the log has the same id.
    Redirected,
    /// Failed.
    Failed(String),
}

/// The source of a response that did not come from the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    MemoryCache,
    DiskCache,
    PrefetchCache,
    ServiceWorker,
    /// A route, by number.
    Route(u32),
    /// The replayed archive.
    HarReplay,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct RequestEntry {
    pub(crate) number: u64,
    pub(crate) id: String,
    /// The process that reported it last, which holds its bodies.
    pub(crate) session: CdpSession,
    pub(crate) url: String,
    /// The URL of the document that made it; empty when the browser did not report it.
    pub(crate) document: String,
    /// The frame that made it; empty for a worker.
    pub(crate) frame: String,
    /// Whether it navigates that frame.
    pub(crate) is_navigation: bool,
    pub(crate) method: String,
    pub(crate) kind: ResourceKind,
    pub(crate) headers: HeaderList,
    pub(crate) post_data: Option<String>,
    /// The body in Base64, if its text differs from its bytes.
    pub(crate) post_bytes: Option<String>,
    pub(crate) has_post_data: bool,
    /// Start time: the browser's monotonic clock and Unix time, in seconds.
    pub(crate) started: f64,
    pub(crate) wall: f64,
    pub(crate) ended: Option<f64>,
    pub(crate) response: Option<ResponseHead>,
    pub(crate) outcome: Outcome,
    /// Bytes received over the network.
    pub(crate) bytes: u64,
    pub(crate) origin: Option<Origin>,
    pub(crate) messages: VecDeque<Message>,
    pub(crate) message_count: u64,
    /// Whether the headers are the raw ones.
    pub(crate) knows_sent: bool,
    pub(crate) knows_received: bool,
}

impl RequestEntry {
    pub(crate) fn new(id: String, session: &CdpSession, kind: ResourceKind, request: SentRequest) -> Self {
        let post_bytes = request.post_bytes().filter(|data| data.len() <= POST_DATA_BYTES);
        let post_data = request.post_data.filter(|data| data.len() <= POST_DATA_BYTES);
        Self {
            number: 0,
            id,
            session: session.clone(),
            url: request.url,
            document: String::new(),
            frame: String::new(),
            is_navigation: false,
            method: request.method,
            kind,
            headers: request.headers,
            has_post_data: request.has_post_data || post_data.is_some(),
            post_data,
            post_bytes,
            started: 0.0,
            wall: 0.0,
            ended: None,
            response: None,
            outcome: Outcome::UnderWay,
            bytes: 0,
            origin: None,
            messages: VecDeque::new(),
            message_count: 0,
            knows_sent: false,
            knows_received: false,
        }
    }

    /// Sets the head of its response; keeps raw headers that are known already.
    pub(crate) fn set_response(&mut self, mut head: ResponseHead) {
        if head.from_service_worker {
            self.origin = Some(Origin::ServiceWorker);
        } else if head.from_prefetch_cache {
            self.origin = Some(Origin::PrefetchCache);
        } else if head.from_disk_cache {
            self.origin = Some(Origin::DiskCache);
        }
        if let Some(known) = self.response.take().filter(|_| self.knows_received) {
            head.headers = known.headers;
        }
        self.response = Some(head);
    }

    pub(crate) fn add_message(&mut self, message: Message) {
        self.message_count += 1;
        if self.messages.len() == MESSAGES {
            self.messages.pop_front();
        }
        self.messages.push_back(message);
    }

    /// The status of its response.
    pub(crate) fn status(&self) -> Option<u16> {
        self.response.as_ref().map(|head| head.status).filter(|status| *status > 0)
    }

    /// Whether it failed or was blocked.
    pub(crate) fn is_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_)) || self.status().is_some_and(|status| status >= 400)
    }

    /// Whether it is a static resource (see `ResourceKind::is_static`).
    pub(crate) fn is_static(&self) -> bool {
        self.kind.is_static() || (self.kind == ResourceKind::Other && self.url.ends_with("/favicon.ico"))
    }

    /// Its duration so far.
    pub(crate) fn milliseconds(&self) -> Option<u64> {
        self.ended.map(|ended| milliseconds_between(self.started, ended))
    }

    /// The content type of its response.
    pub(crate) fn content_type(&self) -> &str {
        let head = self.response.as_ref();
        head.map_or("", |head| head.headers.find("content-type").unwrap_or(&head.mime_type))
    }
}

/// Whole milliseconds between two times in seconds.
pub(crate) fn milliseconds_between(from: f64, to: f64) -> u64 {
    let time = Duration::try_from_secs_f64(to - from).unwrap_or_default();
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
