//! Frames that were chosen in tabs: noted in the book, so that they outlive commands and daemons.

use std::sync::atomic::Ordering;

use tabwire_cdp::Deadline;
use tabwire_wire::FrameId;

use super::Browser;
use crate::limits::CATCH_UP;
use crate::page::Page;

impl Browser {
    /// Chooses the frame of a tab that is meant from now on where nothing else is said; none for the main one.
    pub(crate) fn choose_frame(&self, page: &Page, frame: Option<FrameId>) {
        self.state().book.choose_frame(page.target(), frame.clone());
        page.has_seen_frame().store(true, Ordering::Relaxed);
        *page.chosen_frame() = frame;
    }

    /// Where the frame is that was chosen in the current tab; none when the whole page is meant.
    #[must_use]
    pub fn current_frame(&self) -> Option<String> {
        let page = self.used_page(None)?;
        let chosen = page.chosen_frame().clone()?;
        page.driver().all_frames().into_iter().find(|frame| frame.id == chosen).map(|frame| frame.url)
    }

    /// Forgets chosen frames that are gone, and says so.
    pub(crate) async fn tell_lost_frames(&self) -> Vec<String> {
        let mut told = Vec::new();
        for page in self.used_pages() {
            if page.chosen_frame().is_none() {
                // One that was given up because it is gone is not to come back with the next daemon.
                if self.state().book.chosen_frame(page.target()).is_some() {
                    self.choose_frame(&page, None);
                }
                continue;
            }
            if page.has_lost_frame(Deadline::after(CATCH_UP)).await {
                self.choose_frame(&page, None);
                let tab = self.tab_of(&page);
                told.push(format!(
                    "The frame that was chosen in tab {tab} is gone; the whole page is meant again."
                ));
            }
        }
        told
    }
}
