//! What a client of a hub is called, and what it holds as long as it is there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::note::Note;

/// What a client is called, and what it holds as long as it is there; let go of when it leaves.
#[derive(Debug)]
pub(crate) struct Place {
    /// What the browser's user is told who it is.
    pub(crate) name: String,
    /// The one place of a session that serves one client at a time.
    pub(crate) _permit: Option<OwnedSemaphorePermit>,
    /// Becomes the row that tells of its leaving.
    pub(crate) _departure: Option<Note>,
    /// Who wants to hear of its leaving.
    pub(crate) watch: Option<Watch>,
}

/// Tells whoever waits that a client has left, and whether it closed its browser before.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) closed_browser: Arc<AtomicBool>,
    /// Dropped with the client.
    pub(crate) _left: oneshot::Sender<()>,
}

impl Place {
    /// The place of a session's own engine.
    pub(crate) const fn of_engine(name: String) -> Self {
        Self { name, _permit: None, _departure: None, watch: None }
    }

    /// Notes that the client leaves because it closed its browser.
    pub(crate) fn note_close(&self) {
        if let Some(watch) = &self.watch {
            watch.closed_browser.store(true, Ordering::SeqCst);
        }
    }
}
