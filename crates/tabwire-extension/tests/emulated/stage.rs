//! What stands around the emulated browser in these tests: a hub that writes frames and an extension that is told
//! what to say.

use serde_json::{Value, json};
use tabwire_extension::link_message::{BrowserInfo, BrowserState, ChromeTab, TabDescription};
use tabwire_extension::{EmulatedBrowser, Output};

pub(crate) struct Stage {
    pub(crate) browser: EmulatedBrowser,
    next_id: i64,
    /// What the extension was asked and has not been told to respond, in order.
    asked: Vec<Value>,
    /// What the hub was sent, in order.
    heard: Vec<Value>,
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
        let mut stage = Self { browser, next_id: 0, asked: Vec::new(), heard: Vec::new() };
        stage.collect();
        stage
    }

    pub(crate) fn collect(&mut self) {
        for output in self.browser.take_outputs() {
            match output {
                Output::ToHub(frame) => self.heard.push(serde_json::from_slice(&frame).expect("a frame")),
                Output::ToExtension(text) => self.asked.push(serde_json::from_str(&text).expect("a message")),
            }
        }
    }

    /// The hub sends a command; gives the id it was sent with.
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

    /// Sends a command and takes its response, which must have been given at once.
    pub(crate) fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.send(session, method, params);
        self.answer(id).unwrap_or_else(|| panic!("{method} has no answer yet"))
    }

    /// Takes the response to a command; the session it was asked on is checked by the caller.
    pub(crate) fn answer(&mut self, id: i64) -> Option<Value> {
        let at = self.heard.iter().position(|frame| frame["id"] == id)?;
        Some(self.heard.remove(at))
    }

    /// Takes the events heard so far as `method session`.
    pub(crate) fn events(&mut self) -> Vec<String> {
        let (events, rest) =
            std::mem::take(&mut self.heard).into_iter().partition(|frame| frame.get("method").is_some());
        self.heard = rest;
        let events: Vec<Value> = events;
        let name = |event: &Value, field: &str| event[field].as_str().unwrap_or("-").to_owned();
        events.iter().map(|event| format!("{} {}", name(event, "method"), name(event, "sessionId"))).collect()
    }

    /// Takes the newest event of a kind.
    pub(crate) fn event(&mut self, method: &str) -> Option<Value> {
        let at = self.heard.iter().rposition(|frame| frame["method"] == method)?;
        Some(self.heard.remove(at))
    }

    /// What the extension was asked and has not answered, as `do method`.
    pub(crate) fn asked(&self) -> Vec<String> {
        let line = |one: &Value| match one["params"]["method"].as_str() {
            Some(method) => format!("{} {method}", one["command"].as_str().unwrap_or("?")),
            None if one["command"] == "settle" && one["params"]["tab"].is_null() => "settle all".to_owned(),
            None => one["command"].as_str().unwrap_or("?").to_owned(),
        };
        self.asked.iter().map(line).collect()
    }

    /// The extension does the oldest thing it was asked.
    pub(crate) fn does(&mut self, ok: Value) -> Value {
        assert!(!self.asked.is_empty(), "nothing was asked");
        let asked = self.asked.remove(0);
        self.says(json!({"id": asked["id"], "result": ok}));
        asked
    }

    /// The extension does everything it was asked, and what follows from that.
    pub(crate) fn does_all(&mut self) {
        while !self.asked.is_empty() {
            let tree = json!({"frameTree": {"frame": {"id": "T1"}}});
            let is_attach = self.asked[0]["command"] == "attach";
            self.does(if is_attach { tree } else { json!({}) });
        }
    }

    /// The extension refuses the oldest thing it was asked.
    pub(crate) fn refuses(&mut self, code: &str, message: &str) {
        let asked = self.asked.remove(0);
        self.says(json!({"id": asked["id"], "error": {"code": code, "message": message}}));
    }

    pub(crate) fn says(&mut self, message: Value) {
        self.browser.from_extension(message.to_string().as_bytes());
        self.collect();
    }

    pub(crate) fn tells(&mut self, event: &str, with: Value) {
        self.says(json!({"event": event, "data": with}));
    }

    /// The extension passes an event of a page on.
    pub(crate) fn page_says(&mut self, tab: i64, session: Option<&str>, method: &str, params: Value) {
        self.says(
            json!({"event": "cdp", "tab": tab, "session": session, "method": method, "params": params}),
        );
    }

    /// A browser-level cdp session.
    pub(crate) fn root(&mut self) -> String {
        let answer = self.call(None, "Target.attachToBrowserTarget", json!({}));
        answer["result"]["sessionId"].as_str().expect("a session").to_owned()
    }

    /// A cdp session on a tab.
    pub(crate) fn on_tab(&mut self, root: &str, target: &str) -> String {
        let params = json!({"targetId": target, "flatten": true});
        let answer = self.call(Some(root), "Target.attachToTarget", params);
        answer["result"]["sessionId"].as_str().expect("a session").to_owned()
    }

    /// A cdp session on the first tab, which is attached.
    pub(crate) fn working(&mut self) -> (String, String) {
        let root = self.root();
        let session = self.on_tab(&root, "T1");
        self.send(Some(&session), "Runtime.evaluate", json!({}));
        self.does_all();
        self.heard.clear();
        (root, session)
    }

    /// A second session on the first tab.
    pub(crate) fn second(&mut self, root: &str) -> String {
        let session = self.on_tab(root, "T1");
        self.heard.clear();
        session
    }
}
