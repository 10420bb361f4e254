//! What a client of a hub is called, and what it holds as long as it is there.

use tokio::sync::OwnedSemaphorePermit;

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
}

impl Place {
    /// The place of a session's own engine.
    pub(crate) const fn of_engine(name: String) -> Self {
        Self { name, _permit: None, _departure: None }
    }
}
