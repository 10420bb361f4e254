//! Screenshots of background tabs. In Chromium 156 every second `Page.captureScreenshot` of a background tab hangs unless
//! a screencast runs, so a tiny screencast runs meanwhile. No client receives its frames.

use tabwire_api::CdpSessionId;

use crate::browser::EmulatedBrowser;
use crate::browser::page_command::Command;
use crate::browser::pending::{OnResponse, Requester};
use crate::session::virtual_session::SCREENCAST;
use crate::target::debuggee::DebuggeeId;

const TINY_SCREENCAST: &str = r#"{"format":"jpeg","quality":1,"maxWidth":16,"maxHeight":16}"#;

impl EmulatedBrowser {
    pub(super) fn screenshot(&mut self, debuggee_id: &DebuggeeId, command: &Command, requester: Requester) {
        if self.has_screencast(debuggee_id) {
            return self.forward(debuggee_id, command, requester, OnResponse::Forward);
        }
        self.forward_internal(debuggee_id, &Command::new("Page.startScreencast", TINY_SCREENCAST));
        self.forward(debuggee_id, command, requester, OnResponse::Screenshot(debuggee_id.clone()));
    }

    /// Stops the tiny screencast, unless a client started a screencast meanwhile.
    pub(super) fn screenshot_done(&mut self, debuggee_id: &DebuggeeId) {
        if self.debuggees.contains(debuggee_id) && !self.has_screencast(debuggee_id) {
            self.forward_internal(debuggee_id, &Command::new("Page.stopScreencast", "{}"));
        }
    }

    fn has_screencast(&self, debuggee_id: &DebuggeeId) -> bool {
        self.sessions.any_on(debuggee_id, |session| session.domains.contains(SCREENCAST))
    }

    /// Ends the screencast of a session; says whether another session still has one, so that Chrome must go on.
    pub(super) fn end_screencast(&mut self, debuggee_id: &DebuggeeId, session: &CdpSessionId) -> bool {
        if let Some(entry) = self.sessions.get_mut(session) {
            entry.domains.remove(SCREENCAST);
            entry.overrides.remove("Page.startScreencast");
        }
        self.has_screencast(debuggee_id)
    }
}
