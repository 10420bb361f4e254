//! One connection over the port, from its first byte: unproved until a request of it has shown a credential.

use std::sync::{Arc, OnceLock};

use tabwire_cdp::{UnprovedPeer, UnprovedPeers};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{CONNECTIONS, UNPROVED_CONNECTIONS};

/// What a connection over the port counts as.
#[derive(Debug)]
pub(crate) struct PortPeer {
    unproved: UnprovedPeer,
    places: Arc<Semaphore>,
    place: OnceLock<OwnedSemaphorePermit>,
}

/// All connections over the port.
#[derive(Debug)]
pub(crate) struct PortPeers {
    unproved: Arc<UnprovedPeers>,
    places: Arc<Semaphore>,
}

impl PortPeers {
    pub(crate) fn new() -> Self {
        let (unproved, places) = (UnprovedPeers::new(UNPROVED_CONNECTIONS), Semaphore::new(CONNECTIONS));
        Self { unproved, places: Arc::new(places) }
    }

    /// Takes a connection in, which has not proved itself yet.
    pub(crate) fn enter(&self) -> PortPeer {
        let (unproved, places) = (self.unproved.enter(), Arc::clone(&self.places));
        PortPeer { unproved, places, place: OnceLock::new() }
    }
}

impl PortPeer {
    /// Waits until a newer connection takes the place of this one, which has not proved itself.
    pub(crate) async fn replaced(&self) {
        self.unproved.replaced().await;
    }

    /// A request has shown a credential; false when there is no place for one more such connection.
    pub(crate) fn prove(&self) -> bool {
        if self.place.get().is_some() {
            return true;
        }
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else { return false };
        self.unproved.proved();
        // Requests of one connection come one after the other, so nobody else has set it meanwhile.
        self.place.set(place).is_ok()
    }
}
