//! Putting the debugger on a tab, and everything that waited for it.

use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, ErrorCode};

use crate::debuggee::{Debuggee, DebuggeeId};
use crate::emulated_browser::EmulatedBrowser;
use crate::link_message::{ChromeTab, LinkFailure, WithTab};
use crate::page_command::Waiting;
use crate::pending::{Asker, Pending, Task};
use crate::reply::ProtocolError;
use crate::tab::TabState;

impl EmulatedBrowser {
    pub(crate) fn attach_tab(&mut self, tab: ChromeTab) {
        self.ask("attach", WithTab { tab }, Pending { asker: Asker::Nobody, task: Task::Attach(tab) });
    }

    /// The debugger is on: what was kept is asked for first, in order, and then what waits.
    pub(crate) fn tab_attached(&mut self, tab: ChromeTab, answer: &str) {
        let place = DebuggeeId { tab, child: None };
        let Some(entry) = self.tabs.get_mut(&tab) else { return };
        let waiting = match std::mem::replace(&mut entry.state, TabState::Attached) {
            TabState::Attaching { waiting } => waiting,
            TabState::Idle | TabState::Attached => Vec::new(),
        };
        self.debuggees.insert(place.clone(), Debuggee::default());
        let tree = tabwire_cdp::lenient_json::read(answer.as_bytes());
        let sessions: Vec<CdpSessionId> = self
            .sessions
            .iter()
            .filter(|(_, session)| session.debuggee() == Some(&place))
            .map(|(id, _)| id.clone())
            .collect();
        for session in sessions {
            let Some(entry) = self.sessions.get_mut(&session) else { continue };
            let journal = std::mem::take(&mut entry.journal);
            if std::mem::take(&mut entry.told_tree) {
                self.tell_frames(&session, tree.get("frameTree"));
            }
            for (command, task) in journal {
                let session = Some(session.clone());
                self.carry_out(&place, Waiting { session, command, asker: Asker::Nobody, task });
            }
        }
        let unwanted = waiting.is_empty();
        for one in waiting {
            self.carry_out(&place, one);
        }
        if unwanted {
            // Whoever it was for has left meanwhile.
            self.let_go_if_unused(tab);
        }
    }

    /// Tells a session that was given the main frame only of the frames below it, before their worlds are announced.
    fn tell_frames(&mut self, session: &CdpSessionId, tree: Option<&Value>) {
        let mut open: Vec<&Value> = tree.into_iter().collect();
        while let Some(tree) = open.pop() {
            for below in tree.get("childFrames").and_then(Value::as_array).into_iter().flatten() {
                let frame = below.get("frame").cloned().unwrap_or_default();
                let (id, parent) = (frame.get("id").cloned(), frame.get("parentId").cloned());
                let attached = json!({"frameId": id, "parentFrameId": parent}).to_string();
                self.tell(Some(session), "Page.frameAttached", &attached);
                let navigated = json!({"frame": frame, "type": "Navigation"}).to_string();
                self.tell(Some(session), "Page.frameNavigated", &navigated);
                open.push(below);
            }
        }
    }

    /// The debugger could not be put on: everybody who waits is told why, and the next command tries anew.
    pub(crate) fn tab_attach_failed(&mut self, tab: ChromeTab, failure: LinkFailure) {
        let Some(entry) = self.tabs.get_mut(&tab) else { return };
        let error = ProtocolError::of(failure);
        if let TabState::Attaching { waiting } = std::mem::replace(&mut entry.state, TabState::Idle) {
            for one in waiting {
                self.fail(&one.asker, &error);
            }
        }
    }

    /// The debugger is off: by the user, by the browser, or lost. Who used it is told that the session ended.
    pub(crate) fn tab_detached(&mut self, tab: ChromeTab, reason: &str) {
        let Some(entry) = self.tabs.get_mut(&tab) else { return };
        let state = std::mem::replace(&mut entry.state, TabState::Idle);
        if let TabState::Attaching { waiting } = state {
            let message = format!("The debugger was taken off this tab ({reason}).");
            let error = ProtocolError::ours(ErrorCode::Detached, message);
            for one in waiting {
                self.fail(&one.asker, &error);
            }
        }
        self.end_tab_sessions(tab, |session| session.touched);
        self.debuggees.retain(|place, _| place.tab != tab);
    }

    /// Takes the debugger off a tab that nobody uses any more.
    pub(crate) fn let_go_if_unused(&mut self, tab: ChromeTab) {
        let used = self
            .sessions
            .values()
            .any(|session| session.touched && session.debuggee().is_some_and(|place| place.tab == tab));
        let Some(entry) = self.tabs.get_mut(&tab).filter(|entry| entry.is_attached() && !used) else {
            return;
        };
        entry.state = TabState::Idle;
        self.debuggees.retain(|place, _| place.tab != tab);
        self.ask("detach", WithTab { tab }, Pending { asker: Asker::Nobody, task: Task::Done });
    }
}
