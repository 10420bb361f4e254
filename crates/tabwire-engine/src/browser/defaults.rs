//! What every tab of a session is shown like, from its first use on.

use std::sync::{Mutex, OnceLock, PoisonError};

use tabwire_cdp::Deadline;

use crate::frames::policy::FramePolicy;
use crate::limits::SETUP_DEADLINE;
use crate::network::EgressPolicy;
use crate::page::Page;
use crate::page::emulation::{Emulation, Viewport};

/// The session's own view of pages; empty when pages are shown as the browser would.
#[derive(Debug, Default)]
pub(crate) struct TabDefaults {
    viewport: Mutex<Option<(u16, u16)>>,
    policy: OnceLock<FramePolicy>,
    egress: OnceLock<EgressPolicy>,
}

impl TabDefaults {
    /// Decides once what may be done with frames, for pages that are used from then on.
    pub(crate) fn set_policy(&self, policy: FramePolicy) {
        // The first one stays: a session does not get another policy later.
        let _ = self.policy.set(policy);
    }

    pub(crate) fn policy(&self) -> FramePolicy {
        self.policy.get().cloned().unwrap_or_default()
    }

    /// Decides once what pages may reach by ways that show them nothing, for those that are used from then on.
    pub(crate) fn set_egress_policy(&self, egress: EgressPolicy) {
        let _ = self.egress.set(egress);
    }

    pub(crate) fn egress(&self) -> Option<EgressPolicy> {
        self.egress.get().cloned()
    }

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
        let mut present = page.state().emulation().lock().await;
        match page.emulate(&present, &emulation, deadline).await {
            Ok(()) => *present = emulation,
            // The page is as useful in another size; what it has is told by `emulate`.
            Err(failure) => tracing::debug!(%failure, "a page did not take the session's viewport"),
        }
    }
}
