//! What errors of Chrome mean for a call, and the failures of frames and documents that are gone.

use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step};
use tabwire_cdp::CdpError;

use super::session::PageSession;
use crate::snapshot::PageText;

/// Characters of a URL that a failure quotes.
const URL_CHARACTERS: usize = 200;

impl PageSession {
    /// The failure for an error of a command to the page.
    pub(crate) fn failure(&self, error: CdpError) -> Failure {
        self.failure_in(self.main_frame(), error)
    }

    /// The failure for an error of a command to a frame.
    pub(super) fn failure_in(&self, frame: &FrameId, error: CdpError) -> Failure {
        if is_context_missing(&error) || is_document_gone(&error) {
            return document_gone();
        }
        if !matches!(error, CdpError::Timeout { .. }) {
            return error.into_failure();
        }
        // Chromium 156 holds commands to a page that navigates, from the start of the navigation until its response
        // begins, however long the server takes. A timeout then means a slow server, not a slow page.
        let Some(url) = self.pending_url(frame) else { return error.into_failure() };
        let url = PageText::cut(&url, URL_CHARACTERS);
        let message = format!(
            "The page is navigating to {}, whose server has not responded. Chrome holds all commands until it does.",
            url.as_str()
        );
        Failure::new(ErrorCode::Timeout, message).with_remedy(Remedy::new(
            "Raise {}, or navigate elsewhere with {}.",
            [Step::argument("timeout"), Step::action("open")],
        ))
    }
}

/// Chrome: "Cannot find context with specified id". The context was gone before the script ran.
pub(super) fn is_context_missing(error: &CdpError) -> bool {
    matches!(error, CdpError::Protocol { message, .. } if message.contains("Cannot find context"))
}

/// Chrome: "No frame for given id found". Another process has the frame, or none has.
pub(super) fn is_frame_elsewhere(error: &CdpError) -> bool {
    matches!(error, CdpError::Protocol { message, .. } if message.contains("No frame for given id"))
}

/// Chrome: "Execution context was destroyed", "Inspected target navigated or closed", "Promise was collected". The
/// document went away while the script ran.
pub(super) fn is_document_gone(error: &CdpError) -> bool {
    let CdpError::Protocol { message, .. } = error else { return false };
    ["context was destroyed", "navigated or closed", "Promise was collected"]
        .iter()
        .any(|text| message.contains(text))
}

fn new_snapshot() -> Remedy {
    Remedy::new("Run {} and try again.", [Step::action("snapshot")])
}

/// The page navigated during the call. The call may or may not have done its work.
pub(super) fn document_gone() -> Failure {
    Failure::new(ErrorCode::TargetGone, "The page navigated to another document during the call.")
        .with_remedy(new_snapshot())
}

pub(super) fn frame_gone(frame: &FrameId) -> Failure {
    Failure::new(ErrorCode::TargetGone, format!("The frame {frame} is no longer on the page."))
        .with_remedy(new_snapshot())
}

pub(super) fn element_gone() -> Failure {
    Failure::new(ErrorCode::RefExpired, "The element is no longer on the page.").with_remedy(new_snapshot())
}
