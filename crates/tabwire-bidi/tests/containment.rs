//! A browser for guarded sessions: what waits, what fails, and what pages are judged by. Without a real Firefox.

use std::net::IpAddr;

use serde_json::{Value, json};
use tabwire_bidi::{BrowserFacts, EmulatedBrowser, Output, RequestHold};

struct Stage {
    browser: EmulatedBrowser,
    /// Commands to the browser, with their ids.
    sent: Vec<(u64, String, Value)>,
    frames: Vec<Value>,
    last: i64,
}

impl Stage {
    /// A contained browser with a session that waits for every new tab, as the mux does.
    fn started(resolves_names: bool) -> Self {
        let facts = BrowserFacts { anchor: Some("anchor".to_owned()), ..BrowserFacts::default() };
        let browser = EmulatedBrowser::contained("S", facts, RequestHold { resolves_names });
        let mut stage = Self { browser, sent: Vec::new(), frames: Vec::new(), last: 0 };
        stage.take();
        stage.respond("session.subscribe", &json!({}));
        assert!(stage.find("browser.getUserContexts").is_none(), "nothing goes on before the intercept");
        stage.respond("network.addIntercept", &json!({"intercept": "standing"}));
        stage.respond("script.addPreloadScript", &json!({"script": "fence"}));
        stage.respond("browser.getUserContexts", &json!({"userContexts": [{"userContext": "default"}]}));
        stage.respond("browsingContext.getTree", &json!({"contexts": []}));
        stage.respond("script.getRealms", &json!({"realms": []}));
        stage.ask(None, "Target.setAutoAttach", json!({"autoAttach": true, "waitForDebuggerOnStart": true}));
        stage.event(
            "browsingContext.contextCreated",
            json!({"context": "tab", "parent": null, "url": "about:blank", "userContext": "default"}),
        );
        stage
    }

    fn session(&self) -> String {
        let attached = self.frames.iter().find(|frame| frame["method"] == "Target.attachedToTarget");
        let params = attached.expect("it is attached")["params"].clone();
        assert_eq!(params["waitingForDebugger"], true, "a new tab waits: {params}");
        params["sessionId"].as_str().expect("a session").to_owned()
    }

    fn ask(&mut self, session: Option<&str>, method: &str, params: Value) {
        self.last += 1;
        let mut frame = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = session {
            frame["sessionId"] = json!(session);
        }
        self.browser.from_hub(frame.to_string().as_bytes());
        self.take();
    }

    fn event(&mut self, method: &str, params: Value) {
        let message = json!({"type": "event", "method": method, "params": params});
        self.browser.from_browser(message.to_string().as_bytes());
        self.take();
    }

    /// A document request of `context` that the standing intercept stops.
    fn request(&mut self, context: Option<&str>, number: &str, url: &str) {
        let request =
            json!({"request": number, "url": url, "method": "GET", "headers": [], "destination": "document"});
        let params = json!({
            "context": context, "isBlocked": true, "intercepts": ["standing"], "navigation": format!("N{number}"),
            "redirectCount": 0, "request": request, "timestamp": 1,
        });
        self.event("network.beforeRequestSent", params);
    }

    fn respond(&mut self, method: &str, result: &Value) {
        let at = self.sent.iter().position(|(_, sent, _)| sent == method);
        let (id, ..) = self.sent.remove(at.unwrap_or_else(|| panic!("no {method} in {:?}", self.sent)));
        let message = json!({"type": "success", "id": id, "result": result});
        self.browser.from_browser(message.to_string().as_bytes());
        self.take();
    }

    fn take(&mut self) {
        for output in self.browser.take_outputs() {
            match output {
                Output::ToHub(frame) => self.frames.push(serde_json::from_slice(&frame).expect("JSON")),
                Output::ToBrowser(text) => {
                    let sent: Value = serde_json::from_str(&text).expect("JSON");
                    let method = sent["method"].as_str().expect("a method").to_owned();
                    self.sent.push((sent["id"].as_u64().expect("an id"), method, sent["params"].clone()));
                }
                Output::MoveFile { .. } => {}
            }
        }
    }

    fn find(&self, method: &str) -> Option<&Value> {
        self.sent.iter().find(|(_, sent, _)| sent == method).map(|(_, _, params)| params)
    }

    fn events(&self, method: &str) -> Vec<&Value> {
        self.frames.iter().filter(|frame| frame["method"] == method).map(|frame| &frame["params"]).collect()
    }
}

#[test]
fn a_request_waits_until_its_tab_is_set_up_and_is_then_judged() {
    let mut stage = Stage::started(false);
    let session = stage.session();
    stage.request(Some("tab"), "1", "http://a.test/");
    assert!(stage.find("network.continueRequest").is_none() && stage.find("network.failRequest").is_none());
    stage.ask(
        Some(&session),
        "Fetch.enable",
        json!({"patterns": [{"urlPattern": "*", "resourceType": "Document"}]}),
    );
    assert!(stage.find("network.addIntercept").is_none(), "the standing intercept is enough");
    stage.ask(Some(&session), "Runtime.runIfWaitingForDebugger", json!({}));
    let paused = stage.events("Fetch.requestPaused")[0].clone();
    assert_eq!((&paused["frameId"], &paused["resourceType"]), (&json!("tab"), &json!("Document")));
    let refusal = json!({"requestId": paused["requestId"], "errorReason": "BlockedByClient"});
    stage.ask(Some(&session), "Fetch.failRequest", refusal);
    assert_eq!(stage.find("network.failRequest"), Some(&json!({"request": "1"})));
}

#[test]
fn requests_without_a_tab_and_of_a_tab_that_goes_fail() {
    let mut stage = Stage::started(false);
    stage.request(None, "7", "http://a.test/");
    assert_eq!(stage.find("network.failRequest"), Some(&json!({"request": "7"})));
    stage.respond("network.failRequest", &json!({}));
    stage.request(Some("tab"), "8", "http://a.test/");
    assert!(stage.find("network.failRequest").is_none());
    stage.event("browsingContext.contextDestroyed", json!({"context": "tab", "parent": null}));
    assert_eq!(stage.find("network.failRequest"), Some(&json!({"request": "8"})));
}

#[test]
fn a_page_comes_from_the_address_of_its_name() {
    let mut stage = Stage::started(true);
    let session = stage.session();
    stage.ask(Some(&session), "Network.enable", json!({}));
    stage.ask(Some(&session), "Runtime.runIfWaitingForDebugger", json!({}));
    stage.request(Some("tab"), "1", "http://a.test:81/x");
    let lookups = stage.browser.take_lookups();
    assert_eq!(lookups.iter().map(|lookup| lookup.host.as_str()).collect::<Vec<_>>(), ["a.test"]);
    assert!(stage.find("network.continueRequest").is_none(), "it waits for the address");
    stage.browser.resolved(lookups[0].number, Some(IpAddr::from([10, 0, 0, 1])));
    stage.take();
    assert_eq!(stage.find("network.continueRequest"), Some(&json!({"request": "1"})));
    let response =
        json!({"url": "http://a.test:81/x", "status": 200, "headers": [], "mimeType": "text/html"});
    stage.event(
        "network.responseStarted",
        json!({
            "context": "tab", "navigation": "N1", "timestamp": 2, "response": response,
            "request": {"request": "1", "url": "http://a.test:81/x", "destination": "document"},
        }),
    );
    let received = stage.events("Network.responseReceived")[0]["response"].clone();
    assert_eq!((&received["remoteIPAddress"], &received["remotePort"]), (&json!("10.0.0.1"), &json!(81)));

    // A name that cannot be resolved is not requested.
    stage.request(Some("tab"), "2", "http://b.test/");
    let lookup = stage.browser.take_lookups().remove(0);
    stage.browser.resolved(lookup.number, None);
    stage.take();
    assert_eq!(stage.find("network.failRequest"), Some(&json!({"request": "2"})));
}

#[test]
fn a_killed_content_process_is_reported_on_the_tab_and_on_the_browser() {
    let mut stage = Stage::started(false);
    stage.ask(None, "Target.setDiscoverTargets", json!({"discover": true}));
    for url in ["about:blank", "about:tabcrashed?e=tabcrashed&u=http%3A//a.test/"] {
        let params = json!({"context": "tab", "navigation": "N", "url": url, "timestamp": 1});
        stage.event("browsingContext.navigationCommitted", params);
    }
    assert_eq!(stage.events("Inspector.targetCrashed").len(), 1);
    let crashed = stage.events("Target.targetCrashed");
    assert_eq!(crashed.iter().map(|params| &params["targetId"]).collect::<Vec<_>>(), [&json!("tab")]);
    let params = json!({"context": "tab", "navigation": "M", "url": "http://a.test/", "timestamp": 2});
    stage.event("browsingContext.navigationCommitted", params);
    assert_eq!(stage.events("Inspector.targetReloadedAfterCrash").len(), 1);

    // A background tab only becomes blank, without a navigation that was started.
    let params = json!({"context": "tab", "navigation": "O", "url": "about:blank", "timestamp": 3});
    stage.event("browsingContext.navigationCommitted", params);
    let at = stage.sent.iter().position(|(_, sent, _)| sent == "script.callFunction").expect("it is tried");
    let (id, ..) = stage.sent.remove(at);
    let message = "not supported for parent process browsing contexts: 13";
    let refusal = json!({"type": "error", "id": id, "error": "unsupported operation", "message": message});
    stage.browser.from_browser(refusal.to_string().as_bytes());
    stage.take();
    assert_eq!(stage.events("Target.targetCrashed").len(), 2);
}

#[test]
fn documents_whose_host_is_being_resolved_are_bounded() {
    let mut stage = Stage::started(true);
    let session = stage.session();
    stage.ask(Some(&session), "Runtime.runIfWaitingForDebugger", json!({}));
    let mut asked = 0;
    for number in 0..1_100 {
        stage.request(Some("tab"), &number.to_string(), &format!("http://h{number}.test/"));
        asked += stage.browser.take_lookups().len();
    }
    let failed = stage.sent.iter().filter(|(_, method, _)| method == "network.failRequest").count();
    assert_eq!((asked, failed), (1_024, 76));
    // One that is resolved makes room for the next.
    stage.browser.resolved(u64::MAX, None);
    stage.request(Some("tab"), "late", "http://late.test/");
    assert!(stage.browser.take_lookups().is_empty(), "an unknown answer makes no room");
}
