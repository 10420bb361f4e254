//! Those who follow a page's processes, and how to know that they have seen everything that has come.

use tabwire_cdp::Deadline;
use tokio::sync::{mpsc, oneshot};

use super::CdpDriver;
use crate::driver::Reply;
use crate::limits::WAITERS;

/// Is told when the follower has nothing left to look at.
type Waiter = oneshot::Sender<()>;

/// The ways to the followers of a page's processes.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    ways: Vec<mpsc::Sender<Waiter>>,
}

impl CdpDriver {
    /// Adds a follower; it answers those who wait whenever it has looked at everything.
    pub(super) fn add_watcher(&self) -> mpsc::Receiver<Waiter> {
        let (way, waiting) = mpsc::channel(WAITERS);
        let mut watchers = self.watchers();
        watchers.ways.retain(|way| !way.is_closed());
        watchers.ways.push(way);
        waiting
    }

    /// Waits until every event that has come was looked at. A flood of events ends the wait at its deadline.
    pub(super) fn catch_up(&self, deadline: Deadline) -> Reply<()> {
        let waits: Vec<oneshot::Receiver<()>> = self
            .watchers()
            .ways
            .iter()
            .filter_map(|way| {
                let (waiter, told) = oneshot::channel();
                way.try_send(waiter).ok().map(|()| told)
            })
            .collect();
        Box::pin(async move {
            for told in waits {
                // A follower that is gone has nothing left to look at; one that is flooded is not waited for.
                let _ = tokio::time::timeout_at(deadline.instant(), told).await;
            }
            Ok(())
        })
    }
}
