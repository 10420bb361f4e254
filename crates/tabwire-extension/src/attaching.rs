//! Putting the debugger on a tab, and everything that waited for it.

use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, ErrorCode};

use crate::debuggee::{Debuggee, DebuggeeId};
use crate::emulated_browser::EmulatedBrowser;
use crate::journal::Kept;
use crate::limits::TAKING_UP_LOOKS;
use crate::link_message::{ChromeTab, LinkFailure, WithTab};
use crate::page_command::{Command, Waiting};
use crate::pending::{Asker, Pending, Task};
use crate::reply::ProtocolError;
use crate::tab::{Tab, TabState};
use crate::virtual_session::VirtualSession;

/// Chrome's word for a tab that was closed, or whose page Chrome lets no debugger into.
const TARGET_CLOSED: &str = "target_closed";

impl EmulatedBrowser {
    pub(crate) fn attach_tab(&mut self, tab: ChromeTab) {
        self.attaches += 1;
        self.ask("attach", WithTab { tab }, Pending { asker: Asker::Nobody, task: Task::Attach(tab) });
    }

    /// The debugger is on: what was kept is asked for first, in order. What waits comes after all of it is answered: a
    /// page that goes elsewhere meanwhile would be told of it too late.
    pub(crate) fn tab_attached(&mut self, tab: ChromeTab, answer: &str) {
        let place = DebuggeeId { tab, child: None };
        if self.tabs.get(&tab).is_none_or(Tab::is_idle) {
            // Nobody waits for it any more.
            return self.ask("detach", WithTab { tab }, Pending { asker: Asker::Nobody, task: Task::Done });
        }
        self.debuggees.insert(place.clone(), Debuggee::default());
        let tree = tabwire_cdp::lenient_json::read(answer.as_bytes());
        self.note_main_frame(tab, tree.pointer("/frameTree/frame"));
        let mut is_set_up = false;
        for session in self.sessions_on(&place) {
            is_set_up |= self.set_up_again(&place, &session, tree.get("frameTree"));
        }
        let early = self.tabs.get_mut(&tab).map(|tab| std::mem::take(&mut tab.early));
        for (method, params) in early.into_iter().flatten() {
            self.page_event(&place, &method, &params);
        }
        if is_set_up {
            self.settle(&place, Task::SetUp(tab));
        } else {
            self.begin_work(tab);
        }
    }

    /// All that was kept is in force, and these are the frames now. Clients make their worlds in them, and take up
    /// those that have a process of their own, as they would have done when they connected.
    pub(crate) fn tab_set_up(&mut self, tab: ChromeTab, answer: &str) {
        if self.tabs.get(&tab).is_none_or(|entry| !matches!(entry.state, TabState::Attaching { .. })) {
            // The debugger went off again meanwhile.
            return;
        }
        let is_more_to_tell = self.make_worlds_below(tab, answer);
        let has_children =
            self.debuggees.iter().any(|(place, entry)| place.tab == tab && !entry.children.is_empty());
        if is_more_to_tell || has_children {
            self.look_again(tab, TAKING_UP_LOOKS);
        } else {
            self.begin_work(tab);
        }
    }

    /// All that was in a tab when this was asked is told. Somebody who took up a frame meanwhile may be told of frames
    /// in it, so it is over only when that changed nothing.
    pub(crate) fn tab_taken_up(&mut self, tab: ChromeTab, looks: u32, was_quiet: bool) {
        if looks == 0 || (was_quiet && !self.is_being_taken_up(tab)) {
            self.begin_work(tab);
        } else {
            self.look_again(tab, looks - 1);
        }
    }

    fn look_again(&mut self, tab: ChromeTab, looks: u32) {
        let was_quiet = !self.is_being_taken_up(tab);
        self.settle(&DebuggeeId { tab, child: None }, Task::TakenUp { tab, looks, was_quiet });
    }

    /// What waits for a tab is carried out.
    pub(crate) fn begin_work(&mut self, tab: ChromeTab) {
        let Some(entry) = self.tabs.get_mut(&tab) else { return };
        let waiting = match std::mem::replace(&mut entry.state, TabState::Attached) {
            TabState::Attaching { waiting } => waiting,
            state @ (TabState::Idle | TabState::Attached) => {
                // The debugger went off again meanwhile.
                entry.state = state;
                return;
            }
        };
        let unwanted = waiting.is_empty();
        for one in waiting {
            self.carry_out(&DebuggeeId { tab, child: None }, one);
        }
        if unwanted {
            // Whoever it was for has left meanwhile.
            self.let_go_if_unused(tab);
        }
    }

    /// The debugger was off for a moment and is on again: to the sessions their page has begun anew.
    pub(crate) fn tab_attached_again(&mut self, tab: ChromeTab, answer: &str) {
        let Some(entry) = self.tabs.get_mut(&tab).filter(|entry| !entry.is_idle()) else {
            // Nobody uses it.
            return self.ask("detach", WithTab { tab }, Pending { asker: Asker::Nobody, task: Task::Done });
        };
        self.attaches += 1;
        let waiting = match std::mem::replace(&mut entry.state, TabState::Idle) {
            TabState::Attaching { waiting } => waiting,
            TabState::Idle | TabState::Attached => Vec::new(),
        };
        self.rest_sessions(tab);
        self.debuggees.retain(|place, _| place.tab != tab);
        if let Some(entry) = self.tabs.get_mut(&tab) {
            entry.state = TabState::Attaching { waiting };
        }
        self.tab_attached(tab, answer);
    }

    /// Sets up what a session had set up before the debugger was on; says whether there was anything.
    fn set_up_again(&mut self, place: &DebuggeeId, session: &CdpSessionId, tree: Option<&Value>) -> bool {
        let Some(entry) = self.sessions.get_mut(session) else { return false };
        let told_tree = std::mem::take(&mut entry.told_tree);
        let has_journal = !entry.journal.entries().is_empty();
        if told_tree {
            self.tell_frames(session, tree);
        }
        let Some(entry) = self.sessions.get(session) else { return false };
        for Kept { command, script, world, .. } in entry.journal.entries().to_vec() {
            let task = match (&script, &world) {
                (Some(given), _) => {
                    let (session, place) = (session.clone(), place.clone());
                    Task::AddScript { session, place, given: given.clone() }
                }
                (None, Some(name)) => self.remake_world(place, session, name),
                (None, None) => Task::Pass,
            };
            let waiting = Waiting {
                session: Some(session.clone()),
                command: command.clone(),
                asker: Asker::Nobody,
                task,
            };
            self.carry_out(place, waiting);
        }
        has_journal
    }

    /// Clients make their worlds in every frame that they know, and knew of the main frame only. One that is there
    /// already is not made again. Says whether there were any to make.
    fn make_worlds_below(&mut self, tab: ChromeTab, answer: &str) -> bool {
        let tree = tabwire_cdp::lenient_json::read(answer.as_bytes());
        let mut below = Vec::new();
        let mut open: Vec<&Value> = tree.get("frameTree").into_iter().collect();
        while let Some(tree) = open.pop() {
            for child in tree.get("childFrames").and_then(Value::as_array).into_iter().flatten() {
                below.extend(child.pointer("/frame/id").and_then(Value::as_str).map(str::to_owned));
                open.push(child);
            }
        }
        let place = DebuggeeId { tab, child: None };
        let mut is_any = false;
        for session in self.sessions_on(&place) {
            let Some(entry) = self.sessions.get(&session) else { continue };
            for kept in entry.journal.entries().to_vec().iter().filter(|kept| kept.world.is_some()) {
                for frame in &below {
                    let mut params = kept.command.read_params().unwrap_or_default();
                    if let Some(members) = params.as_object_mut() {
                        members.insert("frameId".to_owned(), Value::from(frame.as_str()));
                    }
                    let command = Command::new(&kept.command.method, &params.to_string());
                    self.pass_on(&place, &command, Asker::Nobody, Task::Pass);
                    is_any = true;
                }
            }
        }
        is_any
    }

    fn remake_world(&mut self, place: &DebuggeeId, session: &CdpSessionId, name: &str) -> Task {
        let target = self.tabs.get(&place.tab).map(|tab| tab.description.target.clone());
        let (Some(target), Some(entry)) = (target, self.sessions.get_mut(session)) else {
            return Task::Pass;
        };
        let number = entry.worlds.make(&mut self.next_world, &target, Some(name));
        Task::MakeWorld { session: session.clone(), number }
    }

    /// The page may be elsewhere than its tab said last: who was told of it is told anew.
    fn note_main_frame(&mut self, tab: ChromeTab, frame: Option<&Value>) {
        let place = DebuggeeId { tab, child: None };
        let Some(frame) = frame else { return };
        let told = self.tabs.get(&tab).map(|tab| tab.description.url.clone());
        let text = |name: &str| frame.get(name).and_then(Value::as_str).unwrap_or_default();
        let address = format!("{}{}", text("url"), text("urlFragment"));
        if address.is_empty() || told.as_deref() == Some(address.as_str()) {
            return;
        }
        if let Some(tab) = self.tabs.get_mut(&tab) {
            tab.description.url = address;
        }
        self.tell_tab_changed(tab);
        let params = json!({"frame": frame, "type": "Navigation"}).to_string();
        for session in self.sessions_on(&place) {
            let misled = |entry: &&VirtualSession| entry.told_tree && entry.domains.contains("Page");
            if self.sessions.get(&session).as_ref().is_some_and(misled) {
                self.tell(Some(&session), "Page.frameNavigated", &params);
            }
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

    /// A tab is gone. Input that it was given and did not answer is what ended it, or came to its end: it was given.
    pub(crate) fn input_was_given(&mut self, tab: ChromeTab) {
        let is_it = |pending: &&mut Pending| matches!(pending.task, Task::Input(given) if given == tab);
        let askers = self.pending.values_mut().filter(is_it);
        let askers: Vec<Asker> =
            askers.map(|pending| std::mem::replace(&mut pending.asker, Asker::Nobody)).collect();
        for asker in askers {
            self.succeed(&asker, "{}");
        }
    }

    /// The debugger is off: by the user, by the browser, or lost. Who used it is told that the session ended.
    pub(crate) fn tab_detached(&mut self, tab: ChromeTab, reason: &str) {
        if reason == TARGET_CLOSED {
            self.input_was_given(tab);
        }
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
        self.rest_sessions(tab);
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
        self.rest_sessions(tab);
        self.debuggees.retain(|place, _| place.tab != tab);
        self.ask("detach", WithTab { tab }, Pending { asker: Asker::Nobody, task: Task::Done });
    }
}
