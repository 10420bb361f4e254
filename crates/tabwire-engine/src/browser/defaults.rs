//! The viewport and the policies that every tab of a session gets at its first use.

use std::sync::{Mutex, OnceLock, PoisonError};

use tabwire_cdp::Deadline;

use crate::frames::policy::FramePolicy;
use crate::limits::SETUP_DEADLINE;
use crate::network::EgressPolicy;
use crate::page::Page;
use crate::page::emulation::{Emulation, Viewport};

/// The session's viewport and policies. Empty fields leave the browser's own behaviour.
#[derive(Debug, Default)]
pub(crate) struct TabDefaults {
    viewport: Mutex<Option<(u16, u16)>>,
    policy: OnceLock<FramePolicy>,
    egress: OnceLock<EgressPolicy>,
}

impl TabDefaults {
    /// Sets the frame policy, once, for pages that are first used later.
    pub(crate) fn set_policy(&self, policy: FramePolicy) {
        // The first one stays: a second call must not widen the policy.
        let _ = self.policy.set(policy);
    }

    pub(crate) fn policy(&self) -> FramePolicy {
        self.policy.get().cloned().unwrap_or_default()
    }

    /// Sets the egress policy, once, for pages that are first used later.
    pub(crate) fn set_egress_policy(&self, egress: EgressPolicy) {
        let _ = self.egress.set(egress);
    }

    pub(crate) fn egress(&self) -> Option<EgressPolicy> {
        self.egress.get().cloned()
    }

    pub(crate) fn set(&self, viewport: Option<(u16, u16)>) {
        *self.viewport.lock().unwrap_or_else(PoisonError::into_inner) = viewport;
    }

    /// Applies the session's viewport to a page at its first use.
    pub(crate) async fn apply(&self, page: &Page) {
        let viewport = *self.viewport.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((width, height)) = viewport else { return };
        let viewport = Viewport { width: width.into(), height: height.into(), scale: 0.0, mobile: false };
        let emulation = Emulation { viewport: Some(viewport), ..Emulation::default() };
        let deadline = Deadline::after(SETUP_DEADLINE);
        let mut present = page.state().emulation().lock().await;
        match page.emulate(&present, &emulation, deadline).await {
            Ok(()) => *present = emulation,
            // Not an error: the page works in any size, and `emulate` reports the actual one.
            Err(failure) => {
                tracing::debug!(%failure, "the session's viewport could not be applied to a page");
            }
        }
    }
}
