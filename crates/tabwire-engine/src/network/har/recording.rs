//! Records a page's requests with their bodies, which browsers soon discard.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tabwire_cdp::{CdpError, Deadline, TaskGroup};
use tokio::sync::watch;

use crate::network::log::body::{Body, fetch_body, fetch_sent};
use crate::network::log::entry::{Outcome, RequestEntry};

/// How long a recording waits for a body.
const BODY_DEADLINE: std::time::Duration = std::time::Duration::from_secs(10);

/// Bytes of all bodies in one recording. Later requests are recorded without their bodies.
const RECORDED_BYTES: usize = 64 * 1024 * 1024;

/// A recording of a page's requests.
#[derive(Debug)]
pub(crate) struct Recording {
    /// The last request before the recording.
    since: u64,
    held: Mutex<HeldBodies>,
    under_way: watch::Sender<usize>,
}

/// Bodies by request number.
#[derive(Debug, Default)]
struct HeldBodies {
    bodies: HashMap<u64, Body>,
    sent: HashMap<u64, String>,
    bytes: usize,
    left_out: u64,
}

impl HeldBodies {
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
    pub(crate) fn new(since: u64) -> Self {
        Self { since, held: Mutex::default(), under_way: watch::Sender::new(0) }
    }

    /// The last request before the recording.
    pub(crate) fn since(&self) -> u64 {
        self.since
    }

    fn held(&self) -> MutexGuard<'_, HeldBodies> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches the bodies of a finished request.
    pub(crate) fn fetch(self: &Arc<Self>, entry: RequestEntry, tasks: &TaskGroup) {
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

    /// Waits until the bodies of all finished requests are here, or the deadline passes.
    pub(crate) async fn settle(&self, deadline: Deadline) {
        let mut under_way = self.under_way.subscribe();
        // Missing bodies are counted as left out.
        let _ = tokio::time::timeout_at(deadline.instant(), under_way.wait_for(|count| *count == 0)).await;
    }

    /// The body of a response.
    pub(crate) fn body(&self, number: u64) -> Option<Body> {
        self.held().bodies.get(&number).cloned()
    }

    /// The body of a request, when the log does not contain it.
    pub(crate) fn sent(&self, number: u64) -> Option<String> {
        self.held().sent.get(&number).cloned()
    }

    /// How many bodies could not be recorded.
    pub(crate) fn left_out(&self) -> u64 {
        let missing = u64::try_from(*self.under_way.borrow()).unwrap_or(u64::MAX);
        self.held().left_out.saturating_add(missing)
    }
}
