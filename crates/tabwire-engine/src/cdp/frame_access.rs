//! Policy checks of agent calls per frame, before anything is sent.

use tabwire_api::{Failure, FrameId};
use tabwire_cdp::CdpSession;
use tabwire_policy::Capability;

use super::session::{PageSession, WeakPageSession};
use crate::frames::tree::ContextId;

/// Agent functions that act in a frame by themselves. The others read, or prepare an element for a purpose that is
/// checked separately, or run only in the main frame, which is checked before the action starts.
const ACTING: &[&str] = &["caretToEnd", "enterSecret", "logIn", "pickOptions", "watchDrag"];

/// The capability that an agent function needs in its frame.
pub(super) fn capability_of(function: &str) -> Capability {
    if ACTING.contains(&function) { Capability::Act } else { Capability::Read }
}

/// The policy URLs of a page's frames, for parts that outlive the page.
#[derive(Clone, Debug)]
pub(crate) struct FrameUrls(WeakPageSession);

impl FrameUrls {
    pub(crate) fn find(&self, frame: &FrameId) -> Option<String> {
        self.0.upgrade()?.policy_url(frame)
    }

    /// The policy URL of the frame that an execution context belongs to.
    pub(crate) fn find_by_context(&self, session: &CdpSession, context: ContextId) -> Option<String> {
        let page = self.0.upgrade()?;
        let tree = page.tree();
        tree.frame_of_context(session, context).and_then(|frame| tree.policy_url(&frame))
    }

    /// The frame that an execution context belongs to.
    pub(crate) fn frame_of(&self, session: &CdpSession, context: ContextId) -> Option<FrameId> {
        self.0.upgrade()?.tree().frame_of_context(session, context)
    }

    /// The policy URL of the top frame of a process.
    pub(crate) fn find_by_session(&self, session: &CdpSession) -> Option<String> {
        let page = self.0.upgrade()?;
        let tree = page.tree();
        tree.root_of_session(session).and_then(|frame| tree.policy_url(&frame))
    }
}

impl PageSession {
    pub(crate) fn frame_urls(&self) -> FrameUrls {
        FrameUrls(self.downgrade())
    }

    /// Fails when the policy does not allow a capability in a frame. Reading the main frame always passes: the caller
    /// checks it before the action starts, and by more than its URL.
    pub(super) fn check(&self, frame: &FrameId, capability: Capability) -> Result<(), Failure> {
        let is_main = frame == self.main_frame();
        if self.policy().is_idle() || is_main && capability == Capability::Read {
            return Ok(());
        }
        match self.policy_url(frame) {
            Some(url) if is_main && !url.starts_with("http") => Ok(()),
            Some(url) => self.policy().check(&url, capability),
            // The call itself reports a frame that is gone.
            None => Ok(()),
        }
    }
}
