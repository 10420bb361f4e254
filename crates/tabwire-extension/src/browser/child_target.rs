//! Frames and workers with targets of their own. Chrome reports each once; every session on the page gets a virtual
//! session for it.

use serde_json::{Value, json};
use tabwire_api::CdpSessionId;
use tabwire_cdp::TargetFilter;

use crate::browser::EmulatedBrowser;
use crate::browser::page_command::Command;
use crate::browser::page_event::STORED_ITEMS;
use crate::browser::pending::{OnResponse, Requester};
use crate::link::message::ChromeTab;
use crate::session::virtual_session::{SessionTarget, VirtualSession};
use crate::target::debuggee::{AutoAttach, Child, DebuggeeId};

impl EmulatedBrowser {
    /// `Target.setAutoAttach` on a page. The first one goes to Chrome; a later one gets the known children. Chrome gets it
    /// again only when a session wants new children paused and Chrome does not pause them yet.
    pub(super) fn auto_attach_below(
        &mut self,
        debuggee_id: &DebuggeeId,
        session: &CdpSessionId,
        command: &Command,
        requester: Requester,
    ) {
        let mut params = match command.read_params() {
            Ok(params) => params,
            Err(error) => return self.fail(&requester, &error),
        };
        let child_filter = take_filter(&mut params);
        let command = &Command::new(&command.method, &params.to_string());
        let flag = |name: &str| params.get(name).and_then(Value::as_bool).unwrap_or(false);
        let options = flag("autoAttach").then(|| AutoAttach { wait: flag("waitForDebuggerOnStart") });
        let Some(entry) = self.sessions.get_mut(session) else { return };
        let before = std::mem::replace(&mut entry.auto_attach, options);
        entry.child_filter = child_filter;
        let Some(options) = options else {
            return self.stop_attaching_below(debuggee_id, session, command, requester);
        };
        if before.is_none() {
            let known = self.debuggees.get(debuggee_id).map(|debuggee| debuggee.children.keys().cloned());
            for child in known.into_iter().flatten().collect::<Vec<_>>() {
                if self.wants_child(debuggee_id, session, &child) {
                    self.attach_child_session(debuggee_id, session, &child, false);
                }
            }
        }
        let Some(debuggee) = self.debuggees.get_mut(debuggee_id) else {
            return self.succeed(&requester, "{}");
        };
        // All sessions share one debugger: Chrome pauses new targets if any of them waits.
        let enough = debuggee.auto_attach.is_some_and(|now| now.wait || !options.wait);
        debuggee.auto_attach =
            Some(AutoAttach { wait: options.wait || debuggee.auto_attach.is_some_and(|now| now.wait) });
        if enough {
            return self.succeed(&requester, "{}");
        }
        // Chrome sends the attach events before the response, and clients rely on it. A replayed command has no client
        // that waits.
        let on_response = match requester {
            Requester::Hub { .. } => OnResponse::AutoAttach,
            Requester::Internal => OnResponse::Forward,
        };
        self.forward(debuggee_id, command, requester, on_response);
    }

    fn stop_attaching_below(
        &mut self,
        debuggee_id: &DebuggeeId,
        session: &CdpSessionId,
        command: &Command,
        requester: Requester,
    ) {
        for child in self.sessions.children_of(session) {
            self.end_session(&child);
        }
        let wanted = self.sessions.any_on(debuggee_id, |other| other.auto_attach.is_some());
        match self.debuggees.get_mut(debuggee_id).filter(|_| !wanted) {
            Some(debuggee) => {
                debuggee.auto_attach = None;
                self.forward(debuggee_id, command, requester, OnResponse::Forward);
            }
            None => self.succeed(&requester, "{}"),
        }
    }

    /// Chrome attached to a child target.
    pub(super) fn child_attached(&mut self, debuggee_id: &DebuggeeId, params: &str) {
        let params = tabwire_cdp::lenient_json::read(params.as_bytes());
        let Some(real) = params.get("sessionId").and_then(Value::as_str).map(str::to_owned) else { return };
        let info = params.get("targetInfo").cloned().unwrap_or_default();
        let is_paused = params.get("waitingForDebugger").and_then(Value::as_bool).unwrap_or(false);
        let child = DebuggeeId::child(debuggee_id.tab, &real);
        let has_room = self.debuggees.len() < STORED_ITEMS;
        let receivers = match has_room {
            true => self.sessions.on_where(debuggee_id, |session| {
                session.auto_attach.is_some() && session.child_filter.admits(kind_of(&info))
            }),
            false => Vec::new(),
        };
        if let Some(parent) = self.debuggees.get_mut(debuggee_id).filter(|_| has_room) {
            parent.children.insert(real.clone(), Child { info, ..Child::default() });
            self.debuggees.insert(child.clone());
        }
        for session in receivers {
            self.attach_child_session(debuggee_id, &session, &real, is_paused);
        }
        let has_waiter = self.debuggees.find_child(&child).is_some_and(|child| !child.paused_for.is_empty());
        if is_paused && !has_waiter {
            // No session will resume it, and the page would hang.
            let command = Command::new("Runtime.runIfWaitingForDebugger", "{}");
            self.forward_internal(&child, &command);
        }
    }

    fn wants_child(&self, debuggee_id: &DebuggeeId, session: &CdpSessionId, real: &str) -> bool {
        let child = self.debuggees.get(debuggee_id).and_then(|debuggee| debuggee.children.get(real));
        let session = self.sessions.get(session);
        child.is_some_and(|child| {
            session.is_some_and(|session| session.child_filter.admits(kind_of(&child.info)))
        })
    }

    fn attach_child_session(
        &mut self,
        debuggee_id: &DebuggeeId,
        parent: &CdpSessionId,
        real: &str,
        is_paused: bool,
    ) {
        let wants = self.sessions.get(parent).and_then(|one| one.auto_attach);
        let is_paused = is_paused && wants.is_some_and(|options| options.wait);
        let below = SessionTarget::Page(DebuggeeId::child(debuggee_id.tab, real));
        let made = self.sessions.add(VirtualSession::new(Some(parent.clone()), below));
        let known = self.debuggees.get_mut(debuggee_id).and_then(|debuggee| debuggee.children.get_mut(real));
        let Some(child) = known else { return };
        child.initializing.insert(made.clone());
        if is_paused {
            child.paused_for.insert(made.clone());
        }
        let params =
            json!({"sessionId": made.as_str(), "targetInfo": child.info, "waitingForDebugger": is_paused});
        self.send_event(Some(parent), "Target.attachedToTarget", &params.to_string());
    }

    /// Chrome detached from a child target.
    pub(super) fn child_detached(&mut self, debuggee_id: &DebuggeeId, params: &str) {
        let params = tabwire_cdp::lenient_json::read(params.as_bytes());
        let Some(real) = params.get("sessionId").and_then(Value::as_str) else { return };
        let gone = DebuggeeId::child(debuggee_id.tab, real);
        let below = self.debuggees.get(&gone).map(|debuggee| debuggee.children.keys().cloned().collect());
        for nested in Option::<Vec<String>>::into_iter(below).flatten() {
            self.child_detached(&gone, &json!({"sessionId": nested}).to_string());
        }
        for session in self.sessions.on(&gone) {
            self.send_detached(&session);
            self.sessions.remove(&session);
        }
        self.debuggees.remove(&gone);
        if let Some(parent) = self.debuggees.get_mut(debuggee_id) {
            parent.children.remove(real);
        }
    }

    /// A session resumes a child target; says whether it stays paused for other sessions.
    pub(super) fn is_still_paused(&mut self, debuggee_id: &DebuggeeId, session: &CdpSessionId) -> bool {
        let Some(child) = self.debuggees.find_child_mut(debuggee_id) else { return false };
        child.initializing.remove(session);
        child.paused_for.remove(session);
        !child.paused_for.is_empty()
    }

    /// A session ended: resumes the child target if it was paused for this session only.
    pub(super) fn resume_if_last(&mut self, debuggee_id: &DebuggeeId, session: &CdpSessionId) {
        let Some(child) = self.debuggees.find_child_mut(debuggee_id) else { return };
        child.initializing.remove(session);
        // Chrome pauses a child once, for the one real session. It runs when the last of the virtual ones
        // resumes it or leaves.
        let is_paused = child.paused_for.remove(session);
        if is_paused && child.paused_for.is_empty() {
            let command = Command::new("Runtime.runIfWaitingForDebugger", "{}");
            self.forward_internal(debuggee_id, &command);
        }
    }

    /// Whether a client is still attaching to child targets of a tab: it has not resumed one, or waits for a response.
    pub(super) fn is_child_setup_pending(&self, tab: ChromeTab) -> bool {
        let is_below = |session: &CdpSessionId| {
            let debuggee_id = self.sessions.get(session).and_then(VirtualSession::debuggee);
            debuggee_id.is_some_and(|id| id.tab == tab && id.child.is_some())
        };
        self.debuggees.children_in(tab).any(|child| !child.initializing.is_empty())
            || self.pending.any_on_session(is_below)
    }
}

/// Takes the `filter` out of the parameters of `Target.setAutoAttach`, so that the browser does not see it: Chromium 156
/// pauses a target that its filter leaves out, and no session could resume it.
fn take_filter(params: &mut Value) -> TargetFilter {
    let taken = params.as_object_mut().and_then(|members| members.remove("filter"));
    TargetFilter::read(taken.as_ref()).unwrap_or_default()
}

fn kind_of(info: &Value) -> &str {
    info.get("type").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_filter_is_taken_out_of_the_parameters() {
        let mut params = json!({"autoAttach": true, "filter": [{"type": "worker", "exclude": true}, {}]});
        let filter = take_filter(&mut params);
        assert_eq!(params, json!({"autoAttach": true}));
        assert!(filter.admits("iframe") && !filter.admits("worker"));
        let filter = take_filter(&mut json!({"filter": [{"type": "iframe"}]}));
        assert!(filter.admits("iframe") && !filter.admits("worker"));
        assert!(take_filter(&mut json!({})).admits("worker"));
    }
}
