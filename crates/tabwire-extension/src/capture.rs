//! Pictures of tabs that are not in front. Chromium 156 lets every second one hang for ever unless a screencast runs,
//! so a tiny one runs meanwhile; nobody is told of its frames.

use tabwire_wire::CdpSessionId;

use crate::debuggee::DebuggeeId;
use crate::emulated_browser::EmulatedBrowser;
use crate::page_command::Command;
use crate::pending::{Asker, Task};
use crate::virtual_session::SCREENCAST;

/// The smallest there is.
const TINY: &str = r#"{"format":"jpeg","quality":1,"maxWidth":16,"maxHeight":16}"#;

impl EmulatedBrowser {
    /// Takes a picture, within a screencast of our own unless a client has one.
    pub(crate) fn capture(&mut self, place: &DebuggeeId, command: &Command, asker: Asker) {
        if self.has_screencast(place) {
            return self.pass_on(place, command, asker, Task::Pass);
        }
        self.pass_on(place, &Command::new("Page.startScreencast", TINY), Asker::Nobody, Task::Pass);
        self.pass_on(place, command, asker, Task::Capture(place.clone()));
    }

    /// The picture is taken, or could not be: our screencast ends, unless a client has begun one meanwhile.
    pub(crate) fn captured(&mut self, place: &DebuggeeId) {
        if self.debuggees.contains_key(place) && !self.has_screencast(place) {
            self.pass_on(place, &Command::new("Page.stopScreencast", "{}"), Asker::Nobody, Task::Pass);
        }
    }

    fn has_screencast(&self, place: &DebuggeeId) -> bool {
        self.sessions.values().any(|one| one.debuggee() == Some(place) && one.domains.contains(SCREENCAST))
    }

    /// A client ends its screencast; says whether another's goes on, and the browser is not to be told.
    pub(crate) fn screencast_goes_on(&mut self, place: &DebuggeeId, session: &CdpSessionId) -> bool {
        if let Some(entry) = self.sessions.get_mut(session) {
            entry.domains.remove(SCREENCAST);
            entry.overrides.remove("Page.startScreencast");
        }
        self.has_screencast(place)
    }
}
