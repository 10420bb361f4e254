//! The emulated browser: its state, and the doors through which frames and messages come in.

use std::collections::BTreeMap;

use bytes::BytesMut;
use serde::Serialize;
use serde_json::{Value, json};
use tabwire_cdp::envelope::{PeekError, peek_client_frame};
use tabwire_cdp::lenient_json;
use tabwire_wire::{CdpSessionId, ErrorCode};

use crate::debuggee::{Debuggee, DebuggeeId};
use crate::link_message::{
    BrowserFacts, ChromeTab, Incoming, LinkFailure, Outgoing, Present, TabDescription, WithTab,
};
use crate::page_command::Command;
use crate::pending::{Asker, Pending, Task};
use crate::reply::{self, ProtocolError};
use crate::tab::{Tab, TabState};
use crate::tab_target::page_in;
use crate::virtual_session::{Discovery, Place, VirtualSession};

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A frame for the hub.
    ToHub(BytesMut),
    /// A message for the extension.
    ToExtension(String),
}

/// What is held now; without sessions all but the tabs is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Tabs that are known.
    pub tabs: usize,
    /// Tabs that the debugger is on.
    pub attached: usize,
    /// Cdp sessions on tabs and what is in them.
    pub sessions: usize,
    /// Commands that the extension has not answered.
    pub pending: usize,
    /// How often the debugger was put on a tab so far.
    pub attaches: u64,
    /// Events that the extension left out because the line was full.
    pub left_out: u64,
}

/// One browser behind one extension, as the hub above takes it for.
#[derive(Debug)]
pub struct EmulatedBrowser {
    pub(crate) facts: BrowserFacts,
    /// In the names of cdp sessions, so that those of two browsers never meet.
    scope: String,
    link: Link,
    pub(crate) pause: Pause,
    pub(crate) tabs: BTreeMap<ChromeTab, Tab>,
    pub(crate) debuggees: BTreeMap<DebuggeeId, Debuggee>,
    /// Ordered by their making.
    pub(crate) sessions: BTreeMap<CdpSessionId, VirtualSession>,
    pub(crate) pending: BTreeMap<u64, Pending>,
    /// Downloads under way: in which tab, and from where.
    pub(crate) downloads: BTreeMap<String, (ChromeTab, String)>,
    next_session: u64,
    next_command: u64,
    pub(crate) next_script: u64,
    pub(crate) next_world: i64,
    pub(crate) attaches: u64,
    left_out: u64,
    outbox: Vec<Output>,
}

/// Whether the user has paused everything, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    No,
    On(String),
    /// It goes on, and the tabs were told of; nobody has asked anything since, so that it may not be known yet.
    Over(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Up,
    Down,
}

impl EmulatedBrowser {
    /// A browser as its extension has just told of it. What an earlier daemon left attached is let go.
    #[must_use]
    pub fn new(scope: &str, facts: BrowserFacts, present: &Present) -> Self {
        let mut browser = Self {
            facts,
            scope: scope.to_owned(),
            link: Link::Up,
            pause: Pause::No,
            tabs: BTreeMap::new(),
            debuggees: BTreeMap::new(),
            sessions: BTreeMap::new(),
            pending: BTreeMap::new(),
            downloads: BTreeMap::new(),
            next_session: 0,
            next_command: 0,
            next_script: 0,
            next_world: 0,
            attaches: 0,
            left_out: 0,
            outbox: Vec::new(),
        };
        browser.reconcile(present.clone());
        browser
    }

    /// Takes what is to be done, in order.
    pub fn take_outputs(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outbox)
    }

    /// What is held now.
    #[must_use]
    pub fn holdings(&self) -> Holdings {
        Holdings {
            tabs: self.tabs.len(),
            attached: self.tabs.values().filter(|tab| tab.is_attached()).count(),
            sessions: self.sessions.values().filter(|session| session.debuggee().is_some()).count(),
            pending: self.pending.len(),
            attaches: self.attaches,
            left_out: self.left_out,
        }
    }

    /// Takes a frame that the hub wrote to its browser.
    pub fn from_hub(&mut self, frame: &[u8]) {
        let envelope = match peek_client_frame(frame) {
            Ok(envelope) => envelope,
            Err(PeekError::NoMethod { id }) => {
                let asker = Asker::Hub { session: None, id };
                return self.fail(&asker, &ProtocolError::bad_params("there is no method"));
            }
            Err(_) => return,
        };
        let session = envelope.session.map(CdpSessionId::new);
        let asker = Asker::Hub { session: session.clone(), id: envelope.id };
        let params = envelope.params.map_or("{}", |params| params.get());
        let command = Command { method: envelope.method.to_owned(), params: params.to_owned() };
        let Some(session) = session else { return self.browser_command(None, &command, asker) };
        let Some(place) = self.sessions.get(&session).map(|found| found.place.clone()) else {
            return self.fail(&asker, &ProtocolError::no_session());
        };
        match place {
            Place::Browser { .. } => self.browser_command(Some(&session), &command, asker),
            Place::Tab(tab) => self.tab_command(tab, &session, &command, asker),
            Place::Page(place) => self.page_command(place, &session, command, asker),
        }
    }

    /// Takes a message of the extension's.
    pub fn from_extension(&mut self, frame: &[u8]) {
        let Ok(incoming) = serde_json::from_slice::<Incoming<'_>>(frame) else { return };
        match (incoming.id, incoming.event.as_deref()) {
            (Some(id), _) => {
                let Some(pending) = self.pending.remove(&id) else { return };
                let answer = match (incoming.ok, incoming.failed) {
                    (Some(ok), _) => Ok(ok.get()),
                    (None, Some(failed)) => Err(failed),
                    (None, None) => Err(unreadable()),
                };
                self.answered(pending, answer);
            }
            (None, Some("cdp")) => {
                if let (Some(tab), Some(method)) = (incoming.tab, incoming.method) {
                    let params = incoming.params.map_or("{}", |params| params.get());
                    self.page_event(&DebuggeeId { tab, child: incoming.session }, &method, params);
                }
            }
            (None, Some(event)) => {
                if let Some(with) = incoming.with {
                    self.browser_event(event, with.get());
                }
            }
            (None, None) => {}
        }
    }

    fn browser_event(&mut self, event: &str, with: &str) {
        #[derive(serde::Deserialize)]
        struct AboutTab {
            tab: ChromeTab,
            reason: Option<String>,
        }
        match event {
            "present" => {
                if let Ok(present) = lenient_json::read_as(with.as_bytes()) {
                    self.reconcile(present);
                }
            }
            "tab" => {
                if let Ok(tab) = lenient_json::read_as(with.as_bytes()) {
                    self.tab_seen(tab);
                }
            }
            "tab_gone" => {
                if let Ok(AboutTab { tab, .. }) = serde_json::from_str(with) {
                    self.tab_gone(tab);
                }
            }
            "pulse" => {
                let told = lenient_json::read(with.as_bytes());
                self.left_out = told.get("left_out").and_then(Value::as_u64).unwrap_or(self.left_out);
            }
            "attached_again" => {
                if let Ok(AboutTab { tab, .. }) = serde_json::from_str(with) {
                    self.tab_attached_again(tab, with);
                }
            }
            "detached" => {
                if let Ok(AboutTab { tab, reason }) = serde_json::from_str(with) {
                    self.tab_detached(tab, reason.as_deref().unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    /// The line to the extension broke: what was asked on it has an unknown outcome.
    pub fn link_lost(&mut self) {
        self.link = Link::Down;
        for pending in std::mem::take(&mut self.pending).into_values() {
            let message = "The line to the browser's extension broke before it answered.";
            self.answered(pending, Err(failure(ErrorCode::OutcomeUnknown, message)));
        }
    }

    /// The extension is back and told how its browser stands. Attachments outlive its worker, and so do sessions.
    pub fn link_restored(&mut self, present: &Present) {
        self.link = Link::Up;
        self.reconcile(present.clone());
    }

    /// Nobody uses the browser any more: every session ends unheard, and the debugger goes off every tab.
    pub fn hub_left(&mut self) {
        self.sessions.clear();
        self.downloads.clear();
        for pending in self.pending.values_mut() {
            pending.asker = Asker::Nobody;
        }
        for tab in self.tabs.values_mut() {
            if let TabState::Attaching { waiting } = &mut tab.state {
                waiting.clear();
            }
        }
        for tab in self.tabs.keys().copied().collect::<Vec<_>>() {
            self.let_go_if_unused(tab);
        }
        self.outbox.retain(|output| matches!(output, Output::ToExtension(_)));
    }

    /// Brings what is known in line with what the extension says is there.
    fn reconcile(&mut self, present: Present) {
        self.pause = match (present.paused, std::mem::replace(&mut self.pause, Pause::No)) {
            (true, _) => Pause::On(present.pause.unwrap_or_else(|| PAUSED.to_owned())),
            (false, Pause::On(why) | Pause::Over(why)) => Pause::Over(why),
            (false, Pause::No) => Pause::No,
        };
        let gone: Vec<ChromeTab> = self
            .tabs
            .keys()
            .copied()
            .filter(|known| !present.tabs.iter().any(|tab| tab.tab == *known))
            .collect();
        for tab in gone {
            self.tab_gone(tab);
        }
        for tab in present.tabs {
            self.tab_seen(tab);
        }
        let off = |tab: &&Tab| tab.is_attached() && !present.attached.contains(&tab.description.tab);
        let off: Vec<ChromeTab> = self.tabs.values().filter(off).map(|tab| tab.description.tab).collect();
        for tab in off {
            self.tab_detached(tab, "lost");
        }
        for tab in present.attached {
            if self.tabs.get(&tab).is_none_or(Tab::is_idle) {
                self.ask("detach", WithTab { tab }, Pending { asker: Asker::Nobody, task: Task::Done });
            }
        }
    }

    /// A tab is there, or stands otherwise than before. One that extensions may not enter is none of ours.
    pub(crate) fn tab_seen(&mut self, description: TabDescription) {
        let id = description.tab;
        if description.restricted {
            return self.tab_gone(id);
        }
        match self.tabs.get_mut(&id) {
            Some(tab) if tab.description.target == description.target => {
                if tab.description == description {
                    return;
                }
                let before = std::mem::replace(&mut tab.description, description);
                self.tell_tab_changed(id);
                self.tell_untouched_change(id, &before);
            }
            Some(_) => {
                self.tab_gone(id);
                self.tab_seen(description);
            }
            None => {
                self.tabs.insert(id, Tab::new(description));
                self.announce(id);
            }
        }
    }

    pub(crate) fn tell_tab_changed(&mut self, id: ChromeTab) {
        self.tell_discoverers(id, "Target.targetInfoChanged");
    }

    /// Tells of a new tab those who hear of tabs, and attaches those who want to be attached to all.
    fn announce(&mut self, id: ChromeTab) {
        self.tell_discoverers(id, "Target.targetCreated");
        let wanting: Vec<CdpSessionId> = self
            .sessions
            .iter()
            .filter(|(_, session)| matches!(session.place, Place::Browser { auto_attach: true, .. }))
            .map(|(id, _)| id.clone())
            .collect();
        for parent in wanting {
            self.attach_session(Some(&parent), id);
        }
    }

    /// Tells of a tab and the page in it, in the order that a browser makes them.
    fn tell_discoverers(&mut self, id: ChromeTab, method: &str) {
        let (outer, page) = (self.outer_info(id), self.tab_info(id));
        for (session, discovery) in self.discoverers() {
            let outer = outer.iter().filter(|_| discovery == Discovery::PagesAndTabs);
            for info in outer.chain(page.iter()) {
                self.tell(Some(&session), method, &json!({"targetInfo": info}).to_string());
            }
        }
    }

    /// Tells that a page has crashed, as a browser does beside what the page itself tells.
    pub(crate) fn tell_crashed(&mut self, id: ChromeTab) {
        let Some(target) = self.tabs.get(&id).map(|tab| tab.description.target.clone()) else { return };
        let params = json!({"targetId": target, "status": "crashed", "errorCode": 0}).to_string();
        for (session, _) in self.discoverers() {
            self.tell(Some(&session), "Target.targetCrashed", &params);
        }
    }

    fn discoverers(&self) -> Vec<(CdpSessionId, Discovery)> {
        let told = self.sessions.iter().filter_map(|(id, session)| match session.place {
            Place::Browser { discover, .. } if discover != Discovery::Nothing => Some((id.clone(), discover)),
            _ => None,
        });
        told.collect()
    }

    /// A tab is gone, or not shared any more: everything on it ends.
    pub(crate) fn tab_gone(&mut self, id: ChromeTab) {
        if !self.tabs.contains_key(&id) {
            return;
        }
        self.input_was_given(id);
        self.end_tab_sessions(id, |_| true);
        let Some(mut tab) = self.tabs.remove(&id) else { return };
        if let TabState::Attaching { waiting } = std::mem::replace(&mut tab.state, TabState::Idle) {
            for one in waiting {
                self.fail(&one.asker, &ProtocolError::no_target());
            }
        }
        self.debuggees.retain(|place, _| place.tab != id);
        self.downloads.retain(|_, (place, _)| *place != id);
        for (session, discovery) in self.discoverers() {
            let outer = (discovery == Discovery::PagesAndTabs).then(|| tab.outer_target());
            for target in [Some(tab.description.target.clone()), outer].into_iter().flatten() {
                let params = json!({"targetId": target}).to_string();
                self.tell(Some(&session), "Target.targetDestroyed", &params);
            }
        }
    }

    /// `TargetInfo` of a tab.
    pub(crate) fn tab_info(&self, id: ChromeTab) -> Option<Value> {
        let tab = self.tabs.get(&id)?;
        let attached = self
            .sessions
            .values()
            .any(|session| session.touched && session.debuggee().is_some_and(|place| place.tab == id));
        let opener = tab.description.opener.and_then(|opener| self.tabs.get(&opener));
        Some(tab.info(attached, opener.map(|opener| opener.description.target.as_str())))
    }

    /// The tab with a target, which may be the page's or the tab's own.
    pub(crate) fn find_tab(&self, target: &str) -> Option<&Tab> {
        let target = page_in(target).unwrap_or(target);
        self.tabs.values().find(|tab| tab.description.target == target)
    }

    pub(crate) fn add_session(&mut self, session: VirtualSession) -> CdpSessionId {
        self.next_session += 1;
        let id = CdpSessionId::new(&format!("{}-{:08}", self.scope, self.next_session));
        self.sessions.insert(id.clone(), session);
        id
    }

    /// Asks the extension for something; while it is away, whoever waits is told so at once.
    pub(crate) fn ask(&mut self, name: &str, with: impl Serialize, pending: Pending) {
        if self.link == Link::Down {
            let message = "The browser's extension is not connected.";
            return self.answered(pending, Err(failure(ErrorCode::ExtensionDisconnected, message)));
        }
        self.next_command += 1;
        let id = self.next_command;
        match serde_json::to_string(&Outgoing { id, name, with }) {
            Ok(message) => {
                self.pending.insert(id, pending);
                self.outbox.push(Output::ToExtension(message));
            }
            Err(error) => {
                self.answered(pending, Err(failure(ErrorCode::Internal, &error.to_string())));
            }
        }
    }

    /// Answers with a result that is JSON already.
    pub(crate) fn succeed(&mut self, asker: &Asker, result: &str) {
        if let Asker::Hub { session, id } = asker {
            self.outbox.push(Output::ToHub(reply::raw_result(*id, session.as_ref(), result)));
        }
    }

    pub(crate) fn fail(&mut self, asker: &Asker, error: &ProtocolError) {
        if let Asker::Hub { session, id } = asker {
            self.outbox.push(Output::ToHub(reply::error(*id, session.as_ref(), error)));
        }
    }

    /// Sends an event.
    pub(crate) fn tell(&mut self, session: Option<&CdpSessionId>, method: &str, params: &str) {
        self.outbox.push(Output::ToHub(reply::raw_event(method, session, params)));
    }
}

/// What is told of a pause when the extension does not say why.
const PAUSED: &str = "The user has paused everything in this browser.";

pub(crate) fn failure(code: ErrorCode, message: &str) -> LinkFailure {
    LinkFailure { code: code.as_str().to_owned(), message: message.to_owned(), number: None }
}

fn unreadable() -> LinkFailure {
    failure(ErrorCode::CdpError, "The extension's answer says neither that it was done nor why not.")
}
