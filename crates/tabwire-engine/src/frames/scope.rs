//! The scope of targets, snapshots and scripts: the whole page, or the frame that the caller selected.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step};
use tabwire_cdp::Deadline;
use tabwire_policy::Capability;

use crate::cdp::CommandTarget;
use crate::frames::tree::Frame;
use crate::page::Page;

/// How long a frame that an earlier daemon knew may take to appear before it counts as gone.
const FRAME_APPEARS: Duration = Duration::from_secs(3);

/// The frame that `frame` selected in a tab; none means the whole page.
#[derive(Debug, Default)]
pub(crate) struct SelectedFrame {
    frame: Mutex<Option<FrameId>>,
    /// Whether this process has seen the frame. A frame that an earlier daemon selected may not be reported yet.
    was_seen: AtomicBool,
}

impl SelectedFrame {
    pub(crate) fn get(&self) -> Option<FrameId> {
        self.frame.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Selects a frame that is on the page; `None` selects the whole page.
    pub(crate) fn select(&self, frame: Option<FrameId>) {
        self.was_seen.store(true, Ordering::Relaxed);
        self.restore(frame);
    }

    /// Selects the frame that an earlier daemon saved.
    pub(crate) fn restore(&self, frame: Option<FrameId>) {
        *self.frame.lock().unwrap_or_else(PoisonError::into_inner) = frame;
    }

    /// Marks the frame as seen; returns whether it was already.
    fn mark_seen(&self) -> bool {
        self.was_seen.swap(true, Ordering::Relaxed)
    }
}

pub(crate) fn selected_frame_gone() -> Failure {
    Failure::new(ErrorCode::TargetGone, "The selected frame is gone.").with_remedy(Remedy::new(
        "The whole page is selected again. {} lists its frames.",
        [Step::action("frame")],
    ))
}

impl Page {
    /// The selected frame, or the main frame.
    ///
    /// # Errors
    /// Once, when the selected frame is gone: an action meant for it must not run elsewhere.
    pub(crate) async fn scope(&self, deadline: Deadline) -> Result<FrameId, Failure> {
        if self.has_lost_frame(deadline).await {
            self.selected_frame().select(None);
            return Err(selected_frame_gone());
        }
        Ok(self.scope_or_main())
    }

    /// The selected frame, or the main frame when none is selected or the selected one is gone.
    pub(crate) fn scope_or_main(&self) -> FrameId {
        let selected = self.selected_frame().get();
        selected.filter(|frame| self.session().has_frame(frame)).unwrap_or_else(|| self.main_frame().clone())
    }

    /// Where scripts of the caller run.
    pub(crate) async fn script_target(&self, deadline: Deadline) -> Result<CommandTarget, Failure> {
        let frame = self.scope(deadline).await?;
        self.check_frame(&frame, Capability::Eval)?;
        Ok(if frame == *self.main_frame() { CommandTarget::Page } else { CommandTarget::Frame(frame) })
    }

    /// Whether the selected frame is no longer on the page.
    pub(crate) async fn has_lost_frame(&self, deadline: Deadline) -> bool {
        let Some(selected) = self.selected_frame().get() else { return false };
        if self.session().has_frame(&selected) {
            self.selected_frame().mark_seen();
            return false;
        }
        // A page that was attached just now does not know its frames yet.
        if self.session().wait_ready(deadline).await.is_err() {
            return false;
        }
        self.sync_events().await;
        if !self.selected_frame().mark_seen() {
            // Frames in other processes are reported one by one, inner ones last.
            let appears = async {
                loop {
                    let known = self.root_ids();
                    if self.session().has_frame(&selected) {
                        break;
                    }
                    self.session().frames_differ_from(known).await;
                }
            };
            let _ = tokio::time::timeout(FRAME_APPEARS, appears).await;
        }
        !self.session().has_frame(&selected)
    }

    /// The root frames within the scope, the scope itself first.
    pub(crate) fn scope_frames(&self) -> Vec<Frame> {
        let scope = self.scope_or_main();
        if scope == *self.main_frame() {
            return self.session().readable_roots();
        }
        let first = self.find_frame(&scope);
        first.into_iter().chain(self.frames_below(&scope)).collect()
    }

    /// A frame of the page, root frame or not.
    pub(crate) fn find_frame(&self, id: &FrameId) -> Option<Frame> {
        if let Some(root) = self.session().readable_roots().into_iter().find(|frame| frame.id == *id) {
            return Some(root);
        }
        let listed = self.session().all_frames().into_iter().find(|frame| frame.id == *id)?;
        let (parent, owner_frame) = (listed.parent.clone(), listed.parent);
        Some(Frame { id: listed.id, parent, owner_frame, url: listed.url })
    }

    /// The root frames below a frame.
    pub(crate) fn frames_below(&self, above: &FrameId) -> Vec<Frame> {
        let frames = self.session().readable_roots();
        if frames.len() <= 1 {
            return Vec::new();
        }
        let all = self.session().all_frames();
        let parent_of = |id: &FrameId| all.iter().find(|frame| frame.id == *id)?.parent.clone();
        let is_below = |frame: &Frame| {
            std::iter::successors(parent_of(&frame.id), parent_of).take(all.len()).any(|id| id == *above)
        };
        frames.into_iter().filter(is_below).collect()
    }
}
