//! What every tab of a session is shown like, from its first use on.

use std::sync::{Mutex, PoisonError};

use tabwire_cdp::Deadline;

use crate::emulation::{Emulation, Viewport};
use crate::limits::SETUP_DEADLINE;
use crate::page::Page;

/// The session's own view of pages; empty when pages are shown as the browser would.
#[derive(Debug, Default)]
pub(crate) struct SessionView {
    viewport: Mutex<Option<(u16, u16)>>,
}

impl SessionView {
    pub(crate) fn set(&self, viewport: Option<(u16, u16)>) {
        *self.viewport.lock().unwrap_or_else(PoisonError::into_inner) = viewport;
    }

    /// Gives a page that is used for the first time the session's view.
    pub(crate) async fn apply(&self, page: &Page) {
        let viewport = *self.viewport.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((width, height)) = viewport else { return };
        let viewport = Viewport { width: width.into(), height: height.into(), scale: 0.0, mobile: false };
        let emulation = Emulation { viewport: Some(viewport), ..Emulation::default() };
        let deadline = Deadline::after(SETUP_DEADLINE);
        let mut present = page.record().emulation().lock().await;
        match page.emulate(&present, &emulation, deadline).await {
            Ok(()) => *present = emulation,
            // The page is as useful in another size; what it has is told by `emulate`.
            Err(failure) => tracing::debug!(%failure, "a page did not take the session's viewport"),
        }
    }
}
