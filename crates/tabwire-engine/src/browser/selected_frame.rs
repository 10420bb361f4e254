//! The selected frame of each tab, saved with the tab ids so that it outlives commands and daemons.

use tabwire_api::{ErrorCode, Failure, FrameId};
use tabwire_cdp::Deadline;

use super::Browser;
use crate::frames::scope::selected_frame_gone;
use crate::page::{Page, SYNC_TIMEOUT};

impl Browser {
    /// Selects a frame of a tab; `None` selects the whole page.
    pub(crate) fn select_frame(&self, page: &Page, frame: Option<FrameId>) {
        self.state().tab_ids.select_frame(page.target(), frame.clone());
        page.selected_frame().select(frame);
    }

    /// The URL of the frame that is selected in the current tab.
    #[must_use]
    pub fn selected_frame_url(&self) -> Option<String> {
        let page = self.attached_page(None)?;
        let selected = page.selected_frame().get()?;
        page.session().all_frames().into_iter().find(|frame| frame.id == selected).map(|frame| frame.url)
    }

    /// Deselects frames that are gone. Returns a notice for each.
    pub(crate) async fn forget_lost_frames(&self) -> Vec<String> {
        let mut notices = Vec::new();
        for page in self.attached_pages() {
            if page.selected_frame().get().is_none() {
                // Saved, so that the next daemon does not restore a frame that is gone.
                if self.state().tab_ids.selected_frame(page.target()).is_some() {
                    self.select_frame(&page, None);
                }
                continue;
            }
            if page.has_lost_frame(Deadline::after(SYNC_TIMEOUT)).await {
                self.select_frame(&page, None);
                let tab = self.tab_id(&page);
                notices.push(format!(
                    "The selected frame of tab {tab} is gone. The whole page is selected again."
                ));
            }
        }
        notices
    }
}

/// The failure of an action during which frames were deselected. Without the notices, the next action would act on the
/// whole page and the caller would expect the frame.
pub(crate) fn with_lost_frames(failure: Failure, notices: &[String]) -> Failure {
    match (failure.code, notices) {
        (_, []) => failure,
        // The removal was reported while the action ran.
        (ErrorCode::TargetGone, _) => selected_frame_gone(),
        (_, _) => Failure { message: format!("{} {}", failure.message, notices.join(" ")), ..failure },
    }
}
