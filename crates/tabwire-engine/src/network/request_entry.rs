//! One request as the log keeps it: what was asked, what came back, when. Knows nothing of the log.

use std::collections::VecDeque;
use std::time::Duration;

use tabwire_cdp::CdpSession;

use super::header_list::HeaderList;
use super::message::Message;
use super::network_event::{ResponseHead, SentRequest};
use super::resource_kind::ResourceKind;
use crate::limits::{MESSAGES, POST_DATA_BYTES};

/// How far a request has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// No end is known.
    UnderWay,
    /// Answered.
    Done,
    /// Sent elsewhere; the next request of the log with the same id goes on.
    Redirected,
    /// No answer, or no whole one.
    Failed(String),
}

/// Where an answer came from when it was not the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    MemoryCache,
    DiskCache,
    PrefetchCache,
    ServiceWorker,
    /// A route of ours, by its number.
    Route(u32),
    /// The archive that is being replayed.
    Archive,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct RequestEntry {
    pub(crate) number: u64,
    pub(crate) id: String,
    /// The process that told of it last, which holds its bodies.
    pub(crate) session: CdpSession,
    pub(crate) url: String,
    /// The URL of the document that made it; empty when the browser did not report it.
    pub(crate) document: String,
    pub(crate) method: String,
    pub(crate) kind: ResourceKind,
    pub(crate) headers: HeaderList,
    pub(crate) post_data: Option<String>,
    pub(crate) has_post_data: bool,
    /// When it began: seconds of the browser's own clock, and of the world's.
    pub(crate) started: f64,
    pub(crate) wall: f64,
    pub(crate) ended: Option<f64>,
    pub(crate) response: Option<ResponseHead>,
    pub(crate) outcome: Outcome,
    /// Bytes that came over the wire.
    pub(crate) bytes: u64,
    pub(crate) origin: Option<Origin>,
    pub(crate) messages: VecDeque<Message>,
    pub(crate) message_count: u64,
    /// Whether the headers are those of the wire.
    pub(super) knows_sent: bool,
    pub(super) knows_received: bool,
}

impl RequestEntry {
    pub(super) fn new(id: String, session: &CdpSession, kind: ResourceKind, request: SentRequest) -> Self {
        let post_data = request.post_data.filter(|data| data.len() <= POST_DATA_BYTES);
        Self {
            number: 0,
            id,
            session: session.clone(),
            url: request.url,
            document: String::new(),
            method: request.method,
            kind,
            headers: request.headers,
            has_post_data: request.has_post_data || post_data.is_some(),
            post_data,
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

    /// Takes the head of its answer; headers of the wire that are known already stay.
    pub(super) fn answered(&mut self, mut head: ResponseHead) {
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

    pub(super) fn say(&mut self, message: Message) {
        self.message_count += 1;
        if self.messages.len() == MESSAGES {
            self.messages.pop_front();
        }
        self.messages.push_back(message);
    }

    /// The status of its answer.
    pub(crate) fn status(&self) -> Option<u16> {
        self.response.as_ref().map(|head| head.status).filter(|status| *status > 0)
    }

    /// Whether it failed or was refused.
    pub(crate) fn is_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_)) || self.status().is_some_and(|status| status >= 400)
    }

    /// Whether it is only a part of how the page looks.
    pub(crate) fn is_static(&self) -> bool {
        self.kind.is_static() || (self.kind == ResourceKind::Other && self.url.ends_with("/favicon.ico"))
    }

    /// How long it took, or takes so far.
    pub(crate) fn milliseconds(&self) -> Option<u64> {
        self.ended.map(|ended| milliseconds_between(self.started, ended))
    }

    /// The content type of its answer.
    pub(crate) fn content_type(&self) -> &str {
        let head = self.response.as_ref();
        head.map_or("", |head| head.headers.find("content-type").unwrap_or(&head.mime_type))
    }
}

/// Whole milliseconds between two readings of the browser's clock, in seconds.
pub(super) fn milliseconds_between(from: f64, to: f64) -> u64 {
    let time = Duration::try_from_secs_f64(to - from).unwrap_or_default();
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
