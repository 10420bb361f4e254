//! HTML drags: Firefox starts them and never drops them, so a client that intercepts drags is told of their start. Drags
//! that a page makes from mouse events are only mouse input.

use serde_json::json;
use tabwire_api::CdpSessionId;

use crate::browser::{EmulatedBrowser, Reply};
use crate::protocol::script_text::{CATCH_DRAGS, DRAG_STARTED};

impl EmulatedBrowser {
    /// `Input.setInterceptDrags`.
    pub(super) fn intercept_drags(&mut self, tab: &str, session: &CdpSessionId, on: bool, reply: Reply) {
        let queue = self.input.entry(tab.to_owned()).or_default();
        queue.drags = on.then(|| session.clone());
        if !on {
            return self.succeed(reply, "{}");
        }
        for frame in self.contexts.subtree(tab).into_iter().skip(1) {
            self.call_own(&frame, CATCH_DRAGS, &json!([]), |_, _| {});
        }
        // Mouse events that follow must find the listener, so the response waits for it.
        self.call_own(tab, CATCH_DRAGS, &json!([]), |browser, _| browser.succeed(reply, "{}"));
    }

    /// Tells the client that intercepts drags whether the last mouse events in a document started one.
    pub(super) fn report_drag(&mut self, tab: &str, document: &str) {
        let Some(session) = self.input.get(tab).and_then(|queue| queue.drags.clone()) else { return };
        let id = tab.to_owned();
        self.call_own(document, DRAG_STARTED, &json!([]), move |browser, outcome| {
            if outcome.is_ok_and(|started| started.get("value") == Some(&json!(true))) {
                if let Some(queue) = browser.input.get_mut(&id) {
                    queue.drags = None;
                }
                let data = json!({"items": [], "files": [], "dragOperationsMask": 1});
                browser.send_event(Some(&session), "Input.dragIntercepted", &json!({"data": data}));
            }
        });
    }
}
