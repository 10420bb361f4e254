//! Connections whose peer has not proved anything yet: few at a time, and the newest takes the place of the oldest, so
//! that peers which only hold connections open keep nobody out. Knows nothing of what a proof is.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The unproved peers of one listening socket.
#[derive(Debug)]
pub struct UnauthenticatedPeers {
    limit: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    peers: VecDeque<(u64, Arc<Notify>)>,
}

/// One connection; it counts until it is dropped or has proved itself.
#[derive(Debug)]
pub struct UnauthenticatedPeer {
    all: Arc<UnauthenticatedPeers>,
    key: u64,
    replaced: Arc<Notify>,
}

impl UnauthenticatedPeers {
    /// Room for this many at a time.
    #[must_use]
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit: limit.max(1), waiting: Mutex::default() })
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a connection in; the oldest has to go when there is no room.
    #[must_use]
    pub fn enter(self: &Arc<Self>) -> UnauthenticatedPeer {
        let mut waiting = self.waiting();
        let key = waiting.next;
        waiting.next = waiting.next.wrapping_add(1);
        if waiting.peers.len() >= self.limit
            && let Some((_, oldest)) = waiting.peers.pop_front()
        {
            oldest.notify_one();
        }
        let replaced = Arc::new(Notify::new());
        waiting.peers.push_back((key, Arc::clone(&replaced)));
        UnauthenticatedPeer { all: Arc::clone(self), key, replaced }
    }
}

impl UnauthenticatedPeer {
    /// Waits until a newer connection takes the place of this one; for ever once it has proved itself.
    pub async fn replaced(&self) {
        self.replaced.notified().await;
    }

    /// The peer has proved itself: its connection is not among the unproved any more.
    pub fn authenticated(&self) {
        self.all.waiting().peers.retain(|(key, _)| *key != self.key);
    }
}

impl Drop for UnauthenticatedPeer {
    fn drop(&mut self) {
        self.authenticated();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn is_replaced(peer: &UnauthenticatedPeer) -> bool {
        tokio::time::timeout(Duration::from_millis(1), peer.replaced()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn m4_the_newest_takes_the_place_of_the_oldest_that_has_not_proved_itself() {
        let peers = UnauthenticatedPeers::new(2);
        let (first, second) = (peers.enter(), peers.enter());
        first.authenticated();
        let third = peers.enter();
        assert!(!is_replaced(&second).await, "there is room for two");
        let fourth = peers.enter();
        assert!(is_replaced(&second).await, "the oldest goes");
        assert!(!is_replaced(&first).await, "one that has proved itself stays");
        drop(third);
        let _fifth = peers.enter();
        assert!(!is_replaced(&fourth).await, "one that has left makes room");
    }
}
