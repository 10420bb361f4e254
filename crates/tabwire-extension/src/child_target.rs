//! Frames and workers with sessions of their own: the browser tells of each once, every cdp session on the page gets
//! one.

use serde_json::{Value, json};
use tabwire_wire::CdpSessionId;

use crate::debuggee::{AutoAttach, Child, Debuggee, DebuggeeId};
use crate::emulated_browser::EmulatedBrowser;
use crate::limits::REMEMBERED_PARTS;
use crate::link_message::ChromeTab;
use crate::page_command::Command;
use crate::part_filter::PartFilter;
use crate::pending::{Asker, Pending, Task};
use crate::virtual_session::{Place, VirtualSession};

impl EmulatedBrowser {
    /// `Target.setAutoAttach` on a page: the first wish goes to the browser, a later one is told what is there. The
    /// browser is asked again only when it has to hold what comes up and did not before.
    pub(crate) fn auto_attach_below(
        &mut self,
        place: &DebuggeeId,
        session: &CdpSessionId,
        command: &Command,
        asker: Asker,
    ) {
        let mut params = match command.read_params() {
            Ok(params) => params,
            Err(error) => return self.fail(&asker, &error),
        };
        let parts = PartFilter::take(&mut params);
        let command = &Command::new(&command.method, &params.to_string());
        let flag = |name: &str| params.get(name).and_then(Value::as_bool).unwrap_or(false);
        let wish = flag("autoAttach").then(|| AutoAttach { wait: flag("waitForDebuggerOnStart") });
        let Some(entry) = self.sessions.get_mut(session) else { return };
        let before = std::mem::replace(&mut entry.auto_attach, wish);
        entry.parts = parts;
        let Some(wish) = wish else {
            return self.stop_attaching_below(place, session, command, asker);
        };
        if before.is_none() {
            let known = self.debuggees.get(place).map(|debuggee| debuggee.children.keys().cloned());
            for child in known.into_iter().flatten().collect::<Vec<_>>() {
                if self.wants_child(place, session, &child) {
                    self.offer_child(place, session, &child, false);
                }
            }
        }
        let Some(debuggee) = self.debuggees.get_mut(place) else { return self.succeed(&asker, "{}") };
        let enough = debuggee.auto_attach.is_some_and(|now| now.wait || !wish.wait);
        debuggee.auto_attach =
            Some(AutoAttach { wait: wish.wait || debuggee.auto_attach.is_some_and(|now| now.wait) });
        if enough {
            return self.succeed(&asker, "{}");
        }
        // A browser tells of what is there before it answers, and clients count on it. What is set up again has nobody
        // who waits for the answer.
        let task = match asker {
            Asker::Hub { .. } => Task::AutoAttach,
            Asker::Nobody => Task::Pass,
        };
        self.pass_on(place, command, asker, task);
    }

    fn stop_attaching_below(
        &mut self,
        place: &DebuggeeId,
        session: &CdpSessionId,
        command: &Command,
        asker: Asker,
    ) {
        let below = self.sessions.iter().filter(|(_, one)| one.parent.as_ref() == Some(session));
        for child in below.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.end_session(&child);
        }
        let wanted =
            self.sessions.values().any(|one| one.debuggee() == Some(place) && one.auto_attach.is_some());
        match self.debuggees.get_mut(place).filter(|_| !wanted) {
            Some(debuggee) => {
                debuggee.auto_attach = None;
                self.pass_on(place, command, asker, Task::Pass);
            }
            None => self.succeed(&asker, "{}"),
        }
    }

    /// The browser has attached to something below a page.
    pub(crate) fn child_attached(&mut self, place: &DebuggeeId, params: &str) {
        let params = tabwire_cdp::lenient_json::read(params.as_bytes());
        let Some(real) = params.get("sessionId").and_then(Value::as_str).map(str::to_owned) else { return };
        let info = params.get("targetInfo").cloned().unwrap_or_default();
        let held = params.get("waitingForDebugger").and_then(Value::as_bool).unwrap_or(false);
        let child = DebuggeeId { tab: place.tab, child: Some(real.clone()) };
        let room = self.debuggees.len() < REMEMBERED_PARTS;
        let told: Vec<CdpSessionId> = self
            .sessions
            .iter()
            .filter(|(_, one)| room && one.debuggee() == Some(place) && one.auto_attach.is_some())
            .filter(|(_, one)| one.parts.admits(&info))
            .map(|(id, _)| id.clone())
            .collect();
        if let Some(parent) = self.debuggees.get_mut(place).filter(|_| room) {
            parent.children.insert(real.clone(), Child { info, ..Child::default() });
            self.debuggees.insert(child.clone(), Debuggee::default());
        }
        for session in told {
            self.offer_child(place, &session, &real, held);
        }
        let waited_for = self
            .debuggees
            .get(place)
            .and_then(|parent| parent.children.get(&real))
            .is_some_and(|child| !child.waiters.is_empty());
        if held && !waited_for {
            // Nobody will let it run, and the page would hang for it.
            let command = Command::new("Runtime.runIfWaitingForDebugger", "{}");
            self.pass_on(&child, &command, Asker::Nobody, Task::Pass);
        }
    }

    fn wants_child(&self, place: &DebuggeeId, session: &CdpSessionId, real: &str) -> bool {
        let child = self.debuggees.get(place).and_then(|debuggee| debuggee.children.get(real));
        let session = self.sessions.get(session);
        child.is_some_and(|child| session.is_some_and(|session| session.parts.admits(&child.info)))
    }

    fn offer_child(&mut self, place: &DebuggeeId, parent: &CdpSessionId, real: &str, held: bool) {
        let wants = self.sessions.get(parent).and_then(|one| one.auto_attach);
        let held = held && wants.is_some_and(|wish| wish.wait);
        let below = Place::Page(DebuggeeId { tab: place.tab, child: Some(real.to_owned()) });
        let made = self.add_session(VirtualSession::new(Some(parent.clone()), below));
        let known = self.debuggees.get_mut(place).and_then(|debuggee| debuggee.children.get_mut(real));
        let Some(child) = known else { return };
        child.newcomers.insert(made.clone());
        if held {
            child.waiters.insert(made.clone());
        }
        let params =
            json!({"sessionId": made.as_str(), "targetInfo": child.info, "waitingForDebugger": held});
        self.tell(Some(parent), "Target.attachedToTarget", &params.to_string());
    }

    /// The browser has let go of something below a page.
    pub(crate) fn child_detached(&mut self, place: &DebuggeeId, params: &str) {
        let params = tabwire_cdp::lenient_json::read(params.as_bytes());
        let Some(real) = params.get("sessionId").and_then(Value::as_str) else { return };
        let gone = DebuggeeId { tab: place.tab, child: Some(real.to_owned()) };
        let below = self.debuggees.get(&gone).map(|debuggee| debuggee.children.keys().cloned().collect());
        for nested in Option::<Vec<String>>::into_iter(below).flatten() {
            self.child_detached(&gone, &json!({"sessionId": nested}).to_string());
        }
        let ended: Vec<CdpSessionId> = self
            .sessions
            .iter()
            .filter(|(_, one)| one.debuggee() == Some(&gone))
            .map(|(id, _)| id.clone())
            .collect();
        for session in ended {
            self.tell_ended(&session);
            self.sessions.remove(&session);
        }
        self.debuggees.remove(&gone);
        if let Some(parent) = self.debuggees.get_mut(place) {
            parent.children.remove(real);
        }
    }

    /// A session lets something run; says whether others still hold it.
    pub(crate) fn still_held(&mut self, place: &DebuggeeId, session: &CdpSessionId) -> bool {
        let Some(child) = self.find_child(place) else { return false };
        child.newcomers.remove(session);
        child.waiters.remove(session);
        !child.waiters.is_empty()
    }

    /// A session is gone: nothing is held for it any more.
    pub(crate) fn forget_waiter(&mut self, place: &DebuggeeId, session: &CdpSessionId) {
        let Some(child) = self.find_child(place) else { return };
        child.newcomers.remove(session);
        let held = child.waiters.remove(session);
        if held && child.waiters.is_empty() {
            let command = Command::new("Runtime.runIfWaitingForDebugger", "{}");
            self.pass_on(place, &command, Asker::Nobody, Task::Pass);
        }
    }

    /// Whether somebody is about to take up what is in a tab: has not said so, or waits for an answer about it.
    pub(crate) fn is_being_taken_up(&self, tab: ChromeTab) -> bool {
        let here = self.debuggees.iter().filter(|(id, _)| id.tab == tab);
        let mut children = here.flat_map(|(_, debuggee)| debuggee.children.values());
        let is_below = |session: &CdpSessionId| {
            let place = self.sessions.get(session).and_then(VirtualSession::debuggee);
            place.is_some_and(|place| place.tab == tab && place.child.is_some())
        };
        let is_open = |pending: &Pending| match &pending.asker {
            Asker::Hub { session: Some(session), .. } => is_below(session),
            Asker::Hub { session: None, .. } | Asker::Nobody => false,
        };
        children.any(|child| !child.newcomers.is_empty()) || self.pending.values().any(is_open)
    }

    fn find_child(&mut self, place: &DebuggeeId) -> Option<&mut Child> {
        let real = place.child.as_ref()?;
        self.debuggees
            .iter_mut()
            .filter(|(id, _)| id.tab == place.tab)
            .find_map(|(_, debuggee)| debuggee.children.get_mut(real))
    }
}
