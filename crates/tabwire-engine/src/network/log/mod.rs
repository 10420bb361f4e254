//! The bounded, numbered log of a page's requests. Events feed it.

pub(crate) mod body;
pub(crate) mod entry;
pub(crate) mod full_request;
pub(crate) mod listed;
pub(crate) mod message;
pub(crate) mod resource_kind;

use std::collections::VecDeque;

use tabwire_cdp::{CdpError, CdpSession, Event};

use super::events::{
    ExtraInfo, LoadingFailed, LoadingFinished, RequestIdOnly, RequestWillBeSent, ResponseHead,
    ResponseReceived, SentRequest, ServerEvent, SocketCreated, SocketError, SocketFrame, SocketHandshake,
};
use super::headers::HeaderList;
use super::log::entry::{Origin, Outcome, RequestEntry, milliseconds_between};
use super::log::message::{Direction, Message};
use super::log::resource_kind::ResourceKind;
use crate::limits::REQUEST_ENTRIES;

/// Requests in the log of a page during a recording.
const RECORDED_REQUESTS: usize = 10_000;

/// Early request data: events that arrived before `Network.requestWillBeSent` of their request.
const EARLY_REQUEST_DATA: usize = 256;

/// The last requests of a page.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    entries: VecDeque<RequestEntry>,
    count: u64,
    /// Event data of requests that have not started in the log yet.
    early: VecDeque<(String, EarlyEvent)>,
    /// The last number that was listed.
    listed: u64,
    /// Whether everything is kept for a recording.
    pub(crate) keeps_more: bool,
}

/// Data of a request that is not in the log yet.
#[derive(Debug)]
enum EarlyEvent {
    Sent(HeaderList),
    Received(HeaderList),
    Fulfilled(Origin),
}

impl RequestLog {
    /// Records an event; returns the request that it finishes.
    pub(crate) fn observe(&mut self, session: &CdpSession, event: &Event) -> Option<u64> {
        // Ignore events that this version does not know.
        self.try_observe(session, event).ok().flatten()
    }

    fn try_observe(&mut self, session: &CdpSession, event: &Event) -> Result<Option<u64>, CdpError> {
        match event.method() {
            "Network.requestWillBeSent" => self.begin(session, event.to()?),
            "Network.requestWillBeSentExtraInfo" => {
                let info: ExtraInfo = event.to()?;
                self.add_early(info.request_id, EarlyEvent::Sent(info.headers));
            }
            "Network.responseReceivedExtraInfo" => {
                let info: ExtraInfo = event.to()?;
                self.add_early(info.request_id, EarlyEvent::Received(info.headers));
            }
            "Network.responseReceived" | "Network.webSocketHandshakeResponseReceived" => {
                let received: ResponseReceived = event.to()?;
                if let Some(entry) = self.find_by_id(&received.request_id) {
                    // A request of a navigation can begin in one process and get its response in another; the body is
                    // read from the second.
                    entry.session = session.clone();
                    entry.set_response(received.response);
                }
            }
            "Network.requestServedFromCache" => {
                if let Some(entry) = self.find_by_id(&event.to::<RequestIdOnly>()?.request_id) {
                    entry.origin = Some(Origin::MemoryCache);
                }
            }
            "Network.loadingFinished" => return Ok(self.finish(session, &event.to()?)),
            "Network.loadingFailed" => return Ok(self.fail(session, event.to()?)),
            "Network.eventSourceMessageReceived" => {
                let said: ServerEvent = event.to()?;
                let name = Some(said.event_name).filter(|name| !name.is_empty() && name != "message");
                self.add_message(
                    &said.request_id,
                    said.timestamp,
                    Direction::Received,
                    &said.data,
                    false,
                    name,
                );
            }
            method if method.starts_with("Network.webSocket") => self.observe_socket(session, event)?,
            _ => {}
        }
        Ok(None)
    }

    fn observe_socket(&mut self, session: &CdpSession, event: &Event) -> Result<(), CdpError> {
        match event.method() {
            "Network.webSocketCreated" => {
                let made: SocketCreated = event.to()?;
                let request =
                    SentRequest { url: made.url, method: "GET".to_owned(), ..SentRequest::default() };
                self.push(RequestEntry::new(made.request_id, session, ResourceKind::Websocket, request));
            }
            "Network.webSocketWillSendHandshakeRequest" => {
                let asks: SocketHandshake = event.to()?;
                if let Some(entry) = self.find_by_id(&asks.request_id) {
                    entry.headers = asks.request.headers;
                    (entry.started, entry.wall) = (asks.timestamp, asks.wall_time);
                }
            }
            "Network.webSocketFrameSent" | "Network.webSocketFrameReceived" => {
                let is_sent = event.method().ends_with("Sent");
                let frame: SocketFrame = event.to()?;
                let direction = if is_sent { Direction::Sent } else { Direction::Received };
                // Only text frames have this opcode; the payload of others is base64.
                let binary = (frame.response.opcode - 1.0).abs() > 0.5;
                let text = frame.response.payload_data;
                self.add_message(&frame.request_id, frame.timestamp, direction, &text, binary, None);
            }
            "Network.webSocketFrameError" => {
                let error: SocketError = event.to()?;
                if let Some(entry) = self.find_by_id(&error.request_id) {
                    entry.outcome = Outcome::Failed(error.error_message);
                }
            }
            _ => {
                let closed: RequestIdOnly = event.to()?;
                if let Some(entry) = self.find_by_id(&closed.request_id) {
                    entry.ended = Some(closed.timestamp);
                    if entry.outcome == Outcome::UnderWay {
                        entry.outcome = Outcome::Done;
                    }
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, session: &CdpSession, sent: RequestWillBeSent) {
        // Chrome sends no `responseReceived` for a redirect: its response is a field of the next request, which
        // has the same id.
        if let Some(head) = sent.redirect_response {
            self.redirect(&sent.request_id, head, sent.timestamp, sent.redirect_has_extra_info);
        }
        let kind = ResourceKind::from_browser(&sent.kind);
        let is_navigation = kind == ResourceKind::Document && sent.request_id == sent.loader_id;
        let mut entry = RequestEntry::new(sent.request_id, session, kind, sent.request);
        (entry.started, entry.wall) = (sent.timestamp, sent.wall_time);
        entry.document = sent.document;
        (entry.frame, entry.is_navigation) = (sent.frame_id, is_navigation);
        self.push(entry);
    }

    fn redirect(&mut self, id: &str, head: ResponseHead, at: f64, has_extra: bool) {
        if let Some(entry) = self.find_by_id(id) {
            entry.set_response(head);
            entry.outcome = Outcome::Redirected;
            entry.ended = Some(at);
            if !has_extra {
                // Later raw headers belong to the next request.
                (entry.knows_sent, entry.knows_received) = (true, true);
            }
        }
    }

    fn push(&mut self, mut entry: RequestEntry) {
        self.count += 1;
        entry.number = self.count;
        let limit = if self.keeps_more { RECORDED_REQUESTS } else { REQUEST_ENTRIES };
        while self.entries.len() >= limit {
            self.entries.pop_front();
        }
        let id = entry.id.clone();
        self.entries.push_back(entry);
        let early = std::mem::take(&mut self.early);
        for (about, data) in early {
            if about == id { self.add_early(about, data) } else { self.early.push_back((about, data)) }
        }
    }

    /// Adds data to its request, or keeps it until the request is in the log: Chrome sends `ExtraInfo` events and
    /// `Fetch.requestPaused` before or after `requestWillBeSent`.
    fn add_early(&mut self, id: String, data: EarlyEvent) {
        let wants = |entry: &&mut RequestEntry| match data {
            EarlyEvent::Sent(_) => !entry.knows_sent,
            EarlyEvent::Received(_) => !entry.knows_received,
            EarlyEvent::Fulfilled(_) => entry.outcome == Outcome::UnderWay,
        };
        let Some(entry) = self.entries.iter_mut().filter(|entry| entry.id == id).find(wants) else {
            if self.early.len() == EARLY_REQUEST_DATA {
                self.early.pop_front();
            }
            self.early.push_back((id, data));
            return;
        };
        match data {
            EarlyEvent::Sent(headers) => {
                entry.headers = headers;
                entry.knows_sent = true;
            }
            EarlyEvent::Received(headers) => {
                // The headers as received, with `Set-Cookie`, which `responseReceived` leaves out.
                entry.response.get_or_insert_default().headers = headers;
                entry.knows_received = true;
            }
            EarlyEvent::Fulfilled(origin) => entry.origin = Some(origin),
        }
    }

    /// Records the source of a response that did not come from the network.
    pub(crate) fn set_origin(&mut self, id: &str, origin: Origin) {
        self.add_early(id.to_owned(), EarlyEvent::Fulfilled(origin));
    }

    fn finish(&mut self, session: &CdpSession, finished: &LoadingFinished) -> Option<u64> {
        let entry = self.find_by_id(&finished.request_id)?;
        entry.session = session.clone();
        entry.ended = Some(finished.timestamp);
        entry.bytes = whole(finished.encoded_data_length);
        entry.outcome = Outcome::Done;
        Some(entry.number)
    }

    fn fail(&mut self, session: &CdpSession, failed: LoadingFailed) -> Option<u64> {
        let entry = self.find_by_id(&failed.request_id)?;
        entry.session = session.clone();
        entry.ended = Some(failed.timestamp);
        let why = failed.blocked_reason.or(failed.cors_error_status.map(|status| status.cors_error));
        let what =
            if failed.canceled && failed.error_text.is_empty() { "canceled" } else { &failed.error_text };
        entry.outcome = Outcome::Failed(why.map_or_else(|| what.to_owned(), |why| format!("{what} ({why})")));
        Some(entry.number)
    }

    fn add_message(
        &mut self,
        id: &str,
        at: f64,
        direction: Direction,
        text: &str,
        binary: bool,
        event: Option<String>,
    ) {
        if let Some(entry) = self.find_by_id(id) {
            let after = milliseconds_between(entry.started, at);
            entry.add_message(Message::new(direction, after, text, binary, event));
        }
    }

    /// The last request with this id: redirects share one.
    fn find_by_id(&mut self, id: &str) -> Option<&mut RequestEntry> {
        self.entries.iter_mut().rev().find(|entry| entry.id == id)
    }

    /// The last request with this id.
    pub(crate) fn last_of(&self, id: &str) -> Option<&RequestEntry> {
        self.entries.iter().rev().find(|entry| entry.id == id)
    }

    /// The request that was redirected to this one.
    pub(crate) fn redirected_to(&self, entry: &RequestEntry) -> Option<&RequestEntry> {
        let before = |other: &&RequestEntry| other.id == entry.id && other.number < entry.number;
        self.entries.iter().rev().find(before)
    }

    /// The request with this number.
    pub(crate) fn find(&self, number: u64) -> Option<&RequestEntry> {
        self.entries.iter().find(|entry| entry.number == number)
    }

    /// The requests after this number that are still in the log, oldest first.
    pub(crate) fn since(&self, number: u64) -> impl Iterator<Item = &RequestEntry> {
        self.entries.iter().filter(move |entry| entry.number > number)
    }

    /// Total number of requests.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// How many of them are no longer in the log.
    pub(crate) fn forgotten(&self) -> u64 {
        self.entries.front().map_or(0, |entry| entry.number - 1)
    }

    /// Returns the last listed number and advances it to the end.
    pub(crate) fn mark_listed(&mut self) -> u64 {
        std::mem::replace(&mut self.listed, self.count)
    }
}

/// A byte count of CDP, which sends floats.
fn whole(number: f64) -> u64 {
    format!("{:.0}", number.max(0.0)).parse().unwrap_or(0)
}
