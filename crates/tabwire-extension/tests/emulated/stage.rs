//! The stage for these tests: a scripted hub that sends frames, and a scripted extension.

use serde_json::{Value, json};
use tabwire_extension::link_message::{BrowserInfo, BrowserState, ChromeTab, TabDescription};
use tabwire_extension::{EmulatedBrowser, Output};

pub(crate) struct Stage {
    pub(crate) browser: EmulatedBrowser,
    next_id: i64,
    /// Requests to the extension without a response, in order.
    pending: Vec<Value>,
    /// Frames sent to the hub, in order.
    received: Vec<Value>,
}

pub(crate) fn tab(number: i64, url: &str) -> TabDescription {
    TabDescription {
        tab: ChromeTab(number),
        target: format!("T{number}"),
        url: url.to_owned(),
        title: format!("title {number}"),
        opener: None,
        agent: false,
        restricted: false,
        loaded: true,
    }
}

pub(crate) fn present(tabs: Vec<TabDescription>, attached: &[i64]) -> BrowserState {
    let attached = attached.iter().copied().map(ChromeTab).collect();
    BrowserState {
        run: "run".to_owned(),
        mode: "shared".to_owned(),
        paused: false,
        pause: None,
        tabs,
        attached,
    }
}

impl Stage {
    /// A browser with this many tabs.
    pub(crate) fn with_tabs(count: i64) -> Self {
        let tabs = (1..=count).map(|number| tab(number, "https://a.example/")).collect();
        Self::with(&present(tabs, &[]))
    }

    pub(crate) fn with(present: &BrowserState) -> Self {
        let facts = BrowserInfo {
            product: "Chrome/156.0.0.0".to_owned(),
            name: "Chromium".to_owned(),
            agent: "agent".to_owned(),
        };
        let browser = EmulatedBrowser::new("s", facts, present);
        let mut stage = Self { browser, next_id: 0, pending: Vec::new(), received: Vec::new() };
        stage.collect();
        stage
    }

    pub(crate) fn collect(&mut self) {
        for output in self.browser.take_outputs() {
            match output {
                Output::ToHub(frame) => self.received.push(serde_json::from_slice(&frame).expect("a frame")),
                Output::ToExtension(text) => {
                    self.pending.push(serde_json::from_str(&text).expect("a message"));
                }
            }
        }
    }

    /// The hub sends a command; returns its id.
    pub(crate) fn send(&mut self, session: Option<&str>, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let mut frame = json!({"id": self.next_id, "method": method, "params": params});
        if let Some(session) = session {
            frame["sessionId"] = json!(session);
        }
        self.browser.from_hub(frame.to_string().as_bytes());
        self.collect();
        self.next_id
    }

    /// Sends a command and takes its response, which must be there at once.
    pub(crate) fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.send(session, method, params);
        self.response(id).unwrap_or_else(|| panic!("{method} has no response yet"))
    }

    /// Takes the response to a command; the caller checks its session.
    pub(crate) fn response(&mut self, id: i64) -> Option<Value> {
        let at = self.received.iter().position(|frame| frame["id"] == id)?;
        Some(self.received.remove(at))
    }

    /// Takes the events received so far, as `method session`.
    pub(crate) fn events(&mut self) -> Vec<String> {
        let (events, rest) =
            std::mem::take(&mut self.received).into_iter().partition(|frame| frame.get("method").is_some());
        self.received = rest;
        let events: Vec<Value> = events;
        let name = |event: &Value, field: &str| event[field].as_str().unwrap_or("-").to_owned();
        events.iter().map(|event| format!("{} {}", name(event, "method"), name(event, "sessionId"))).collect()
    }

    /// Takes the newest event with this method.
    pub(crate) fn event(&mut self, method: &str) -> Option<Value> {
        let at = self.received.iter().rposition(|frame| frame["method"] == method)?;
        Some(self.received.remove(at))
    }

    /// Requests to the extension without a response, as `command method`.
    pub(crate) fn requests(&self) -> Vec<String> {
        let line = |one: &Value| match one["params"]["method"].as_str() {
            Some(method) => format!("{} {method}", one["command"].as_str().unwrap_or("?")),
            None if one["command"] == "settle" && one["params"]["tab"].is_null() => "settle all".to_owned(),
            None => one["command"].as_str().unwrap_or("?").to_owned(),
        };
        self.pending.iter().map(line).collect()
    }

    /// The extension responds to its oldest request with a result.
    pub(crate) fn respond(&mut self, ok: Value) -> Value {
        assert!(!self.pending.is_empty(), "no request is pending");
        let asked = self.pending.remove(0);
        self.extension_sends(json!({"id": asked["id"], "result": ok}));
        asked
    }

    /// The extension responds to all requests, including those that follow.
    pub(crate) fn respond_all(&mut self) {
        while !self.pending.is_empty() {
            let tree = json!({"frameTree": {"frame": {"id": "T1"}}});
            let is_attach = self.pending[0]["command"] == "attach";
            self.respond(if is_attach { tree } else { json!({}) });
        }
    }

    /// The extension responds to its oldest request with an error.
    pub(crate) fn respond_error(&mut self, code: &str, message: &str) {
        let asked = self.pending.remove(0);
        self.extension_sends(json!({"id": asked["id"], "error": {"code": code, "message": message}}));
    }

    pub(crate) fn extension_sends(&mut self, message: Value) {
        self.browser.from_extension(message.to_string().as_bytes());
        self.collect();
    }

    pub(crate) fn extension_event(&mut self, event: &str, with: Value) {
        self.extension_sends(json!({"event": event, "data": with}));
    }

    /// The extension forwards an event of a page.
    pub(crate) fn page_event(&mut self, tab: i64, session: Option<&str>, method: &str, params: Value) {
        self.extension_sends(
            json!({"event": "cdp", "tab": tab, "session": session, "method": method, "params": params}),
        );
    }

    /// A browser-level CDP session.
    pub(crate) fn root(&mut self) -> String {
        let response = self.call(None, "Target.attachToBrowserTarget", json!({}));
        response["result"]["sessionId"].as_str().expect("a session").to_owned()
    }

    /// A CDP session on a tab.
    pub(crate) fn on_tab(&mut self, root: &str, target: &str) -> String {
        let params = json!({"targetId": target, "flatten": true});
        let response = self.call(Some(root), "Target.attachToTarget", params);
        response["result"]["sessionId"].as_str().expect("a session").to_owned()
    }

    /// A CDP session on the first tab, with the debugger attached.
    pub(crate) fn working(&mut self) -> (String, String) {
        let root = self.root();
        let session = self.on_tab(&root, "T1");
        self.send(Some(&session), "Runtime.evaluate", json!({}));
        self.respond_all();
        self.received.clear();
        (root, session)
    }

    /// A second session on the first tab.
    pub(crate) fn second(&mut self, root: &str) -> String {
        let session = self.on_tab(root, "T1");
        self.received.clear();
        session
    }
}
