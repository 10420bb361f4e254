//! Tabs without the debugger. Setup commands get a response at once and are recorded, and the events that clients wait for
//! are built from the tab's description.

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ErrorCode};
use tabwire_cdp::ProtocolError;

use crate::browser::EmulatedBrowser;
use crate::browser::page_command::Command;
use crate::browser::pending::Requester;

use crate::link::message::{ChromeTab, TabDescription};
use crate::session::init_command::can_defer;
use crate::target::debuggee::DebuggeeId;

/// Lifecycle events of a page, in Chrome's order.
const STARTED: [&str; 2] = ["init", "commit"];
const LOADED: [&str; 4] = ["DOMContentLoaded", "load", "networkAlmostIdle", "networkIdle"];

impl EmulatedBrowser {
    /// Records a setup command and responds to it; says whether it did. Other commands need the debugger.
    pub(super) fn respond_unattached(
        &mut self,
        debuggee_id: &DebuggeeId,
        session: &CdpSessionId,
        command: &Command,
        requester: &Requester,
    ) -> bool {
        let Ok(params) = command.read_params() else { return false };
        let Some(tab) = self.tabs.get(&debuggee_id.tab) else { return false };
        let (tree, target) = (tab.synthetic_frame_tree(), tab.description.target.clone());
        let Some(entry) = self.sessions.get_mut(session) else { return false };
        if !can_defer(&command.method, &params, &target) || entry.setup_replay.is_full() {
            return false;
        }
        let mut response = json!({});
        let mut script = None;
        match command.method.as_str() {
            // Clients make no page object without a frame tree. Connecting must not attach the debugger to
            // every tab.
            "Page.getFrameTree" => {
                entry.has_synthetic_tree = true;
                response = tree;
            }
            "Page.addScriptToEvaluateOnNewDocument" => {
                self.last_script += 1;
                let given = format!("tabwire-{}", self.last_script);
                response = json!({"identifier": given});
                entry.scripts.insert(given.clone(), None);
                script = Some(given);
            }
            "Page.createIsolatedWorld" => {
                let name = params.get("worldName").and_then(Value::as_str).unwrap_or_default();
                let number = entry.contexts.get_or_create(&mut self.last_context, &target, Some(name));
                response = json!({"executionContextId": number});
            }
            method => {
                let (domain, verb) = method.split_once('.').unwrap_or_default();
                match verb {
                    "enable" => drop(entry.domains.insert(domain.to_owned())),
                    "disable" => drop(entry.domains.remove(domain)),
                    _ => {}
                }
            }
        }
        entry.setup_replay.record(command, &params, script.as_deref());
        self.send_implied_events(debuggee_id, session, command);
        self.succeed(requester, &response.to_string());
        true
    }

    /// Sends the events that Chrome sends before the response.
    fn send_implied_events(&mut self, debuggee_id: &DebuggeeId, session: &CdpSessionId, command: &Command) {
        match command.method.as_str() {
            "Runtime.enable" | "Page.createIsolatedWorld" => {
                self.report_synthetic_contexts(debuggee_id, session);
            }
            "Page.setLifecycleEventsEnabled" => {
                self.send_lifecycle_events(debuggee_id.tab, session, &STARTED, true);
            }
            _ => {}
        }
    }

    /// Reports the contexts that the page is certain to have, if the session enabled `Runtime`.
    pub(super) fn report_synthetic_contexts(&mut self, debuggee_id: &DebuggeeId, session: &CdpSessionId) {
        let Some(TabDescription { target, url, .. }) =
            self.tabs.get(&debuggee_id.tab).map(|tab| &tab.description)
        else {
            return;
        };
        let Some(entry) = self.sessions.get_mut(session) else { return };
        if !entry.domains.contains("Runtime") {
            return;
        }
        entry.contexts.get_or_create(&mut self.last_context, target, None);
        let reports = entry.contexts.take_unreported(origin_of(url));
        for params in reports {
            self.send_event(Some(session), "Runtime.executionContextCreated", &params);
        }
    }

    /// Sends lifecycle events to a session that enabled them.
    fn send_lifecycle_events(
        &mut self,
        tab: ChromeTab,
        session: &CdpSessionId,
        started: &[&str],
        from_start: bool,
    ) {
        let Some(tab) = self.tabs.get(&tab) else { return };
        let (target, loader, loaded) = (tab.description.target.clone(), tab.loader(), tab.description.loaded);
        let is_enabled = self.sessions.get(session).is_some_and(|entry| {
            entry.setup_replay.has("Page.setLifecycleEventsEnabled") && entry.domains.contains("Page")
        });
        if !is_enabled {
            return;
        }
        let started = started.iter().filter(|_| from_start);
        for name in started.chain(LOADED.iter().filter(|_| loaded)) {
            let params = json!({"frameId": target, "loaderId": loader, "name": name, "timestamp": 0});
            self.send_event(Some(session), "Page.lifecycleEvent", &params.to_string());
        }
    }

    /// The description of an unattached tab changed: sends the events that its page would send.
    pub(super) fn notify_unattached_change(&mut self, id: ChromeTab, before: &TabDescription) {
        let Some(tab) = self.tabs.get_mut(&id).filter(|tab| tab.is_detached()) else { return };
        let (old, _) = split_fragment(&before.url);
        let (new, _) = split_fragment(&tab.description.url);
        let is_new_document = old != new;
        let is_fragment_change = !is_new_document && before.url != tab.description.url;
        let is_loaded = tab.description.loaded && !before.loaded;
        if is_new_document {
            tab.loads += 1;
        }
        let (frame, url) = (tab.main_frame(), tab.description.url.clone());
        let debuggee_id = DebuggeeId { tab: id, child: None };
        for session in self.sessions.on(&debuggee_id) {
            let Some(entry) = self.sessions.get(&session).filter(|entry| entry.has_synthetic_tree) else {
                continue;
            };
            let has_page = entry.domains.contains("Page");
            if is_new_document && has_page {
                let params = json!({"frame": frame, "type": "Navigation"});
                self.send_event(Some(&session), "Page.frameNavigated", &params.to_string());
                self.send_lifecycle_events(id, &session, &STARTED, true);
            // A change of the fragment keeps the document: clients would wait in vain for its load event.
            } else if is_fragment_change && has_page {
                let params = json!({"frameId": frame["id"], "url": url, "navigationType": "fragment"});
                self.send_event(Some(&session), "Page.navigatedWithinDocument", &params.to_string());
            } else if is_loaded {
                self.send_lifecycle_events(id, &session, &STARTED, false);
            }
        }
    }

    /// The debugger was detached and sessions go on: the tab is unattached for them again. Child sessions end; their
    /// targets are reported again when the debugger is attached.
    pub(super) fn reset_sessions(&mut self, tab: ChromeTab) {
        let debuggee_id = DebuggeeId::page(tab);
        self.end_tab_sessions(tab, |session| session.debuggee().is_some_and(|other| *other != debuggee_id));
        let Some(frame) = self.tabs.get(&tab).map(|tab| tab.main_frame()) else { return };
        for session in self.sessions.on(&debuggee_id) {
            let Some(entry) = self.sessions.get_mut(&session) else { continue };
            let blocked = std::mem::take(&mut entry.blocked);
            entry.contexts.clear();
            let (has_page, has_runtime) = (entry.domains.contains("Page"), entry.domains.contains("Runtime"));
            entry.has_synthetic_tree = has_page;
            let names: Vec<String> = entry.setup_replay.contexts().map(str::to_owned).collect();
            for name in names {
                let target = frame["id"].as_str().unwrap_or_default();
                entry.contexts.get_or_create(&mut self.last_context, target, Some(&name));
            }
            if has_runtime {
                self.send_event(Some(&session), "Runtime.executionContextsCleared", "{}");
            }
            if has_page {
                // Clients drop their child frames on this event.
                let params = json!({"frame": frame, "type": "Navigation"});
                self.send_event(Some(&session), "Page.frameNavigated", &params.to_string());
                self.send_lifecycle_events(tab, &session, &STARTED, true);
            }
            self.report_synthetic_contexts(&debuggee_id, &session);
            for waiting in blocked {
                let error =
                    ProtocolError::tabwire(ErrorCode::Detached, "The debugger was detached from this tab.");
                self.fail(&waiting.requester, &error);
            }
        }
    }
}

fn split_fragment(url: &str) -> (&str, &str) {
    url.split_once('#').unwrap_or((url, ""))
}

/// The origin of a URL, as `Runtime.executionContextCreated` has it.
fn origin_of(url: &str) -> &str {
    let Some(authority) = url.find("://").map(|at| at + 3) else { return "://" };
    let close_state =
        url.get(authority..).and_then(|rest| rest.find('/')).map_or(url.len(), |at| authority + at);
    url.get(..close_state).unwrap_or("://")
}
