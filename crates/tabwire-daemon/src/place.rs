//! What a CDP client holds as long as it is there.

use tokio::sync::OwnedSemaphorePermit;

use crate::note::Note;

/// What a CDP client holds as long as it is there; let go of when it leaves.
#[derive(Debug)]
pub(crate) struct Place {
    /// The one place of a session that serves one client at a time.
    pub(crate) _permit: Option<OwnedSemaphorePermit>,
    /// Becomes the row that tells of its leaving.
    pub(crate) _departure: Note,
}
