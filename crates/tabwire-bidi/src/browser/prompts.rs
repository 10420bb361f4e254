//! Dialogs of pages: alert, confirm, prompt, beforeunload.

use serde_json::{Value, json};
use tabwire_cdp::ProtocolError;

use super::{EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, flag, text};

impl EmulatedBrowser {
    pub(super) fn prompt_opened(&mut self, id: &str, params: &Value) {
        let Some(tab) = self.contexts.tab_of(id).map(|tab| tab.id.clone()) else { return };
        let url = self.contexts.find(id).map(|context| context.url.clone()).unwrap_or_default();
        if let Some(context) = self.contexts.find_mut(&tab) {
            context.has_prompt = true;
        }
        let event = json!({
            "url": url, "frameId": id, "message": text(params, "message"), "type": text(params, "type"),
            "hasBrowserHandler": false, "defaultPrompt": text(params, "defaultValue"),
        });
        self.tab_event(&tab, "Page.javascriptDialogOpening", &event);
        // `performActions` waits while the dialog is open, and the input has arrived. Its client is to know of the dialog
        // before it has the response.
        let complete = move |browser: &mut Self, _| browser.complete_input(&tab);
        self.send("session.status", json!({}), Box::new(complete));
    }

    pub(super) fn prompt_closed(&mut self, id: &str, params: &Value) {
        let Some(tab) = self.contexts.tab_of(id).map(|tab| tab.id.clone()) else { return };
        if let Some(context) = self.contexts.find_mut(&tab) {
            context.has_prompt = false;
        }
        let event = json!({
            "frameId": id, "result": flag(params, "accepted"), "userInput": text(params, "userText"),
        });
        self.tab_event(&tab, "Page.javascriptDialogClosed", &event);
    }

    pub(super) fn handle_prompt(&mut self, tab: &str, params: &Value, reply: Reply) {
        let mut command = json!({"context": tab, "accept": flag(params, "accept")});
        if let Some(given) = params.get("promptText").and_then(Value::as_str) {
            command["userText"] = json!(given);
        }
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Err(error) if error.name == "no such alert" => {
                browser.fail(reply, &ProtocolError::chrome(-32602, "No dialog is showing"));
            }
            outcome => browser.acknowledge(reply, outcome),
        };
        self.send("browsingContext.handleUserPrompt", command, Box::new(then));
    }
}
