//! Page events: forwards each to the sessions that enabled its domain, and stores what later sessions need.

use serde::Deserialize;
use serde_json::Value;
use tabwire_api::CdpSessionId;
use tabwire_cdp::lenient_json;

use crate::browser::EmulatedBrowser;
use crate::session::synthetic_context::refers_to_context;
use crate::target::debuggee::DebuggeeId;
use crate::target::tab::{CloseState, TabState};

/// Contexts, early events and child targets that are stored for later sessions, each at most.
pub(super) const STORED_ITEMS: usize = 4_096;

impl EmulatedBrowser {
    pub(super) fn page_event(&mut self, debuggee_id: &DebuggeeId, method: &str, params: &str) {
        if !self.debuggees.contains(debuggee_id) {
            return self.queue_early_event(debuggee_id, method, params);
        }
        let is_closing = self
            .tabs
            .get(&debuggee_id.tab)
            .is_some_and(|tab| matches!(tab.close_state, CloseState::Closing { .. }));
        match method {
            // Chrome detaches a closing page before its contexts go, so clients never see these events.
            "Runtime.executionContextDestroyed" | "Runtime.executionContextsCleared" if is_closing => return,
            "Target.attachedToTarget" => return self.child_attached(debuggee_id, params),
            "Target.detachedFromTarget" => return self.child_detached(debuggee_id, params),
            "Inspector.targetCrashed" if debuggee_id.child.is_none() => self.notify_crashed(debuggee_id.tab),
            "Page.downloadWillBegin" | "Page.downloadProgress" => {
                self.download_event(debuggee_id, method, params);
            }
            "Page.frameNavigated" if debuggee_id.child.is_none() => self.record_url(debuggee_id, params),
            "Runtime.executionContextCreated"
            | "Runtime.executionContextDestroyed"
            | "Runtime.executionContextsCleared" => self.record_context(debuggee_id, method, params),
            _ => {}
        }
        let binding = (method == "Runtime.bindingCalled").then(|| {
            let params = lenient_json::read(params.as_bytes());
            params.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
        });
        let receivers = self.sessions.on_where(debuggee_id, |session| {
            session.receives(method) && binding.as_ref().is_none_or(|name| session.bindings.contains(name))
        });
        for session in receivers {
            self.send_translated_event(&session, method, params);
        }
    }

    /// Sends an event to a session, with the context ids that the session knows.
    pub(super) fn send_translated_event(&mut self, session: &CdpSessionId, method: &str, params: &str) {
        let Some(entry) = self.sessions.get_mut(session) else { return };
        if entry.contexts.is_empty() || !method.starts_with("Runtime.") {
            return self.send_event(Some(session), method, params);
        }
        match method {
            "Runtime.executionContextCreated" => {
                let read = lenient_json::read(params.as_bytes());
                // The session already has this context, under a synthetic id.
                if read.get("context").is_some_and(|context| entry.contexts.match_real(context)) {
                    return self.release_blocked(session);
                }
            }
            "Runtime.executionContextsCleared" => entry.contexts.clear(),
            _ if refers_to_context(method) => {
                let read = lenient_json::read(params.as_bytes());
                if let Some(translation) = entry.contexts.translate_event(method, &read) {
                    return self.send_event(Some(session), method, &translation);
                }
            }
            _ => {}
        }
        self.send_event(Some(session), method, params);
        if method == "Runtime.executionContextsCleared" {
            self.release_blocked(session);
        }
    }

    /// Queues an event that arrives before the response to `attach`; it is handled after the frame tree.
    fn queue_early_event(&mut self, debuggee_id: &DebuggeeId, method: &str, params: &str) {
        let Some(tab) = self.tabs.get_mut(&debuggee_id.tab).filter(|_| debuggee_id.child.is_none()) else {
            return;
        };
        if matches!(tab.state, TabState::Attaching { .. }) && tab.early_events.len() < STORED_ITEMS {
            tab.early_events.push((method.to_owned(), params.to_owned()));
        }
    }

    fn record_context(&mut self, debuggee_id: &DebuggeeId, method: &str, params: &str) {
        #[derive(Deserialize)]
        struct ContextCreated {
            context: ContextNumber,
        }
        #[derive(Deserialize)]
        struct ContextNumber {
            id: i64,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ContextDestroyed {
            execution_context_id: i64,
        }
        let Some(debuggee) = self.debuggees.get_mut(debuggee_id) else { return };
        match method {
            "Runtime.executionContextCreated" if debuggee.contexts.len() < STORED_ITEMS => {
                if let Ok(ContextCreated { context }) = lenient_json::read_as(params.as_bytes()) {
                    debuggee.contexts.insert(context.id, params.to_owned());
                }
            }
            "Runtime.executionContextDestroyed" => {
                if let Ok(ContextDestroyed { execution_context_id }) = serde_json::from_str(params) {
                    debuggee.contexts.remove(&execution_context_id);
                }
            }
            "Runtime.executionContextsCleared" => debuggee.contexts.clear(),
            _ => {}
        }
    }

    /// Updates the URL from `Page.frameNavigated`, which arrives before the tab event of the extension.
    fn record_url(&mut self, debuggee_id: &DebuggeeId, params: &str) {
        let params = lenient_json::read(params.as_bytes());
        let frame = params.get("frame").cloned().unwrap_or_default();
        let Some(url) = frame.get("url").and_then(Value::as_str) else { return };
        let Some(tab) = self.tabs.get_mut(&debuggee_id.tab) else { return };
        let fragment = frame.get("urlFragment").and_then(Value::as_str).unwrap_or_default();
        let url = format!("{url}{fragment}");
        if frame.get("parentId").is_none() && tab.description.url != url {
            tab.description.url = url;
            self.notify_tab_changed(debuggee_id.tab);
        }
    }
}
