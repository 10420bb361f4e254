//! Dialogs of pages: alert, confirm, prompt, beforeunload.

use serde_json::{Value, json};
use tabwire_cdp::ProtocolError;

use crate::browser::{EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, flag, text};
use crate::protocol::script_text::OWN_SANDBOX;

impl EmulatedBrowser {
    pub(in crate::browser) fn prompt_opened(&mut self, id: &str, params: &Value) {
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
        // The page's script has come to its next dialog.
        self.answer_closed(&tab);
        // `performActions` waits while the dialog is open, and the input has arrived. Its client is to know of the dialog
        // before it has the response.
        let complete = move |browser: &mut Self, _| browser.complete_input(&tab);
        self.send("session.status", json!({}), Box::new(complete));
    }

    pub(in crate::browser) fn prompt_closed(&mut self, id: &str, params: &Value) {
        let Some(tab) = self.contexts.tab_of(id).map(|tab| tab.id.clone()) else { return };
        if let Some(context) = self.contexts.find_mut(&tab) {
            context.has_prompt = false;
        }
        let event = json!({
            "frameId": id, "result": flag(params, "accepted"), "userInput": text(params, "userText"),
        });
        self.tab_event(&tab, "Page.javascriptDialogClosed", &event);
    }

    pub(in crate::browser) fn handle_prompt(&mut self, tab: &str, params: &Value, reply: Reply) {
        let mut command = json!({"context": tab, "accept": flag(params, "accept")});
        if let Some(given) = params.get("promptText").and_then(Value::as_str) {
            command["userText"] = json!(given);
        }
        let id = tab.to_owned();
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Err(error) if error.name == "no such alert" => {
                browser.fail(reply, &ProtocolError::chrome(-32602, "No dialog is showing"));
            }
            Ok(_) => browser.await_script(&id, reply),
            outcome => browser.acknowledge(reply, outcome),
        };
        self.send("browsingContext.handleUserPrompt", command, Box::new(then));
    }

    /// Responds when the script that opened the dialog has ended or opened the next one: clients look for the next dialog
    /// after the response, and Firefox runs other scripts meanwhile. No timer fires before that.
    fn await_script(&mut self, tab: &str, reply: Reply) {
        self.answer_closed(tab);
        self.closed_prompts.insert(tab.to_owned(), reply);
        let timer = json!({
            "expression": "new Promise((done) => setTimeout(done, 0))", "awaitPromise": true,
            "target": {"context": tab, "sandbox": OWN_SANDBOX},
        });
        let id = tab.to_owned();
        let then = move |browser: &mut Self, _: Result<Value, BidiError>| browser.answer_closed(&id);
        self.send_for(Some(tab), None, "script.evaluate", timer, Box::new(then));
    }

    fn answer_closed(&mut self, tab: &str) {
        if let Some(reply) = self.closed_prompts.remove(tab) {
            self.succeed(reply, "{}");
        }
    }
}
