//! The emulated browser: turns the hub's CDP frames into requests to one extension, and its messages into CDP frames.

mod attach;
mod browser_command;
mod child_target;
mod download;
mod extension_error;
mod extension_response;
pub(crate) mod page_command;
mod page_event;
pub(crate) mod pending;
mod screenshot;
mod session_end;
mod tab_target;
mod unattached_tab;

use std::collections::BTreeMap;

use bytes::BytesMut;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ErrorCode};
use tabwire_cdp::ProtocolError;
use tabwire_cdp::envelope::{PeekError, peek_client_frame};
use tabwire_cdp::lenient_json;

use crate::browser::download::Downloads;
use crate::browser::page_command::Command;
use crate::browser::pending::{OnResponse, PendingRequest, PendingRequests, Requester};

use crate::browser::tab_target::page_target_of;
use crate::link::message::{
    BrowserInfo, BrowserState, ChromeTab, ExtensionError, Incoming, Outgoing, TabDescription, TabParams,
};
use crate::session::table::SessionTable;
use crate::session::virtual_session::{Discovery, SessionTarget};
use crate::target::debuggee::{DebuggeeId, DebuggeeTable};
use crate::target::tab::{Tab, TabState};

/// A message that the caller has to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A CDP frame for the hub.
    ToHub(BytesMut),
    /// A JSON message for the extension.
    ToExtension(String),
}

/// Counts for diagnostics. `attached`, `sessions` and `pending` are 0 without sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BrowserStats {
    /// Known tabs.
    pub tabs: usize,
    /// Tabs with the debugger attached.
    pub attached: usize,
    /// CDP sessions on pages and child targets.
    pub sessions: usize,
    /// Requests to the extension without a response.
    pub pending: usize,
    /// How often the debugger was attached to a tab.
    pub attaches: u64,
    /// Events that the extension dropped because the connection was full.
    pub dropped_events: u64,
    /// Whether the extension is disconnected. Chrome may only have suspended it.
    pub is_away: bool,
}

/// One browser behind one extension.
#[derive(Debug)]
pub struct EmulatedBrowser {
    info: BrowserInfo,
    link: Link,
    pause: Pause,
    tabs: BTreeMap<ChromeTab, Tab>,
    debuggees: DebuggeeTable,
    sessions: SessionTable,
    pending: PendingRequests,
    downloads: Downloads,
    last_script: u64,
    last_context: i64,
    attaches: u64,
    dropped_events: u64,
    outputs: Vec<Output>,
}

/// Whether the user has paused all automation, with the message for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pause {
    No,
    On(String),
    /// The pause is over, but the control session has not sent a command since and may not know the tabs yet.
    Over(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Up,
    Down,
}

impl EmulatedBrowser {
    /// Builds the browser from the extension's first state. Detaches tabs that an earlier daemon left attached.
    #[must_use]
    pub fn new(scope: &str, info: BrowserInfo, state: &BrowserState) -> Self {
        let mut browser = Self {
            info,
            link: Link::Up,
            pause: Pause::No,
            tabs: BTreeMap::new(),
            debuggees: DebuggeeTable::default(),
            sessions: SessionTable::new(scope),
            pending: PendingRequests::default(),
            downloads: Downloads::default(),
            last_script: 0,
            last_context: 0,
            attaches: 0,
            dropped_events: 0,
            outputs: Vec::new(),
        };
        browser.reconcile(state.clone());
        browser
    }

    /// Takes the messages to send, in order.
    pub fn take_outputs(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outputs)
    }

    /// Current counts.
    #[must_use]
    pub fn stats(&self) -> BrowserStats {
        BrowserStats {
            tabs: self.tabs.len(),
            attached: self.tabs.values().filter(|tab| tab.is_attached()).count(),
            sessions: self.sessions.page_session_count(),
            pending: self.pending.len(),
            attaches: self.attaches,
            dropped_events: self.dropped_events,
            is_away: self.link == Link::Down,
        }
    }

    /// Handles a CDP frame of the hub.
    pub fn from_hub(&mut self, frame: &[u8]) {
        let envelope = match peek_client_frame(frame) {
            Ok(envelope) => envelope,
            Err(PeekError::NoMethod { id }) => {
                let requester = Requester::Hub { session: None, id };
                return self.fail(&requester, &ProtocolError::invalid_params("there is no method"));
            }
            Err(_) => return,
        };
        let session = envelope.session.map(CdpSessionId::new);
        let requester = Requester::Hub { session: session.clone(), id: envelope.id };
        let params = envelope.params.map_or("{}", |params| params.get());
        let command = Command { method: envelope.method.to_owned(), params: params.to_owned() };
        let Some(session) = session else { return self.browser_command(None, &command, requester) };
        let Some(target) = self.sessions.get(&session).map(|found| found.target.clone()) else {
            return self.fail(&requester, &ProtocolError::no_session());
        };
        match target {
            SessionTarget::Browser { .. } => self.browser_command(Some(&session), &command, requester),
            SessionTarget::Tab(tab) => self.tab_command(tab, &session, &command, requester),
            SessionTarget::Page(debuggee_id) => self.page_command(debuggee_id, &session, command, requester),
        }
    }

    /// Handles a message of the extension.
    pub fn from_extension(&mut self, frame: &[u8]) {
        let Ok(incoming) = serde_json::from_slice::<Incoming<'_>>(frame) else { return };
        match (incoming.id, incoming.event.as_deref()) {
            (Some(id), _) => {
                let Some(pending) = self.pending.take(id) else { return };
                let response = match (incoming.result, incoming.error) {
                    (Some(ok), _) => Ok(ok.get()),
                    (None, Some(failed)) => Err(failed),
                    (None, None) => Err(unreadable()),
                };
                self.handle_response(pending, response);
            }
            (None, Some("cdp")) => {
                if let (Some(tab), Some(method)) = (incoming.tab, incoming.method) {
                    let params = incoming.params.map_or("{}", |params| params.get());
                    self.page_event(&DebuggeeId { tab, child: incoming.session }, &method, params);
                }
            }
            (None, Some(event)) => {
                if let Some(data) = incoming.data {
                    self.browser_event(event, data.get());
                }
            }
            (None, None) => {}
        }
    }

    fn browser_event(&mut self, event: &str, data: &str) {
        #[derive(Deserialize)]
        struct AboutTab {
            tab: ChromeTab,
            reason: Option<String>,
        }
        match event {
            "state" => {
                if let Ok(state) = lenient_json::read_as(data.as_bytes()) {
                    self.reconcile(state);
                }
            }
            "tab" => {
                if let Ok(tab) = lenient_json::read_as(data.as_bytes()) {
                    self.update_tab(tab);
                }
            }
            "tab_removed" => {
                if let Ok(AboutTab { tab, .. }) = serde_json::from_str(data) {
                    self.remove_tab(tab);
                }
            }
            "heartbeat" => {
                let heartbeat = lenient_json::read(data.as_bytes());
                self.dropped_events =
                    heartbeat.get("dropped_events").and_then(Value::as_u64).unwrap_or(self.dropped_events);
            }
            "reattached" => {
                if let Ok(AboutTab { tab, .. }) = serde_json::from_str(data) {
                    self.tab_reattached(tab, data);
                }
            }
            "detached" => {
                if let Ok(AboutTab { tab, reason }) = serde_json::from_str(data) {
                    self.tab_detached(tab, reason.as_deref().unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    /// The connection to the extension broke: pending requests fail with `OUTCOME_UNKNOWN`.
    pub fn extension_disconnected(&mut self) {
        self.link = Link::Down;
        for pending in self.pending.take_all() {
            let message = "The connection to the browser's extension broke before it responded.";
            self.handle_response(pending, Err(failure(ErrorCode::OutcomeUnknown, message)));
        }
    }

    /// The extension reconnected and sent its state. Chrome keeps debuggers attached while the extension's worker sleeps,
    /// so sessions stay alive.
    pub fn extension_reconnected(&mut self, state: &BrowserState) {
        self.link = Link::Up;
        self.reconcile(state.clone());
    }

    /// The hub is gone: ends every session without events, and detaches every tab.
    pub fn hub_disconnected(&mut self) {
        self.sessions.clear();
        self.downloads.clear();
        self.pending.forget_requesters();
        for tab in self.tabs.values_mut() {
            if let TabState::Attaching { waiting } = &mut tab.state {
                waiting.clear();
            }
        }
        for tab in self.tabs.keys().copied().collect::<Vec<_>>() {
            self.detach_if_unused(tab);
        }
        self.outputs.retain(|output| matches!(output, Output::ToExtension(_)));
    }

    /// Applies the state of the extension: pause, tabs, attached debuggers.
    fn reconcile(&mut self, state: BrowserState) {
        self.pause = match (state.paused, std::mem::replace(&mut self.pause, Pause::No)) {
            (true, _) => Pause::On(state.pause.unwrap_or_else(|| PAUSED.to_owned())),
            (false, Pause::On(why) | Pause::Over(why)) => Pause::Over(why),
            (false, Pause::No) => Pause::No,
        };
        let gone: Vec<ChromeTab> = self
            .tabs
            .keys()
            .copied()
            .filter(|known| !state.tabs.iter().any(|tab| tab.tab == *known))
            .collect();
        for tab in gone {
            self.remove_tab(tab);
        }
        for tab in state.tabs {
            self.update_tab(tab);
        }
        let off = |tab: &&Tab| tab.is_attached() && !state.attached.contains(&tab.description.tab);
        let off: Vec<ChromeTab> = self.tabs.values().filter(off).map(|tab| tab.description.tab).collect();
        for tab in off {
            self.tab_detached(tab, "lost");
        }
        for tab in state.attached {
            if self.tabs.get(&tab).is_none_or(Tab::is_detached) {
                self.request("detach", TabParams { tab }, PendingRequest::internal(OnResponse::Acknowledge));
            }
        }
    }

    /// Adds or updates a tab. A restricted tab, which extensions cannot debug, is removed.
    fn update_tab(&mut self, description: TabDescription) {
        let id = description.tab;
        if description.restricted {
            return self.remove_tab(id);
        }
        match self.tabs.get_mut(&id) {
            Some(tab) if tab.description.target == description.target => {
                if tab.description == description {
                    return;
                }
                let before = std::mem::replace(&mut tab.description, description);
                self.notify_tab_changed(id);
                self.notify_unattached_change(id, &before);
            }
            Some(_) => {
                self.remove_tab(id);
                self.update_tab(description);
            }
            None => {
                self.tabs.insert(id, Tab::new(description));
                self.announce(id);
            }
        }
    }

    fn notify_tab_changed(&mut self, id: ChromeTab) {
        self.notify_discoverers(id, "Target.targetInfoChanged");
    }

    /// Reports a new tab to discovering sessions and attaches auto-attaching ones.
    fn announce(&mut self, id: ChromeTab) {
        self.notify_discoverers(id, "Target.targetCreated");
        for parent in self.sessions.auto_attaching() {
            self.attach_session(Some(&parent), id);
        }
    }

    /// Sends an event for the tab target and for the page, in the order in which Chrome creates them.
    fn notify_discoverers(&mut self, id: ChromeTab, method: &str) {
        let (tab_target, page) = (self.tab_target_info(id), self.page_info(id));
        for (session, discovery) in self.sessions.discovering() {
            let tab_target = tab_target.iter().filter(|_| discovery == Discovery::PagesAndTabs);
            for info in tab_target.chain(page.iter()) {
                self.send_event(Some(&session), method, &json!({"targetInfo": info}).to_string());
            }
        }
    }

    /// Sends `Target.targetCrashed`, which Chrome sends in addition to `Inspector.targetCrashed`.
    fn notify_crashed(&mut self, id: ChromeTab) {
        let Some(target) = self.tabs.get(&id).map(|tab| tab.description.target.clone()) else { return };
        let params = json!({"targetId": target, "status": "crashed", "errorCode": 0}).to_string();
        for (session, _) in self.sessions.discovering() {
            self.send_event(Some(&session), "Target.targetCrashed", &params);
        }
    }

    /// Removes a tab that was closed or unshared: ends its sessions, fails its queued commands.
    fn remove_tab(&mut self, id: ChromeTab) {
        if !self.tabs.contains_key(&id) {
            return;
        }
        self.complete_input(id);
        self.end_tab_sessions(id, |_| true);
        let Some(mut tab) = self.tabs.remove(&id) else { return };
        if let TabState::Attaching { waiting } = std::mem::replace(&mut tab.state, TabState::Detached) {
            for one in waiting {
                self.fail(&one.requester, &ProtocolError::no_target());
            }
        }
        self.debuggees.remove_tab(id);
        self.downloads.remove_tab(id);
        for (session, discovery) in self.sessions.discovering() {
            let tab_target = (discovery == Discovery::PagesAndTabs).then(|| tab.tab_target_id());
            for target in [Some(tab.description.target.clone()), tab_target].into_iter().flatten() {
                let params = json!({"targetId": target}).to_string();
                self.send_event(Some(&session), "Target.targetDestroyed", &params);
            }
        }
    }

    /// `TargetInfo` of the page in a tab.
    fn page_info(&self, id: ChromeTab) -> Option<Value> {
        let tab = self.tabs.get(&id)?;
        let attached = self.sessions.uses_tab(id);
        let opener = tab.description.opener.and_then(|opener| self.tabs.get(&opener));
        Some(tab.info(attached, opener.map(|opener| opener.description.target.as_str())))
    }

    /// Finds a tab by its page target or its tab target.
    fn find_tab(&self, target: &str) -> Option<&Tab> {
        let target = page_target_of(target).unwrap_or(target);
        self.tabs.values().find(|tab| tab.description.target == target)
    }

    /// Sends a request to the extension. Fails it at once while the extension is disconnected.
    fn request(&mut self, command: &str, params: impl Serialize, pending: PendingRequest) {
        if self.link == Link::Down {
            let message = "The browser's extension is not connected.";
            return self.handle_response(pending, Err(failure(ErrorCode::ExtensionDisconnected, message)));
        }
        let id = self.pending.next_id();
        match serde_json::to_string(&Outgoing { id, command, params }) {
            Ok(message) => {
                self.pending.insert(id, pending);
                self.outputs.push(Output::ToExtension(message));
            }
            Err(error) => {
                self.handle_response(pending, Err(failure(ErrorCode::Internal, &error.to_string())));
            }
        }
    }

    /// Responds with a result in JSON.
    fn succeed(&mut self, requester: &Requester, result: &str) {
        if let Requester::Hub { session, id } = requester {
            self.outputs.push(Output::ToHub(tabwire_cdp::reply::result(*id, session.as_ref(), result)));
        }
    }

    fn fail(&mut self, requester: &Requester, error: &ProtocolError) {
        if let Requester::Hub { session, id } = requester {
            self.outputs.push(Output::ToHub(tabwire_cdp::reply::error(*id, session.as_ref(), error)));
        }
    }

    fn send_event(&mut self, session: Option<&CdpSessionId>, method: &str, params: &str) {
        self.outputs.push(Output::ToHub(tabwire_cdp::reply::event(method, session, params)));
    }
}

/// The message of a pause when the extension gives none.
const PAUSED: &str = "The user has paused automation in this browser.";

pub(crate) fn failure(code: ErrorCode, message: &str) -> ExtensionError {
    ExtensionError { code: code.as_str().to_owned(), message: message.to_owned(), number: None }
}

fn unreadable() -> ExtensionError {
    failure(ErrorCode::CdpError, "The extension's response has neither `result` nor `error`.")
}
