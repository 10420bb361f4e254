//! Events of pages: each goes to the cdp sessions that asked for its domain, and what newcomers will need is kept.

use serde::Deserialize;
use serde_json::Value;
use tabwire_cdp::lenient_json;
use tabwire_wire::CdpSessionId;

use crate::debuggee::DebuggeeId;
use crate::emulated_browser::EmulatedBrowser;
use crate::limits::REMEMBERED_PARTS;

impl EmulatedBrowser {
    pub(crate) fn page_event(&mut self, place: &DebuggeeId, method: &str, params: &str) {
        if !self.debuggees.contains_key(place) {
            return;
        }
        match method {
            "Target.attachedToTarget" => return self.child_attached(place, params),
            "Target.detachedFromTarget" => return self.child_detached(place, params),
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
            self.tell(Some(&session), method, params);
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
