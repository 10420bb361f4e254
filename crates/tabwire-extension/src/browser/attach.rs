//! Attaching the debugger to a tab: replays the setup of its sessions, waits until their clients know the frames and
//! child targets, then runs the queued commands.

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ErrorCode};
use tabwire_cdp::ProtocolError;

use crate::browser::EmulatedBrowser;
use crate::browser::page_command::{Command, QueuedCommand};
use crate::browser::pending::{OnResponse, PendingRequest, Requester};

use crate::link::message::{ChromeTab, ExtensionError, TabParams};
use crate::session::setup_replay::SetupCommand;
use crate::session::virtual_session::VirtualSession;
use crate::target::debuggee::DebuggeeId;
use crate::target::tab::{Tab, TabState};

/// How often a tab that was just attached is polled while clients attach to its child targets, one round trip each. The
/// queued commands run after the last poll in any case.
const CHILD_SETUP_POLLS: u32 = 40;

/// The reason in `chrome.debugger.onDetach` for a closed tab, and for a page that Chrome lets no debugger into.
const TARGET_CLOSED: &str = "target_closed";

impl EmulatedBrowser {
    pub(super) fn attach_tab(&mut self, tab: ChromeTab) {
        self.attaches += 1;
        self.request("attach", TabParams { tab }, PendingRequest::internal(OnResponse::Attach(tab)));
    }

    /// The debugger is attached: replays the setup in order. Queued commands run after all of it has taken effect: a
    /// navigation among them would otherwise start before the setup is in place.
    pub(super) fn tab_attached(&mut self, tab: ChromeTab, response: &str) {
        let debuggee_id = DebuggeeId::page(tab);
        if self.tabs.get(&tab).is_none_or(Tab::is_detached) {
            // The sessions that wanted it have ended.
            return self.request(
                "detach",
                TabParams { tab },
                PendingRequest::internal(OnResponse::Acknowledge),
            );
        }
        self.debuggees.insert(debuggee_id.clone());
        let tree = tabwire_cdp::lenient_json::read(response.as_bytes());
        // The page may have navigated since its last tab event.
        self.update_main_frame(tab, tree.pointer("/frameTree/frame"));
        let mut has_setup = false;
        for session in self.sessions.on(&debuggee_id) {
            has_setup |= self.replay_setup(&debuggee_id, &session, tree.get("frameTree"));
        }
        let early_events = self.tabs.get_mut(&tab).map(|tab| std::mem::take(&mut tab.early_events));
        for (method, params) in early_events.into_iter().flatten() {
            self.page_event(&debuggee_id, &method, &params);
        }
        if has_setup {
            self.settle(&debuggee_id, OnResponse::SetupApplied(tab));
        } else {
            self.run_queued(tab);
        }
    }

    /// The setup is in force, and the response has the frame tree. Creates the isolated worlds in child frames and waits
    /// for clients to attach to child targets, as they do when they connect to a real browser.
    pub(super) fn setup_applied(&mut self, tab: ChromeTab, response: &str) {
        if self.tabs.get(&tab).is_none_or(|entry| !matches!(entry.state, TabState::Attaching { .. })) {
            // The debugger was detached meanwhile.
            return;
        }
        // `Page.createIsolatedWorld` was recorded for the main frame; clients expect the world in every frame.
        let has_new_worlds = self.create_worlds_in_child_frames(tab, response);
        let has_children = self.debuggees.children_in(tab).next().is_some();
        if has_new_worlds || has_children {
            self.poll_child_setup(tab, CHILD_SETUP_POLLS);
        } else {
            self.run_queued(tab);
        }
    }

    /// All events up to the poll have arrived. A client that attached to a frame meanwhile may get child targets of that
    /// frame, so setup is complete only when two polls in a row find nothing pending.
    pub(super) fn child_setup_polled(&mut self, tab: ChromeTab, polls_left: u32, was_done: bool) {
        if polls_left == 0 || (was_done && !self.is_child_setup_pending(tab)) {
            self.run_queued(tab);
        } else {
            self.poll_child_setup(tab, polls_left - 1);
        }
    }

    fn poll_child_setup(&mut self, tab: ChromeTab, polls_left: u32) {
        let was_done = !self.is_child_setup_pending(tab);
        self.settle(&DebuggeeId::page(tab), OnResponse::ChildSetupPolled { tab, polls_left, was_done });
    }

    /// Marks the tab as attached and runs its queued commands.
    pub(super) fn run_queued(&mut self, tab: ChromeTab) {
        let Some(entry) = self.tabs.get_mut(&tab) else { return };
        let waiting = match std::mem::replace(&mut entry.state, TabState::Attached) {
            TabState::Attaching { waiting } => waiting,
            state @ (TabState::Detached | TabState::Attached) => {
                // The debugger was detached meanwhile.
                entry.state = state;
                return;
            }
        };
        let unwanted = waiting.is_empty();
        for one in waiting {
            self.execute(&DebuggeeId::page(tab), one);
        }
        if unwanted {
            // The requesting session has ended meanwhile.
            self.detach_if_unused(tab);
        }
    }

    /// The extension lost the debugger and attached it again: sessions see a new document.
    pub(super) fn tab_reattached(&mut self, tab: ChromeTab, response: &str) {
        let Some(entry) = self.tabs.get_mut(&tab).filter(|entry| !entry.is_detached()) else {
            // No session uses it.
            return self.request(
                "detach",
                TabParams { tab },
                PendingRequest::internal(OnResponse::Acknowledge),
            );
        };
        self.attaches += 1;
        let waiting = match std::mem::replace(&mut entry.state, TabState::Detached) {
            TabState::Attaching { waiting } => waiting,
            TabState::Detached | TabState::Attached => Vec::new(),
        };
        self.reset_sessions(tab);
        self.debuggees.remove_tab(tab);
        if let Some(entry) = self.tabs.get_mut(&tab) {
            entry.state = TabState::Attaching { waiting };
        }
        self.tab_attached(tab, response);
    }

    /// Replays the setup of a session; says whether there was any.
    fn replay_setup(
        &mut self,
        debuggee_id: &DebuggeeId,
        session: &CdpSessionId,
        tree: Option<&Value>,
    ) -> bool {
        let Some(entry) = self.sessions.get_mut(session) else { return false };
        // The synthetic tree had only the main frame; the client receives events for the others.
        let has_synthetic_tree = std::mem::take(&mut entry.has_synthetic_tree);
        let has_setup = !entry.setup_replay.entries().is_empty();
        if has_synthetic_tree {
            self.send_child_frames(session, tree);
        }
        let Some(entry) = self.sessions.get(session) else { return false };
        for SetupCommand { command, script, world, .. } in entry.setup_replay.entries().to_vec() {
            let on_response = match (&script, &world) {
                (Some(given), _) => {
                    let (session, debuggee_id) = (session.clone(), debuggee_id.clone());
                    OnResponse::AddScript { session, debuggee_id, given: given.clone() }
                }
                (None, Some(name)) => self.recreate_world(debuggee_id, session, name),
                (None, None) => OnResponse::Forward,
            };
            let waiting = QueuedCommand {
                session: Some(session.clone()),
                command: command.clone(),
                requester: Requester::Internal,
                on_response,
            };
            self.execute(debuggee_id, waiting);
        }
        has_setup
    }

    /// Creates isolated worlds in child frames. Clients create theirs in every frame they know, and they knew the main
    /// frame only. Chrome ignores a world that exists. Says whether there were any to create.
    fn create_worlds_in_child_frames(&mut self, tab: ChromeTab, response: &str) -> bool {
        let tree = tabwire_cdp::lenient_json::read(response.as_bytes());
        let mut below = Vec::new();
        let mut open: Vec<&Value> = tree.get("frameTree").into_iter().collect();
        while let Some(tree) = open.pop() {
            for child in tree.get("childFrames").and_then(Value::as_array).into_iter().flatten() {
                below.extend(child.pointer("/frame/id").and_then(Value::as_str).map(str::to_owned));
                open.push(child);
            }
        }
        let debuggee_id = DebuggeeId::page(tab);
        let mut is_any = false;
        for session in self.sessions.on(&debuggee_id) {
            let Some(entry) = self.sessions.get(&session) else { continue };
            for setup in entry.setup_replay.entries().to_vec().iter().filter(|setup| setup.world.is_some()) {
                for frame in &below {
                    let mut params = setup.command.read_params().unwrap_or_default();
                    if let Some(members) = params.as_object_mut() {
                        members.insert("frameId".to_owned(), Value::from(frame.as_str()));
                    }
                    let command = Command::new(&setup.command.method, &params.to_string());
                    self.forward_internal(&debuggee_id, &command);
                    is_any = true;
                }
            }
        }
        is_any
    }

    fn recreate_world(&mut self, debuggee_id: &DebuggeeId, session: &CdpSessionId, name: &str) -> OnResponse {
        let target = self.tabs.get(&debuggee_id.tab).map(|tab| tab.description.target.clone());
        let (Some(target), Some(entry)) = (target, self.sessions.get_mut(session)) else {
            return OnResponse::Forward;
        };
        let number = entry.contexts.get_or_create(&mut self.last_context, &target, Some(name));
        OnResponse::CreateWorld { session: session.clone(), number }
    }

    /// Updates the URL from the real frame tree and reports the navigation to sessions that got a synthetic tree.
    fn update_main_frame(&mut self, tab: ChromeTab, frame: Option<&Value>) {
        let debuggee_id = DebuggeeId::page(tab);
        let Some(frame) = frame else { return };
        let reported = self.tabs.get(&tab).map(|tab| tab.description.url.clone());
        let text = |name: &str| frame.get(name).and_then(Value::as_str).unwrap_or_default();
        // CDP gives a frame its URL without the fragment, which is a field of its own.
        let url = format!("{}{}", text("url"), text("urlFragment"));
        if url.is_empty() || reported.as_deref() == Some(url.as_str()) {
            return;
        }
        if let Some(tab) = self.tabs.get_mut(&tab) {
            tab.description.url = url;
        }
        self.notify_tab_changed(tab);
        let params = json!({"frame": frame, "type": "Navigation"}).to_string();
        for session in self.sessions.on(&debuggee_id) {
            let is_outdated =
                |entry: &&VirtualSession| entry.has_synthetic_tree && entry.domains.contains("Page");
            if self.sessions.get(&session).as_ref().is_some_and(is_outdated) {
                self.send_event(Some(&session), "Page.frameNavigated", &params);
            }
        }
    }

    /// Reports child frames to a session that got the main frame only, before their contexts are reported.
    fn send_child_frames(&mut self, session: &CdpSessionId, tree: Option<&Value>) {
        let mut open: Vec<&Value> = tree.into_iter().collect();
        while let Some(tree) = open.pop() {
            for below in tree.get("childFrames").and_then(Value::as_array).into_iter().flatten() {
                let frame = below.get("frame").cloned().unwrap_or_default();
                let (id, parent) = (frame.get("id").cloned(), frame.get("parentId").cloned());
                let attached = json!({"frameId": id, "parentFrameId": parent}).to_string();
                // Playwright ignores a context of a frame that it has not been notified of.
                self.send_event(Some(session), "Page.frameAttached", &attached);
                let navigated = json!({"frame": frame, "type": "Navigation"}).to_string();
                self.send_event(Some(session), "Page.frameNavigated", &navigated);
                open.push(below);
            }
        }
    }

    /// Attaching failed: fails the queued commands. The next command tries again.
    pub(super) fn tab_attach_failed(&mut self, tab: ChromeTab, failure: ExtensionError) {
        let Some(entry) = self.tabs.get_mut(&tab) else { return };
        let error = ProtocolError::from(failure);
        if let TabState::Attaching { waiting } = std::mem::replace(&mut entry.state, TabState::Detached) {
            for one in waiting {
                self.fail(&one.requester, &error);
            }
        }
    }

    /// Completes unfinished input to a tab that is gone. The input closed the tab, or reached it before it closed.
    pub(super) fn complete_input(&mut self, tab: ChromeTab) {
        for requester in self.pending.take_input_requesters(tab) {
            self.succeed(&requester, "{}");
        }
    }

    /// The debugger was detached, by the user or by Chrome, or was lost. Ends the sessions that used it.
    pub(super) fn tab_detached(&mut self, tab: ChromeTab, reason: &str) {
        if reason == TARGET_CLOSED {
            self.complete_input(tab);
        }
        let Some(entry) = self.tabs.get_mut(&tab) else { return };
        let state = std::mem::replace(&mut entry.state, TabState::Detached);
        if let TabState::Attaching { waiting } = state {
            let message = format!("The debugger was detached from this tab ({reason}).");
            let error = ProtocolError::tabwire(ErrorCode::Detached, message);
            for one in waiting {
                self.fail(&one.requester, &error);
            }
        }
        self.end_tab_sessions(tab, |session| session.used);
        self.reset_sessions(tab);
        self.debuggees.remove_tab(tab);
    }

    /// Detaches the debugger from a tab that no session uses.
    pub(super) fn detach_if_unused(&mut self, tab: ChromeTab) {
        let used = self.sessions.uses_tab(tab);
        let Some(entry) = self.tabs.get_mut(&tab).filter(|entry| entry.is_attached() && !used) else {
            return;
        };
        entry.state = TabState::Detached;
        self.reset_sessions(tab);
        self.debuggees.remove_tab(tab);
        self.request("detach", TabParams { tab }, PendingRequest::internal(OnResponse::Acknowledge));
    }
}
