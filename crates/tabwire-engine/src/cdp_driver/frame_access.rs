//! Refuses calls in frames where the policy does not allow them, before anything is sent.

use tabwire_policy::Capability;
use tabwire_wire::{Failure, FrameId};

use super::CdpDriver;

/// Functions of the page agent that act in a frame by themselves. The others read, or prepare what is checked by its
/// own purpose, or are only called in the page's own document, which is judged before the action begins. A table.
const ACTING: &[&str] = &["caretToEnd", "enterSecret", "logIn", "watchDrag"];

/// What a call of the page agent needs in its frame.
pub(super) fn capability_of(function: &str) -> Capability {
    if ACTING.contains(&function) { Capability::Act } else { Capability::Read }
}

impl CdpDriver {
    /// Fails when something may not be done in a frame. The page's own document is judged for reading before an action
    /// begins, by more than its URL.
    pub(super) fn check(&self, frame: &FrameId, capability: Capability) -> Result<(), Failure> {
        let is_main = *frame == self.inner.main;
        if self.inner.policy.is_idle() || is_main && capability == Capability::Read {
            return Ok(());
        }
        match self.frames().judged_url(frame) {
            Some(url) if is_main && !url.starts_with("http") => Ok(()),
            Some(url) => self.inner.policy.check(&url, capability),
            // A frame that is gone is told as such by the call itself.
            None => Ok(()),
        }
    }
}
