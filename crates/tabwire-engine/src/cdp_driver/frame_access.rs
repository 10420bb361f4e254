//! Refuses calls in frames where the policy does not allow them, before anything is sent.

use std::sync::{Arc, Weak};

use tabwire_cdp::CdpSession;
use tabwire_policy::Capability;
use tabwire_wire::{Failure, FrameId};

use super::{CdpDriver, Inner};
use crate::frame_table::WorldId;

/// Functions of the page agent that act in a frame by themselves. The others read, or prepare what is checked by its
/// own purpose, or are only called in the page's own document, which is judged before the action begins. A table.
const ACTING: &[&str] = &["caretToEnd", "enterSecret", "logIn", "watchDrag"];

/// What a call of the page agent needs in its frame.
pub(super) fn capability_of(function: &str) -> Capability {
    if ACTING.contains(&function) { Capability::Act } else { Capability::Read }
}

/// Which URLs the frames of a page are judged by, for parts that outlive the page.
#[derive(Clone, Debug)]
pub(crate) struct FrameUrls(Weak<Inner>);

impl FrameUrls {
    fn driver(&self) -> Option<CdpDriver> {
        self.0.upgrade().map(|inner| CdpDriver { inner })
    }

    /// The URL that a frame is judged by.
    pub(crate) fn find(&self, frame: &FrameId) -> Option<String> {
        self.driver()?.frames().judged_url(frame)
    }

    /// The URL that a world of a process is judged by.
    pub(crate) fn find_world(&self, session: &CdpSession, world: WorldId) -> Option<String> {
        let driver = self.driver()?;
        let frames = driver.frames();
        frames.frame_of_world(session, world).and_then(|frame| frames.judged_url(&frame))
    }

    /// The URL of the frame that a process began with.
    pub(crate) fn find_root(&self, session: &CdpSession) -> Option<String> {
        let driver = self.driver()?;
        let frames = driver.frames();
        frames.root_of_session(session).and_then(|frame| frames.judged_url(&frame))
    }
}

impl CdpDriver {
    pub(crate) fn frame_urls(&self) -> FrameUrls {
        FrameUrls(Arc::downgrade(&self.inner))
    }

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
