//! The end of CDP sessions. Chrome's own session goes on, so the setup of an ended session is undone command by command.

use serde_json::json;
use tabwire_api::CdpSessionId;
use tabwire_cdp::ProtocolError;

use crate::browser::EmulatedBrowser;
use crate::browser::page_command::Command;

use crate::link::message::ChromeTab;
use crate::session::override_undo::undo_of;
use crate::session::virtual_session::{SCREENCAST, SessionTarget, VirtualSession};
use crate::target::debuggee::DebuggeeId;
use crate::target::tab::Tab;

impl EmulatedBrowser {
    /// Ends a session and the sessions below it, and sends `Target.detachedFromTarget` to its parent.
    pub(super) fn end_session(&mut self, session: &CdpSessionId) {
        self.send_detached(session);
        let mut ended = Vec::new();
        let mut open = vec![session.clone()];
        while let Some(next) = open.pop() {
            open.extend(self.sessions.children_of(&next));
            if let Some(mut gone) = self.sessions.remove(&next) {
                self.fail_blocked(&mut gone);
                ended.push((next, gone));
            }
        }
        let mut tabs: Vec<ChromeTab> = Vec::new();
        for (id, gone) in &ended {
            if let Some(debuggee_id) = gone.debuggee() {
                self.resume_if_last(debuggee_id, id);
                tabs.push(debuggee_id.tab);
            }
        }
        tabs.sort_unstable();
        tabs.dedup();
        for tab in tabs {
            self.detach_if_unused(tab);
        }
        for (_, gone) in ended {
            self.undo_setup(&gone);
        }
    }

    /// Ends sessions in a tab that is closed or detached. There is nothing to undo in Chrome.
    pub(super) fn end_tab_sessions(&mut self, tab: ChromeTab, which: impl Fn(&VirtualSession) -> bool) {
        // Children before parents: a detach event goes to the parent session, which has to exist still.
        for session in self.sessions.in_tab(tab, which).into_iter().rev() {
            self.send_detached(&session);
            if let Some(mut gone) = self.sessions.remove(&session) {
                self.fail_blocked(&mut gone);
            }
        }
    }

    fn fail_blocked(&mut self, gone: &mut VirtualSession) {
        for queued in std::mem::take(&mut gone.blocked) {
            self.fail(&queued.requester, &ProtocolError::no_session());
        }
    }

    pub(super) fn send_detached(&mut self, session: &CdpSessionId) {
        let Some(entry) = self.sessions.get(session) else { return };
        let target = match &entry.target {
            SessionTarget::Browser { .. } => return,
            SessionTarget::Tab(tab) => self.tabs.get(tab).map(Tab::tab_target_id),
            SessionTarget::Page(debuggee_id) => self.target_id_of(debuggee_id),
        };
        let parent = entry.parent.clone();
        let params = json!({"sessionId": session.as_str(), "targetId": target}).to_string();
        self.send_event(parent.as_ref(), "Target.detachedFromTarget", &params);
    }

    fn target_id_of(&self, debuggee_id: &DebuggeeId) -> Option<String> {
        if debuggee_id.child.is_none() {
            return self.tabs.get(&debuggee_id.tab).map(|tab| tab.description.target.clone());
        }
        self.debuggees.find_child(debuggee_id)?.info.get("targetId")?.as_str().map(str::to_owned)
    }

    /// Undoes the setup of an ended session on a page that other sessions still use.
    fn undo_setup(&mut self, gone: &VirtualSession) {
        let Some(debuggee_id) = gone.debuggee().filter(|id| self.debuggees.contains(id)) else { return };
        let mut commands = Vec::new();
        for real in gone.scripts.values().flatten() {
            let params = json!({"identifier": real}).to_string();
            commands.push(Command::new("Page.removeScriptToEvaluateOnNewDocument", &params));
        }
        for binding in &gone.bindings {
            if !self.sessions.any_on(debuggee_id, |other| other.bindings.contains(binding)) {
                let params = json!({"name": binding}).to_string();
                commands.push(Command::new("Runtime.removeBinding", &params));
            }
        }
        // Chromium undoes overrides when a session detaches. Here all sessions share the one of
        // `chrome.debugger`, which stays.
        for (undo, params) in gone.overrides.iter().filter_map(|method| undo_of(method)) {
            commands.push(Command::new(undo, params));
        }
        for domain in gone.domains.iter().filter(|domain| has_disable(domain)) {
            if !self.sessions.any_on(debuggee_id, |other| other.domains.contains(domain)) {
                commands.push(Command::new(&format!("{domain}.disable"), "{}"));
            }
        }
        for command in commands {
            self.forward_internal(debuggee_id, &command);
        }
    }
}

fn has_disable(domain: &str) -> bool {
    !matches!(domain, SCREENCAST | "Emulation" | "Input" | "Tracing")
}
