//! The tasks that read a page's events, and a way to wait until they have read everything that has arrived.

use std::sync::{Mutex, PoisonError};

use tabwire_cdp::Deadline;
use tokio::sync::{mpsc, oneshot};

/// Waits that one reader holds at a time. Further callers do not wait.
const WAITS_PER_READER: usize = 32;

/// Resolved by a reader once no event is left in its stream.
pub(in crate::cdp) type SyncRequest = oneshot::Sender<()>;

/// One sender for each task that reads the events of a process.
#[derive(Debug, Default)]
pub(in crate::cdp) struct EventReaders {
    senders: Mutex<Vec<mpsc::Sender<SyncRequest>>>,
}

impl EventReaders {
    /// Adds a reader. It resolves the requests of its channel whenever its event stream is empty.
    pub(in crate::cdp) fn add(&self) -> mpsc::Receiver<SyncRequest> {
        let (sender, requests) = mpsc::channel(WAITS_PER_READER);
        let mut senders = self.senders.lock().unwrap_or_else(PoisonError::into_inner);
        senders.retain(|sender| !sender.is_closed());
        senders.push(sender);
        requests
    }

    /// Waits until every reader has read all events that have arrived.
    pub(in crate::cdp) fn sync(&self, deadline: Deadline) -> impl Future<Output = ()> + Send + use<> {
        let senders = self.senders.lock().unwrap_or_else(PoisonError::into_inner);
        let waits: Vec<oneshot::Receiver<()>> = senders
            .iter()
            .filter_map(|sender| {
                let (request, done) = oneshot::channel();
                sender.try_send(request).ok().map(|()| done)
            })
            .collect();
        async move {
            for done in waits {
                // A reader that ended has nothing left to read.
                let _ = tokio::time::timeout_at(deadline.instant(), done).await;
            }
        }
    }
}
