//! Where targets, snapshots and scripts are meant when nothing else is said: the whole page, or a frame that the caller
//! chose. Knows nothing of how frames are named by callers.

use std::sync::atomic::Ordering;

use tabwire_cdp::Deadline;
use tabwire_policy::Capability;
use tabwire_wire::{ErrorCode, Failure, FrameId};

use crate::driver::{Frame, Place};
use crate::limits::FRAMES_COME;
use crate::page::Page;

impl Page {
    /// The frame that is meant: the chosen one, or the main one.
    ///
    /// # Errors
    /// Once when the chosen frame is gone: what was meant for it must not be done elsewhere.
    pub(crate) async fn scope(&self, deadline: Deadline) -> Result<FrameId, Failure> {
        if self.has_lost_frame(deadline).await {
            self.chosen_frame().take();
            return Err(Failure::new(ErrorCode::TargetGone, "The frame that was chosen is gone.")
                .with_hint("The whole page is meant again. `tabwire frame` lists its frames."));
        }
        Ok(self.scope_or_main())
    }

    /// The frame that is meant, the main one also when the chosen one is gone: for those that only look.
    pub(crate) fn scope_or_main(&self) -> FrameId {
        let chosen = self.chosen_frame().clone();
        chosen.filter(|frame| self.driver().has_frame(frame)).unwrap_or_else(|| self.main_frame().clone())
    }

    /// Where scripts of the caller's run.
    pub(crate) async fn script_place(&self, deadline: Deadline) -> Result<Place, Failure> {
        let frame = self.scope(deadline).await?;
        self.check_frame(&frame, Capability::Eval)?;
        Ok(if frame == *self.main_frame() { Place::Page } else { Place::Frame(frame) })
    }

    /// Whether a frame was chosen that is no longer there. A page that was just taken up does not know its frames yet.
    pub(crate) async fn has_lost_frame(&self, deadline: Deadline) -> bool {
        let Some(chosen) = self.chosen_frame().clone() else { return false };
        if self.driver().has_frame(&chosen) {
            self.has_seen_frame().store(true, Ordering::Relaxed);
            return false;
        }
        let known = self.driver().prepared(deadline).await.is_ok() && self.catch_up().await.is_ok();
        if known && !self.has_seen_frame().swap(true, Ordering::Relaxed) {
            // Frames in processes of their own are told of one after the other, those inside others last.
            let comes = async {
                loop {
                    let known = self.asked_frames();
                    if self.driver().has_frame(&chosen) {
                        break;
                    }
                    self.driver().frames_other_than(known).await;
                }
            };
            let _ = tokio::time::timeout(FRAMES_COME, comes).await;
        }
        known && !self.driver().has_frame(&chosen)
    }

    /// The frames that have to be asked for what is meant, the one that is meant first.
    pub(crate) fn scope_frames(&self) -> Vec<Frame> {
        let scope = self.scope_or_main();
        if scope == *self.main_frame() {
            return self.driver().frames();
        }
        let first = self.find_frame(&scope);
        first.into_iter().chain(self.frames_below(&scope)).collect()
    }

    /// A frame with the one above it that knows where it stands.
    pub(crate) fn find_frame(&self, id: &FrameId) -> Option<Frame> {
        if let Some(asked) = self.driver().frames().into_iter().find(|frame| frame.id == *id) {
            return Some(asked);
        }
        let listed = self.driver().all_frames().into_iter().find(|frame| frame.id == *id)?;
        let (parent, holder) = (listed.parent.clone(), listed.parent);
        Some(Frame { id: listed.id, parent, holder, url: listed.url })
    }

    /// The frames below another that have to be asked by themselves.
    pub(crate) fn frames_below(&self, above: &FrameId) -> Vec<Frame> {
        let frames = self.driver().frames();
        if frames.len() <= 1 {
            return Vec::new();
        }
        let all = self.driver().all_frames();
        let parent_of = |id: &FrameId| all.iter().find(|frame| frame.id == *id)?.parent.clone();
        let is_below = |frame: &Frame| {
            std::iter::successors(parent_of(&frame.id), parent_of).take(all.len()).any(|id| id == *above)
        };
        frames.into_iter().filter(is_below).collect()
    }
}
