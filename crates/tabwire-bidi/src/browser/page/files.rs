//! Files for inputs, and file choosers that a page opens.

use serde_json::{Value, json};
use tabwire_cdp::ProtocolError;

use crate::browser::{EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, flag, text};

impl EmulatedBrowser {
    pub(in crate::browser) fn set_files(&mut self, params: &Value, reply: Reply) {
        let found = self.find_node(params);
        let context = found.as_ref().and_then(|(_, number)| self.realms.find(*number));
        let context = context.map(|realm| realm.context.clone());
        let (Some((shared, _)), Some(context)) = (found, context) else {
            return self.fail(reply, &ProtocolError::chrome(-32000, "No node with given id found"));
        };
        let files = params.get("files").cloned().unwrap_or_else(|| json!([]));
        let command = json!({"context": context, "element": {"sharedId": shared}, "files": files});
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            browser.acknowledge(reply, outcome);
        };
        self.send_for(Some(&context), None, "input.setFiles", command, Box::new(then));
    }

    /// `input.fileDialogOpened`.
    pub(in crate::browser) fn chooser_opened(&mut self, params: &Value) {
        let context = text(params, "context");
        let Some(tab) = self.contexts.tab_of(context).map(|tab| tab.id.clone()) else { return };
        let mode = if flag(params, "multiple") { "selectMultiple" } else { "selectSingle" };
        let mut event = json!({"frameId": context, "mode": mode});
        let shared = params.pointer("/element/sharedId").and_then(Value::as_str);
        let realm = self.realms.main_of(context).map(|realm| realm.number);
        if let (Some(shared), Some(realm)) = (shared, realm) {
            event["backendNodeId"] = json!(self.nodes.number_of(shared, realm));
        }
        for session in self.sessions.on_tab(&tab) {
            let receives = self
                .sessions
                .find(Some(&session))
                .is_some_and(|found| found.choosers && found.domains.contains("Page"));
            if receives {
                self.send_event(Some(&session), "Page.fileChooserOpened", &event);
            }
        }
    }
}
