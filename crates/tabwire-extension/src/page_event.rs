//! Events of pages: each goes to the cdp sessions that asked for its domain, and what newcomers will need is kept.

use serde::Deserialize;
use serde_json::Value;
use tabwire_cdp::lenient_json;
use tabwire_wire::CdpSessionId;

use crate::debuggee::DebuggeeId;
use crate::emulated_browser::EmulatedBrowser;
use crate::limits::REMEMBERED_PARTS;
use crate::made_up_world::names_a_world;
use crate::tab::{End, TabState};

impl EmulatedBrowser {
    pub(crate) fn page_event(&mut self, place: &DebuggeeId, method: &str, params: &str) {
        if !self.debuggees.contains_key(place) {
            return self.keep_early(place, method, params);
        }
        let is_closing = self.tabs.get(&place.tab).is_some_and(|tab| matches!(tab.end, End::Asked { .. }));
        match method {
            // A browser lets go of a page that is closed before the page falls apart.
            "Runtime.executionContextDestroyed" | "Runtime.executionContextsCleared" if is_closing => return,
            "Target.attachedToTarget" => return self.child_attached(place, params),
            "Target.detachedFromTarget" => return self.child_detached(place, params),
            "Inspector.targetCrashed" if place.child.is_none() => self.tell_crashed(place.tab),
            "Page.downloadWillBegin" | "Page.downloadProgress" => {
                self.download_event(place, method, params);
            }
            "Page.frameNavigated" if place.child.is_none() => self.note_address(place, params),
            "Runtime.executionContextCreated"
            | "Runtime.executionContextDestroyed"
            | "Runtime.executionContextsCleared" => self.note_context(place, method, params),
            _ => {}
        }
        let binding = (method == "Runtime.bindingCalled").then(|| {
            let params = lenient_json::read(params.as_bytes());
            params.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
        });
        let told: Vec<CdpSessionId> = self
            .sessions
            .iter()
            .filter(|(_, one)| one.debuggee() == Some(place) && one.hears(method))
            .filter(|(_, one)| binding.as_ref().is_none_or(|name| one.bindings.contains(name)))
            .map(|(id, _)| id.clone())
            .collect();
        for session in told {
            self.tell_in_its_numbers(&session, method, params);
        }
    }

    /// Tells a session of an event with the numbers that it knows worlds by.
    pub(crate) fn tell_in_its_numbers(&mut self, session: &CdpSessionId, method: &str, params: &str) {
        let Some(entry) = self.sessions.get_mut(session) else { return };
        if entry.worlds.is_empty() || !method.starts_with("Runtime.") {
            return self.tell(Some(session), method, params);
        }
        match method {
            "Runtime.executionContextCreated" => {
                let read = lenient_json::read(params.as_bytes());
                if read.get("context").is_some_and(|context| entry.worlds.take_place(context)) {
                    return self.release_held(session);
                }
            }
            "Runtime.executionContextsCleared" => entry.worlds.clear(),
            _ if names_a_world(method) => {
                let read = lenient_json::read(params.as_bytes());
                if let Some(exchanged) = entry.worlds.tell_of(method, &read) {
                    return self.tell(Some(session), method, &exchanged);
                }
            }
            _ => {}
        }
        self.tell(Some(session), method, params);
        if method == "Runtime.executionContextsCleared" {
            self.release_held(session);
        }
    }

    /// What happens between the telling of frames and the news that the debugger is on is told after both.
    fn keep_early(&mut self, place: &DebuggeeId, method: &str, params: &str) {
        let Some(tab) = self.tabs.get_mut(&place.tab).filter(|_| place.child.is_none()) else { return };
        if matches!(tab.state, TabState::Attaching { .. }) && tab.early.len() < REMEMBERED_PARTS {
            tab.early.push((method.to_owned(), params.to_owned()));
        }
    }

    fn note_context(&mut self, place: &DebuggeeId, method: &str, params: &str) {
        #[derive(Deserialize)]
        struct Created {
            context: Numbered,
        }
        #[derive(Deserialize)]
        struct Numbered {
            id: i64,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Destroyed {
            execution_context_id: i64,
        }
        let Some(debuggee) = self.debuggees.get_mut(place) else { return };
        match method {
            "Runtime.executionContextCreated" if debuggee.contexts.len() < REMEMBERED_PARTS => {
                if let Ok(Created { context }) = lenient_json::read_as(params.as_bytes()) {
                    debuggee.contexts.insert(context.id, params.to_owned());
                }
            }
            "Runtime.executionContextDestroyed" => {
                if let Ok(Destroyed { execution_context_id }) = serde_json::from_str(params) {
                    debuggee.contexts.remove(&execution_context_id);
                }
            }
            "Runtime.executionContextsCleared" => debuggee.contexts.clear(),
            _ => {}
        }
    }

    /// A page that went somewhere is known to be there before its tab says so.
    fn note_address(&mut self, place: &DebuggeeId, params: &str) {
        let params = lenient_json::read(params.as_bytes());
        let frame = params.get("frame").cloned().unwrap_or_default();
        let Some(url) = frame.get("url").and_then(Value::as_str) else { return };
        let Some(tab) = self.tabs.get_mut(&place.tab) else { return };
        let fragment = frame.get("urlFragment").and_then(Value::as_str).unwrap_or_default();
        let url = format!("{url}{fragment}");
        if frame.get("parentId").is_none() && tab.description.url != url {
            tab.description.url = url;
            self.tell_tab_changed(place.tab);
        }
    }
}
