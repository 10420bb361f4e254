//! What a client of a hub holds while it is connected.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::audit::entry::AuditEntry;

/// What a client holds while it is connected. Dropping it releases the slot and writes the disconnect row.
#[derive(Debug)]
pub(crate) struct ClientGuard {
    /// The client's name, as the browser's user sees it.
    pub(crate) name: String,
    /// The slot of a single-client session.
    pub(crate) _permit: Option<OwnedSemaphorePermit>,
    /// Writes the disconnect row when it is dropped.
    pub(crate) _disconnect: Option<AuditEntry>,
    /// Signals the disconnect.
    pub(crate) watch: Option<LeaveSignal>,
}

/// Signals that a client has disconnected, and whether it closed its browser before.
#[derive(Debug)]
pub(crate) struct LeaveSignal {
    pub(crate) closed_browser: Arc<AtomicBool>,
    /// Dropped with the client, which wakes the receiver.
    pub(crate) _left: oneshot::Sender<()>,
}

impl ClientGuard {
    /// The guard of a session's own engine.
    pub(crate) const fn of_engine(name: String) -> Self {
        Self { name, _permit: None, _disconnect: None, watch: None }
    }

    /// Records that the client disconnects because it closed its browser.
    pub(crate) fn set_closed_browser(&self) {
        if let Some(watch) = &self.watch {
            watch.closed_browser.store(true, Ordering::SeqCst);
        }
    }
}
