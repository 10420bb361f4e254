//! `GET /v1/chats/ID/events`: the changes of a chat as server-sent events.
//!
//! The id of an event is `EPOCH.NUMBER`. A client that reconnects with the last id it has gets the rest; if that is gone,
//! or the daemon is another one, it gets the whole chat first.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::unfold;
use http::{HeaderValue, Request, StatusCode, header};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use tabwire_api::{ErrorCode, Failure};
use tokio::sync::mpsc;

use crate::audit::events::EventSlot;
use crate::chat::Chat;
use crate::daemon::Daemon;
use crate::http::handler::query_value;
use crate::http::server::{HttpResponse, page};

/// Changes that are kept for clients that reconnect, and their bytes.
const KEPT_CHANGES: usize = 2_000;
const KEPT_BYTES: usize = 4 * 1024 * 1024;

/// A comment is sent this often, so that a broken connection is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The latest changes of a chat.
#[derive(Debug)]
pub(super) struct ChangeLog {
    /// Tells the changes of this daemon from those of others.
    epoch: String,
    last: u64,
    kept: VecDeque<(u64, String)>,
    bytes: usize,
}

impl ChangeLog {
    pub(super) const fn new(epoch: String) -> Self {
        Self { epoch, last: 0, kept: VecDeque::new(), bytes: 0 }
    }

    pub(super) const fn last(&self) -> u64 {
        self.last
    }

    pub(super) fn push(&mut self, change: String) {
        self.last += 1;
        self.bytes += change.len();
        self.kept.push_back((self.last, change));
        while self.kept.len() > KEPT_CHANGES || self.bytes > KEPT_BYTES {
            let Some((_, dropped)) = self.kept.pop_front() else { return };
            self.bytes -= dropped.len();
        }
    }

    /// The id of the latest change.
    pub(super) fn id(&self) -> String {
        format!("{}.{}", self.epoch, self.last)
    }

    /// The number of an id; `None` for one of another daemon, or whose next change is gone.
    fn find(&self, id: &str) -> Option<u64> {
        let number: u64 = id.strip_prefix(self.epoch.as_str())?.strip_prefix('.')?.parse().ok()?;
        let first = self.kept.front().map_or(self.last + 1, |(number, _)| *number);
        (number <= self.last && number + 1 >= first).then_some(number)
    }

    /// The changes after a number; `None` when some of them are gone.
    fn changes_after(&self, number: u64) -> Option<impl Iterator<Item = &(u64, String)>> {
        let first = self.kept.front().map_or(self.last + 1, |(number, _)| *number);
        (number + 1 >= first).then(|| self.kept.iter().filter(move |(at, _)| *at > number))
    }

    /// The events after a number; `None` when some of them are gone.
    fn after(&self, number: u64) -> Option<String> {
        let mut block = String::new();
        for (at, change) in self.changes_after(number)? {
            // Writing to a String cannot fail.
            let _ = write!(block, "id: {}.{at}\nevent: change\ndata: {change}\n\n", self.epoch);
        }
        Some(block)
    }
}

impl Daemon {
    /// Starts a stream. A client that disconnects ends it.
    pub(super) fn stream_chat(&self, id: &str, request: &Request<Incoming>) -> Result<HttpResponse, Failure> {
        let chat = self.find_chat(id)?;
        let resumed = request.headers().get("last-event-id").and_then(|value| value.to_str().ok());
        let after = query_value(request, "after").or(resumed).map(str::to_owned);
        let slot = self.event_streams.take().ok_or_else(|| {
            Failure::new(ErrorCode::Busy, "Too many event streams run.").with_remedy("Close one of them.")
        })?;
        let (blocks, receiver) = mpsc::channel(2);
        self.tasks.start("chat-events", send_changes(chat, after, blocks, slot));
        let body = StreamBody::new(unfold(receiver, |mut receiver: mpsc::Receiver<Bytes>| async move {
            let block = receiver.recv().await?;
            Some((Ok::<_, Infallible>(Frame::data(block)), receiver))
        }));
        let mut response = page(StatusCode::OK, "text/event-stream", "default-src 'none'", Bytes::new());
        *response.body_mut() = body.boxed();
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    }
}

async fn send_changes(chat: Arc<Chat>, after: Option<String>, blocks: mpsc::Sender<Bytes>, _slot: EventSlot) {
    let mut changed = chat.changed.subscribe();
    let mut number = after.and_then(|id| chat.state().log.find(&id));
    loop {
        // Marked before the log is read, so that no change in between is missed.
        changed.mark_unchanged();
        let block = chat.next_block(&mut number);
        if !block.is_empty() {
            if blocks.send(Bytes::from(block)).await.is_err() {
                return;
            }
            continue;
        }
        tokio::select! {
            more = changed.changed() => if more.is_err() { return },
            () = blocks.closed() => return,
            () = tokio::time::sleep(HEARTBEAT) => {
                if blocks.send(Bytes::from_static(b": still here\n\n")).await.is_err() {
                    return;
                }
            }
        }
    }
}

impl Chat {
    /// The number of an event's id, if the changes after it are kept.
    pub(super) fn find_change(&self, id: &str) -> Option<u64> {
        self.state().log.find(id)
    }

    /// Changes after a number up to a size, the number and the id of the last one; `None` when some of them are gone.
    pub(super) fn changes_after(&self, number: u64, bytes: usize) -> Option<(Vec<String>, u64, String)> {
        let state = self.state();
        let (mut changes, mut last, mut size) = (Vec::new(), number, 0);
        for (at, change) in state.log.changes_after(number)? {
            size += change.len();
            if size > bytes && !changes.is_empty() {
                break;
            }
            changes.push(change.clone());
            last = *at;
        }
        let id = format!("{}.{last}", state.log.epoch);
        Some((changes, last, id))
    }

    /// The events after a number, or the whole chat. Empty when there is nothing new.
    fn next_block(&self, number: &mut Option<u64>) -> String {
        let known = {
            let state = self.state();
            let block = number.and_then(|number| state.log.after(number));
            block.map(|block| (block, state.log.last()))
        };
        if let Some((block, last)) = known {
            *number = Some(last);
            return block;
        }
        let (view, id, last) = self.view_with_id();
        *number = Some(last);
        format!("id: {id}\nevent: chat\ndata: {view}\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_goes_on_after_the_last_change_it_has() {
        let mut log = ChangeLog::new("e".to_owned());
        for number in 0..3 {
            log.push(format!("{{\"n\":{number}}}"));
        }
        assert_eq!(log.find("e.1"), Some(1));
        let block = log.after(1).expect("kept");
        assert!(
            block.starts_with("id: e.2\nevent: change\ndata: {\"n\":1}\n\n") && block.contains("id: e.3\n")
        );
        assert_eq!(log.after(3).as_deref(), Some(""));
        for gone in ["f.1", "e.4", "e.x", "e", ""] {
            assert_eq!(log.find(gone), None, "{gone}");
        }
        for number in 0..KEPT_CHANGES {
            log.push(number.to_string());
        }
        assert_eq!((log.find("e.1"), log.after(1)), (None, None), "too long ago");
        log.push("x".repeat(KEPT_BYTES));
        assert!(log.kept.len() <= 1 && log.bytes <= KEPT_BYTES);
    }
}
