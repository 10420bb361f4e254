//! Every method of the table against five pages, two requests and every single grant, with a simulated browser.

use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::ClientId;
use tabwire_mux::{ClientOptions, Mux, Output, Share, SharedGuard};
use tabwire_policy::{
    Capability, Effect, EntryKind, EventReach, GrantTerm, MethodRule, Profile, Reach, Site,
};

use crate::paths::Paths;
use crate::policy::cdp_guard::{CommandGuard, GuardedClient};
use crate::policy::store::PolicyStore;

const CLIENT: ClientId = ClientId(1);

/// The page a command is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    /// Of the site that was granted.
    Granted,
    /// Of another site.
    Ungranted,
    /// Granted, with a frame of another origin in the same process.
    NearFrame,
    /// Granted, with a frame of another site in another process.
    FarFrame,
    /// `about:blank`.
    Blank,
}

const PAGES: [Page; 5] = [Page::Granted, Page::Ungranted, Page::NearFrame, Page::FarFrame, Page::Blank];

/// The rules, in the order in which they hold.
fn is_allowed(page: Page, is_cdp: bool, method: &str, is_own_request: bool) -> bool {
    let MethodRule { reach, effect } = MethodRule::of(method);
    match (reach, page) {
        // Always allowed: dismissing a dialog, and continuing or failing a paused request.
        _ if ALWAYS_ALLOWED.contains(&method) => true,
        (Reach::Setting, _) => true,
        // The client has received no stream handle and no history entry.
        (Reach::Refused | Reach::EverySite | Reach::Stream, _) => false,
        (Reach::Navigation, _) => is_cdp && method != "Page.navigateToHistoryEntry",
        (Reach::Request, _) => is_cdp && is_own_request,
        (_, Page::Blank) => effect == Effect::Reads,
        (_, Page::Granted) => is_cdp,
        (_, Page::Ungranted) => false,
        (_, Page::NearFrame) => is_cdp && reach == Reach::Frame,
        (_, Page::FarFrame) => is_cdp && reach != Reach::Page,
    }
}

const ALWAYS_ALLOWED: &[&str] = &[
    "Fetch.continueRequest",
    "Fetch.continueResponse",
    "Fetch.continueWithAuth",
    "Fetch.failRequest",
    "Page.handleJavaScriptDialog",
];

/// A mux with one guarded client on one page. The test calls it directly, without I/O.
struct Bench {
    mux: Mux,
    page: Page,
    now: Instant,
    sessions: usize,
    /// Commands of the client that the browser has received and not responded to: id, method.
    held: Vec<(Value, String)>,
    is_holding: bool,
    inbox: Vec<Value>,
    last: i64,
    _home: tempfile::TempDir,
}

fn session(number: usize) -> String {
    format!("S{number}")
}

impl Bench {
    fn new(page: Page, grant: Capability) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let paths = Paths::below(home.path());
        for directory in [&paths.config, &paths.state] {
            std::fs::create_dir_all(directory).expect("a directory");
        }
        let store = Arc::new(PolicyStore::open(&paths).expect("a store"));
        let stance =
            EntryKind::Grant { capabilities: [grant].into_iter().collect(), term: GrantTerm::Always };
        let site = Site::parse("https://a.example").expect("a site");
        store.change(|ledger, now| ledger.add(site, stance, now, "a test")).expect("granted");
        let guard =
            CommandGuard::new(store, GuardedClient::CdpClient, Profile::Guarded, "s".to_owned(), true);
        let now = Instant::now();
        let mut bench = Self {
            mux: Mux::new(),
            page,
            now,
            sessions: 0,
            held: Vec::new(),
            is_holding: false,
            inbox: Vec::new(),
            last: 0,
            _home: home,
        };
        bench.mux.start(None, now);
        let guard = Some(SharedGuard(Arc::new(guard)));
        let options = ClientOptions { guard, share: Share::UserTabs, ..ClientOptions::default() };
        bench.mux.client_joined(CLIENT, options, now);
        bench.pump();
        bench.open_page();
        bench
    }

    fn url(&self) -> &'static str {
        match self.page {
            Page::Ungranted => "https://b.example/CANARY",
            Page::Blank => "about:blank",
            _ => "https://a.example/x",
        }
    }

    fn info(&self) -> Value {
        let title = if self.page == Page::Ungranted { "CANARY" } else { "" };
        json!({"targetId": "T", "type": "page", "title": title, "url": self.url(), "attached": true})
    }

    fn tree(&self) -> Value {
        let mut tree = json!({"frame": {"id": "T", "url": self.url()}, "resources": []});
        if self.page == Page::NearFrame {
            let frame =
                json!({"id": "F", "parentId": "T", "url": "https://v.a.example/CANARY", "name": "CANARY"});
            tree["childFrames"] =
                json!([{"frame": frame, "resources": [{"url": "https://v.a.example/CANARY"}]}]);
        }
        tree
    }

    /// The control session is session 1, the client's root session 2; both are attached to the page.
    fn open_page(&mut self) {
        let attached =
            |id: &str, info: Value| json!({"sessionId": id, "targetInfo": info, "waitingForDebugger": false});
        self.event(&session(1), "Target.attachedToTarget", attached("H", self.info()));
        if self.page == Page::FarFrame {
            let info = json!({"targetId": "I", "type": "iframe", "title": "CANARY", "url": "https://b.example/CANARY",
                              "parentId": "T", "parentFrameId": "T", "attached": false});
            self.event(&session(1), "Target.targetCreated", json!({"targetInfo": info}));
        }
        self.event(&session(2), "Target.attachedToTarget", attached("C", self.info()));
        let contexts = [(1, "T"), (7, if self.page == Page::NearFrame { "F" } else { "T" })];
        for (id, frame) in contexts {
            let context = json!({"id": id, "origin": "", "name": "", "auxData": {"frameId": frame}});
            self.event("C", "Runtime.executionContextCreated", json!({"context": context}));
        }
        for (id, url) in [("own", "https://a.example/y"), ("other", "https://v.a.example/CANARY")] {
            let sent = json!({"requestId": id, "frameId": "T", "type": "Document", "request": {"url": url}});
            self.event("C", "Network.requestWillBeSent", sent);
        }
    }

    fn event(&mut self, session: &str, method: &str, params: Value) {
        let frame = json!({"method": method, "params": params, "sessionId": session}).to_string();
        self.mux.from_browser(BytesMut::from(frame.as_bytes()), self.now);
        self.pump();
    }

    /// Executes the outputs of the mux until there are none.
    fn pump(&mut self) {
        loop {
            let outputs = self.mux.take_outputs();
            if outputs.is_empty() {
                return;
            }
            for output in outputs {
                match output {
                    Output::ToBrowser(frame) => {
                        self.respond(&serde_json::from_slice(&frame).expect("a command"));
                    }
                    Output::ToClient { frame, .. } => {
                        self.inbox.push(serde_json::from_slice(&frame).expect("a frame"));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Responds to a command as a browser would.
    fn respond(&mut self, command: &Value) {
        let (method, on) = (command["method"].as_str().unwrap_or_default(), command["sessionId"].as_str());
        let is_clients = matches!(on, Some("C" | "S2"));
        if is_clients && self.is_holding {
            return self.held.push((command["id"].clone(), method.to_owned()));
        }
        let result = match method {
            "Target.attachToBrowserTarget" => {
                self.sessions += 1;
                json!({"sessionId": session(self.sessions)})
            }
            "Target.attachToTarget" if !is_clients => {
                let info = json!({"targetId": "I", "type": "iframe", "title": "", "url": "https://b.example/CANARY", "parentId": "T", "parentFrameId": "T"});
                let params = json!({"sessionId": "HI", "targetInfo": info, "waitingForDebugger": false});
                let event = json!({"method": "Target.attachedToTarget", "params": params, "sessionId": on});
                self.mux.from_browser(BytesMut::from(event.to_string().as_bytes()), self.now);
                json!({"sessionId": "HI"})
            }
            "Page.getFrameTree" if on == Some("HI") => {
                json!({"frameTree": {"frame": {"id": "I", "url": "https://b.example/CANARY"}}})
            }
            "Page.getFrameTree" | "Page.getResourceTree" => json!({"frameTree": self.tree()}),
            "Page.getNavigationHistory" => {
                let title = if self.url().contains("CANARY") { "CANARY" } else { "" };
                json!({"entries": [{"id": 1, "url": self.url(), "userTypedURL": self.url(), "title": title}]})
            }
            "Target.getTargetInfo" => json!({"targetInfo": self.info()}),
            "Target.getTargets" => json!({"targetInfos": [self.info()]}),
            _ => json!({}),
        };
        self.reply(&command["id"], on, result);
    }

    fn reply(&mut self, id: &Value, on: Option<&str>, result: Value) {
        let mut frame = json!({"id": id, "result": result});
        if let Some(on) = on {
            frame["sessionId"] = json!(on);
        }
        // Chromium writes the id first.
        let mut text = format!(r#"{{"id":{id},"result":{}"#, frame["result"]);
        text.push_str(&on.map(|on| format!(r#","sessionId":"{on}""#)).unwrap_or_default());
        text.push('}');
        self.mux.from_browser(BytesMut::from(text.as_bytes()), self.now);
    }

    /// Sends a command of the client on the page.
    fn send(&mut self, method: &str, params: &Value) -> i64 {
        self.last += 1;
        let frame =
            json!({"id": self.last, "method": method, "params": params, "sessionId": "C"}).to_string();
        self.mux.from_client(CLIENT, BytesMut::from(frame.as_bytes()), self.now);
        self.pump();
        self.last
    }

    /// Whether the policy allowed a command.
    fn passes_guard(&mut self, method: &str, params: &Value) -> bool {
        let id = self.send(method, params);
        let response = self.inbox.iter().find(|frame| frame["id"] == id);
        let response = response.unwrap_or_else(|| panic!("{method} got no response"));
        response["error"]["data"] != "POLICY_DENIED"
    }

    fn assert_no_canary(&self, what: &str) {
        let leaked = self.inbox.iter().find(|frame| frame.to_string().contains("CANARY"));
        assert!(leaked.is_none(), "{what}: {leaked:?}");
    }
}

/// These end the client or its session.
const ENDING: &[&str] = &["Browser.close"];

const SINGLE_GRANTS: [Capability; 6] = [
    Capability::Read,
    Capability::Act,
    Capability::Eval,
    Capability::Download,
    Capability::Upload,
    Capability::Cdp,
];

#[test]
fn h2_every_method_follows_the_rules_on_every_page_and_grant() {
    let mut cells = 0;
    for grant in SINGLE_GRANTS {
        let is_cdp = grant == Capability::Cdp;
        for page in PAGES {
            let mut bench = Bench::new(page, grant);
            for (method, _) in MethodRule::all().filter(|(method, _)| !ENDING.contains(method)) {
                for (request, is_own) in [("own", true), ("other", false)] {
                    let mut params = json!({"requestId": request, "flatten": true});
                    if matches!(method, "Page.navigate" | "Target.createTarget") {
                        params["url"] = json!("https://a.example/z");
                    }
                    let expected = is_allowed(page, is_cdp, method, is_own);
                    let found = bench.passes_guard(method, &params);
                    assert_eq!(found, expected, "{method}, {page:?}, {grant:?}, request {request}");
                    cells += 1;
                }
            }
            bench.assert_no_canary(&format!("{page:?}, {grant:?}"));
        }
    }
    assert!(cells > 30_000, "{cells} cells");
}

#[test]
fn h2_m8_events_of_ungranted_sites_are_withheld() {
    for (page, frame, context, request) in [
        (Page::NearFrame, "F", 7, "other"),
        (Page::Ungranted, "T", 1, "other"),
        (Page::Granted, "T", 1, "own"),
    ] {
        let mut bench = Bench::new(page, Capability::Cdp);
        for (event, reach) in EventReach::all().filter(|(_, reach)| *reach != EventReach::Plain) {
            bench.inbox.clear();
            let params = json!({
                "frameId": frame, "executionContextId": context, "requestId": request, "text": "CANARY",
                "request": {"url": if request == "own" { "https://a.example/y" } else { "https://v.a.example/CANARY" }},
                "exceptionDetails": {"executionContextId": context}, "entry": {"text": "CANARY"}, "header": {},
            });
            bench.event("C", event, params);
            let is_received = bench.inbox.iter().any(|frame| frame["method"] == event);
            assert_eq!(is_received, page == Page::Granted, "{event} ({reach:?}) on {page:?}");
        }
        bench.inbox.clear();
        for event in ["Audits.issueAdded", "Tracing.dataCollected", "Surprise.happened"] {
            bench.event("C", event, json!({"text": "CANARY"}));
        }
        bench.assert_no_canary("events that may be of any site");
    }
}

#[test]
fn h2_a_response_is_withheld_if_an_ungranted_frame_appeared() {
    let mut bench = Bench::new(Page::Granted, Capability::Cdp);
    bench.is_holding = true;
    let methods = ["DOM.getDocument", "Page.captureScreenshot", "Runtime.evaluate"];
    let ids: Vec<i64> = methods.iter().map(|method| bench.send(method, &json!({}))).collect();
    let frame = json!({"id": "N", "parentId": "T", "url": "https://v.a.example/CANARY"});
    bench.event("H", "Page.frameAttached", json!({"frameId": "N", "parentFrameId": "T"}));
    bench.event("H", "Page.frameNavigated", json!({"frame": frame}));
    assert!(!bench.passes_guard("DOM.getDocument", &json!({})));
    bench.event("H", "Page.frameDetached", json!({"frameId": "N", "reason": "remove"}));
    for (id, method) in std::mem::take(&mut bench.held) {
        bench.reply(
            &id,
            Some("C"),
            json!({"content": if method == "Runtime.evaluate" { "own" } else { "CANARY" }}),
        );
    }
    bench.pump();
    bench.assert_no_canary("responses");
    let errors: Vec<bool> = ids
        .iter()
        .map(|id| bench.inbox.iter().any(|frame| frame["id"] == *id && frame.get("error").is_some()))
        .collect();
    assert_eq!(errors, [true, true, false], "what ran in the main frame is returned");
    bench.is_holding = false;
    assert!(bench.passes_guard("DOM.getDocument", &json!({})), "the frame is gone");
}

#[test]
fn h2_contexts_objects_and_elements_are_judged_by_their_frame() {
    let mut bench = Bench::new(Page::NearFrame, Capability::Cdp);
    for (params, is_allowed) in [
        (json!({"contextId": 1}), true),
        (json!({"contextId": 7}), false),
        (json!({"contextId": 99}), false),
        (json!({"contextId": 1, "objectId": "5.7.1"}), false),
        (json!({"objectId": "5.1.1"}), true),
        (json!({"objectId": "5.7.1"}), false),
        (json!({"objectId": "7"}), false),
        (json!({"uniqueContextId": "?"}), false),
        (json!({"executionContextId": 7}), false),
        (json!({"executionContextId": 0}), false),
        (json!({}), true),
    ] {
        assert_eq!(bench.passes_guard("Runtime.callFunctionOn", &params), is_allowed, "{params}");
    }
    for (frame, is_own, may_go) in [("T", true, true), ("F", false, true), ("?", false, false)] {
        let params = json!({"frameId": frame, "html": "", "url": "https://a.example/"});
        assert_eq!(bench.passes_guard("Page.setDocumentContent", &params), is_own, "{frame}");
        assert_eq!(bench.passes_guard("Page.navigate", &params), may_go, "{frame}");
    }
    let twice = r#"{"id":9000,"method":"Page.setDocumentContent","params":{"frameId":"T","frameId":"F"},"sessionId":"C"}"#;
    bench.mux.from_client(CLIENT, BytesMut::from(twice.as_bytes()), bench.now);
    bench.pump();
    assert!(bench.inbox.iter().any(|frame| frame["id"] == 9000 && frame["error"]["data"] == "POLICY_DENIED"));
    // Elements are numbered by process: a tab of the same site that was not granted may have the element.
    let mut bench = Bench::new(Page::Granted, Capability::Cdp);
    let element = json!({"backendNodeId": 5});
    assert!(bench.passes_guard("DOM.describeNode", &element));
    let info = json!({"targetId": "O", "type": "page", "title": "", "url": "https://v.a.example/", "attached": false});
    bench.event(&session(1), "Target.targetCreated", json!({"targetInfo": info}));
    assert!(!bench.passes_guard("DOM.describeNode", &element));
    assert!(bench.passes_guard("DOM.describeNode", &json!({"nodeId": 5})));
}
