//! Cdp sessions that end: what each left behind in the browser is taken back, because the browser's own session goes
//! on.

use serde_json::json;
use tabwire_wire::CdpSessionId;

use crate::debuggee::DebuggeeId;
use crate::emulated_browser::EmulatedBrowser;
use crate::link_message::ChromeTab;
use crate::override_undo::undo_of;
use crate::page_command::Command;
use crate::pending::{Asker, Task};
use crate::reply::ProtocolError;
use crate::tab::Tab;
use crate::virtual_session::{Place, SCREENCAST, VirtualSession};

impl EmulatedBrowser {
    /// Ends a session and those below it; its parent is told.
    pub(crate) fn end_session(&mut self, session: &CdpSessionId) {
        self.tell_ended(session);
        let mut ended = Vec::new();
        let mut open = vec![session.clone()];
        while let Some(next) = open.pop() {
            let below = self.sessions.iter().filter(|(_, one)| one.parent.as_ref() == Some(&next));
            open.extend(below.map(|(id, _)| id.clone()));
            if let Some(mut gone) = self.sessions.remove(&next) {
                self.fail_held(&mut gone);
                ended.push((next, gone));
            }
        }
        let mut tabs: Vec<ChromeTab> = Vec::new();
        for (id, gone) in &ended {
            if let Some(place) = gone.debuggee() {
                self.forget_waiter(place, id);
                tabs.push(place.tab);
            }
        }
        tabs.sort_unstable();
        tabs.dedup();
        for tab in tabs {
            self.let_go_if_unused(tab);
        }
        for (_, gone) in ended {
            self.take_back(&gone);
        }
    }

    /// Ends sessions on a tab and on what is in it, because the tab or its debugger is gone: nothing is taken back.
    pub(crate) fn end_tab_sessions(&mut self, tab: ChromeTab, which: impl Fn(&VirtualSession) -> bool) {
        let ending: Vec<CdpSessionId> = self
            .sessions
            .iter()
            .filter(|(_, one)| one.tab() == Some(tab) && which(one))
            .map(|(id, _)| id.clone())
            .collect();
        // Parts before the whole: each is told to who still has the session it came from.
        for session in ending.into_iter().rev() {
            self.tell_ended(&session);
            if let Some(mut gone) = self.sessions.remove(&session) {
                self.fail_held(&mut gone);
            }
        }
    }

    /// What a session that is gone had waiting will not be done.
    pub(crate) fn fail_held(&mut self, gone: &mut VirtualSession) {
        for waiting in std::mem::take(&mut gone.held) {
            self.fail(&waiting.asker, &ProtocolError::no_session());
        }
    }

    pub(crate) fn tell_ended(&mut self, session: &CdpSessionId) {
        let Some(entry) = self.sessions.get(session) else { return };
        let target = match &entry.place {
            Place::Browser { .. } => return,
            Place::Tab(tab) => self.tabs.get(tab).map(Tab::outer_target),
            Place::Page(place) => self.target_of(place),
        };
        let parent = entry.parent.clone();
        let params = json!({"sessionId": session.as_str(), "targetId": target}).to_string();
        self.tell(parent.as_ref(), "Target.detachedFromTarget", &params);
    }

    fn target_of(&self, place: &DebuggeeId) -> Option<String> {
        match &place.child {
            None => self.tabs.get(&place.tab).map(|tab| tab.description.target.clone()),
            Some(child) => self
                .debuggees
                .iter()
                .filter(|(id, _)| id.tab == place.tab)
                .find_map(|(_, debuggee)| debuggee.children.get(child))
                .and_then(|child| child.info.get("targetId")?.as_str().map(str::to_owned)),
        }
    }

    /// Takes back what a session did to a page that others still use.
    fn take_back(&mut self, gone: &VirtualSession) {
        let Some(place) = gone.debuggee().filter(|place| self.debuggees.contains_key(place)) else { return };
        let place = place.clone();
        let mut commands = Vec::new();
        for real in gone.scripts.values().flatten() {
            let params = json!({"identifier": real}).to_string();
            commands.push(Command::new("Page.removeScriptToEvaluateOnNewDocument", &params));
        }
        let on_place = |one: &&VirtualSession| one.debuggee() == Some(&place);
        for binding in &gone.bindings {
            if !self.sessions.values().filter(on_place).any(|one| one.bindings.contains(binding)) {
                let params = json!({"name": binding}).to_string();
                commands.push(Command::new("Runtime.removeBinding", &params));
            }
        }
        for (undo, params) in gone.overrides.iter().filter_map(|method| undo_of(method)) {
            commands.push(Command::new(undo, params));
        }
        for domain in gone.domains.iter().filter(|domain| has_disable(domain)) {
            if !self.sessions.values().filter(on_place).any(|one| one.domains.contains(domain)) {
                commands.push(Command::new(&format!("{domain}.disable"), "{}"));
            }
        }
        for command in commands {
            self.pass_on(&place, &command, Asker::Nobody, Task::Pass);
        }
    }
}

fn has_disable(domain: &str) -> bool {
    !matches!(domain, SCREENCAST | "Emulation" | "Input" | "Tracing")
}
