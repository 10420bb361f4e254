//! A recording of a page's requests with their bodies, which browsers soon forget. Knows nothing of file formats.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tabwire_cdp::{CdpError, Deadline, TaskGroup};
use tokio::sync::watch;

use super::request_body::{Body, fetch_body, fetch_sent};
use super::request_entry::{Outcome, RequestEntry};
use crate::limits::{BODY_DEADLINE, RECORDED_BYTES};

/// What is recorded of a page's requests.
#[derive(Debug)]
pub(crate) struct Recording {
    /// The last request that is not part of it.
    since: u64,
    held: Mutex<Held>,
    under_way: watch::Sender<usize>,
}

/// Bodies by the numbers of their requests.
#[derive(Debug, Default)]
struct Held {
    bodies: HashMap<u64, Body>,
    sent: HashMap<u64, String>,
    bytes: usize,
    left_out: u64,
}

impl Held {
    fn has_room(&mut self, bytes: usize) -> bool {
        let fits = self.bytes.saturating_add(bytes) <= RECORDED_BYTES;
        if fits {
            self.bytes += bytes;
        } else {
            self.left_out += 1;
        }
        fits
    }
}

impl Recording {
    pub(super) fn new(since: u64) -> Self {
        Self { since, held: Mutex::default(), under_way: watch::Sender::new(0) }
    }

    /// The last request that is not part of it.
    pub(crate) fn since(&self) -> u64 {
        self.since
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for the bodies of a request that is over.
    pub(super) fn fetch(self: &Arc<Self>, entry: RequestEntry, tasks: &TaskGroup) {
        if entry.number <= self.since {
            return;
        }
        self.under_way.send_modify(|count| *count += 1);
        let recording = Arc::clone(self);
        tasks.start("recorded-body", async move {
            recording.keep(&entry).await;
            recording.under_way.send_modify(|count| *count -= 1);
        });
    }

    async fn keep(&self, entry: &RequestEntry) {
        let sent =
            if entry.post_data.is_none() { fetch_sent(entry, BODY_DEADLINE.into()).await } else { Ok(None) };
        let body = if entry.outcome == Outcome::Done {
            fetch_body(entry, BODY_DEADLINE.into()).await.map(Some)
        } else {
            Ok(None)
        };
        let mut held = self.held();
        if let Ok(Some(sent)) = sent
            && held.has_room(sent.len())
        {
            held.sent.insert(entry.number, sent);
        }
        match body {
            Ok(Some(body)) if held.has_room(body.as_bytes().len()) => {
                held.bodies.insert(entry.number, body);
            }
            Ok(_) => {}
            Err(CdpError::Protocol { .. }) if entry.bytes == 0 => {}
            Err(_) => held.left_out += 1,
        }
    }

    /// Waits until the bodies of everything that is over are here, or the deadline passes.
    pub(crate) async fn settle(&self, deadline: Deadline) {
        let mut under_way = self.under_way.subscribe();
        // What is missing then is counted as left out.
        let _ = tokio::time::timeout_at(deadline.instant(), under_way.wait_for(|count| *count == 0)).await;
    }

    /// The body of an answer.
    pub(crate) fn body(&self, number: u64) -> Option<Body> {
        self.held().bodies.get(&number).cloned()
    }

    /// What a request sent, when the log does not know.
    pub(crate) fn sent(&self, number: u64) -> Option<String> {
        self.held().sent.get(&number).cloned()
    }

    /// How many bodies could not be recorded.
    pub(crate) fn left_out(&self) -> u64 {
        let missing = u64::try_from(*self.under_way.borrow()).unwrap_or(u64::MAX);
        self.held().left_out.saturating_add(missing)
    }
}
