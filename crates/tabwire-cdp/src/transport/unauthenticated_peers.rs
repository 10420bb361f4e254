//! Connections of unauthenticated peers. Their number is limited and the newest replaces the oldest, so that
//! peers which only hold connections open cannot block others.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The unauthenticated peers of one listening socket.
#[derive(Debug)]
pub struct UnauthenticatedPeers {
    limit: usize,
    waiting: Mutex<PeerQueue>,
}

#[derive(Debug, Default)]
struct PeerQueue {
    next: u64,
    peers: VecDeque<(u64, Arc<Notify>)>,
}

/// One connection; it counts until it is dropped or authenticated.
#[derive(Debug)]
pub struct UnauthenticatedPeer {
    all: Arc<UnauthenticatedPeers>,
    key: u64,
    replaced: Arc<Notify>,
}

impl UnauthenticatedPeers {
    /// At most this many at a time.
    #[must_use]
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit: limit.max(1), waiting: Mutex::default() })
    }

    fn waiting(&self) -> MutexGuard<'_, PeerQueue> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection; without room, it replaces the oldest.
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
    /// Waits until a newer connection replaces this one; never returns once it is authenticated.
    pub async fn replaced(&self) {
        self.replaced.notified().await;
    }

    /// The peer has authenticated: its connection no longer counts.
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
    async fn m4_newest_replaces_the_oldest_unauthenticated_peer() {
        let peers = UnauthenticatedPeers::new(2);
        let (first, second) = (peers.enter(), peers.enter());
        first.authenticated();
        let third = peers.enter();
        assert!(!is_replaced(&second).await, "there is room for two");
        let fourth = peers.enter();
        assert!(is_replaced(&second).await, "the oldest is replaced");
        assert!(!is_replaced(&first).await, "an authenticated connection stays");
        drop(third);
        let _fifth = peers.enter();
        assert!(!is_replaced(&fourth).await, "a closed connection leaves room");
    }
}
