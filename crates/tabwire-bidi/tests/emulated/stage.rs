//! An emulated browser, the hub's side and the browser's side of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tabwire_bidi::{BrowserFacts, EmulatedBrowser, Output};

/// A command that the emulated browser sent to the browser.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) id: u64,
    pub(crate) method: String,
    pub(crate) params: Value,
}

pub(crate) struct Stage {
    pub(crate) browser: EmulatedBrowser,
    /// Commands to the browser without a response.
    pub(crate) open: Vec<Sent>,
    /// Everything that the hub got.
    pub(crate) frames: Vec<Value>,
    /// How often each command of the hub was answered.
    pub(crate) answers: BTreeMap<i64, usize>,
    last: i64,
}

impl Stage {
    /// A browser that has started, with its anchor tab.
    pub(crate) fn started() -> Self {
        let facts = BrowserFacts {
            product: "Firefox/153.0".to_owned(),
            user_agent: "agent".to_owned(),
            anchor: Some("anchor".to_owned()),
        };
        let browser = EmulatedBrowser::new("S", facts);
        let mut stage =
            Self { browser, open: Vec::new(), frames: Vec::new(), answers: BTreeMap::new(), last: 0 };
        stage.take();
        stage.respond("session.subscribe", json!({}));
        stage.respond("browser.getUserContexts", json!({"userContexts": [{"userContext": "default"}]}));
        let anchor = json!({"context": "anchor", "url": "about:blank", "parent": null, "children": []});
        stage.respond("browsingContext.getTree", json!({"contexts": [anchor]}));
        stage.respond("script.getRealms", json!({"realms": []}));
        stage.open.clear();
        stage
    }

    /// A started browser with a session on a tab called `tab`, whose main realm is `main`.
    pub(crate) fn with_tab() -> (Self, String) {
        let mut stage = Self::started();
        stage.add_context("tab", None);
        stage.add_realm("main", "tab");
        let attach = stage.ask(None, "Target.attachToTarget", json!({"targetId": "tab", "flatten": true}));
        let session = stage.result(attach)["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Network"] {
            stage.ask(Some(&session), &format!("{domain}.enable"), json!({}));
        }
        (stage, session)
    }

    pub(crate) fn add_context(&mut self, id: &str, parent: Option<&str>) {
        let info = json!({"context": id, "parent": parent, "url": "about:blank", "userContext": "default"});
        self.event("browsingContext.contextCreated", info);
    }

    pub(crate) fn add_realm(&mut self, realm: &str, context: &str) {
        let info = json!({"realm": realm, "context": context, "type": "window", "origin": "http://a.test"});
        self.event("script.realmCreated", info);
    }

    /// Sends a command of the hub; returns its id.
    pub(crate) fn ask(&mut self, session: Option<&str>, method: &str, params: Value) -> i64 {
        self.last += 1;
        let mut frame = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = session {
            frame["sessionId"] = json!(session);
        }
        self.answers.insert(self.last, 0);
        self.browser.from_hub(frame.to_string().as_bytes());
        self.take();
        self.last
    }

    pub(crate) fn event(&mut self, method: &str, params: Value) {
        let message = json!({"type": "event", "method": method, "params": params});
        self.browser.from_browser(message.to_string().as_bytes());
        self.take();
    }

    /// Responds to the first open command with a method.
    pub(crate) fn respond(&mut self, method: &str, result: Value) {
        let at = self.open.iter().position(|sent| sent.method == method);
        let at = at.unwrap_or_else(|| panic!("no open {method} in {:?}", self.open));
        let sent = self.open.remove(at);
        self.respond_to(&sent, &Ok(result));
    }

    pub(crate) fn respond_to(&mut self, sent: &Sent, outcome: &Result<Value, &str>) {
        let message = match outcome {
            Ok(result) => json!({"type": "success", "id": sent.id, "result": result}),
            Err(name) => json!({"type": "error", "id": sent.id, "error": name, "message": "no"}),
        };
        self.browser.from_browser(message.to_string().as_bytes());
        self.take();
    }

    pub(crate) fn take(&mut self) {
        for output in self.browser.take_outputs() {
            match output {
                Output::ToHub(frame) => {
                    let frame: Value = serde_json::from_slice(&frame).expect("JSON");
                    if let Some(id) = frame["id"].as_i64() {
                        *self.answers.get_mut(&id).expect("an answer to a command") += 1;
                    }
                    self.frames.push(frame);
                }
                Output::ToBrowser(text) => {
                    let mut sent: Value = serde_json::from_str(&text).expect("JSON");
                    self.open.push(Sent {
                        id: sent["id"].as_u64().expect("an id"),
                        method: sent["method"].as_str().expect("a method").to_owned(),
                        params: sent["params"].take(),
                    });
                }
                Output::MoveFile { number, .. } => {
                    self.browser.file_moved(number, Some(3));
                    self.take();
                }
            }
        }
    }

    /// The answer to a command.
    pub(crate) fn answer(&self, id: i64) -> &Value {
        let found = self.frames.iter().find(|frame| frame["id"] == json!(id));
        found.unwrap_or_else(|| panic!("no answer to {id}: {:?}", self.frames))
    }

    pub(crate) fn result(&self, id: i64) -> Value {
        self.answer(id)["result"].clone()
    }

    /// The params of every event with a name.
    pub(crate) fn events(&self, method: &str) -> Vec<&Value> {
        self.frames.iter().filter(|frame| frame["method"] == method).map(|frame| &frame["params"]).collect()
    }
}
