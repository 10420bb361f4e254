//! Bare CDP clients with a grant for one site: ungranted frames, requests and tabs stay hidden.

mod methods;
mod stock_clients;

use serde_json::{Value, json};

use crate::policy::grants::{allow, guarded};
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

/// Text of ungranted pages.
const CANARY: &str = "CANARY";

/// A guarded session in which a CDP client may drive site `a`.
pub(crate) struct Driven {
    /// Dropped before the world.
    pub(crate) client: CdpClient,
    pub(crate) site: FixtureSite,
    pub(crate) world: World,
}

impl Driven {
    pub(crate) fn new() -> Self {
        let (world, site) = (guarded().with_whole_chromium(), FixtureSite::start());
        allow(&world, &[&origin(&site, "a"), "--cdp"]);
        world.run(&["open", "about:blank"]).succeeded();
        let client = CdpClient::connect(&world.cdp_url());
        Self { world, site, client }
    }

    /// Opens a page and waits until it is loaded.
    pub(crate) fn open(&mut self, url: &str) -> String {
        let session = self.client.open_page(url).session;
        for domain in ["Page", "Runtime", "Network", "Log", "DOM"] {
            self.client.call(&format!("{domain}.enable"), json!({}), Some(&session));
        }
        let client = &mut self.client;
        eventually("the page is there", 15, || {
            let read =
                json!({"expression": "document.readyState + location.protocol", "returnByValue": true});
            let response = client.ask("Runtime.evaluate", read, Some(&session));
            response["result"]["result"]["value"] == "completehttp:"
        });
        session
    }

    /// Waits until a granted page has a title.
    pub(crate) fn shows(&mut self, session: &str, title: &str) {
        let client = &mut self.client;
        eventually("the page is there", 15, || {
            let read = json!({"expression": "document.title", "returnByValue": true});
            client.ask("Runtime.evaluate", read, Some(session))["result"]["result"]["value"] == title
        });
    }

    /// Adds a frame to a page of site `a`, waits until it is loaded, and returns its id.
    pub(crate) fn add_frame(&mut self, session: &str, url: &str) -> String {
        let known = self.frames(session);
        let code = format!(
            "new Promise((done) => {{ const f = document.createElement('iframe'); f.onload = () => done(1); f.src = '{url}'; \
             document.body.append(f); }})"
        );
        self.client.evaluate(&code, session);
        // A frame in another process is not part of the page's frame tree.
        self.frames(session).into_iter().find(|frame| !known.contains(frame)).unwrap_or_default()
    }

    fn frames(&mut self, session: &str) -> Vec<String> {
        let tree = self.client.call("Page.getFrameTree", json!({}), Some(session));
        let children = tree["frameTree"]["childFrames"].as_array().cloned().unwrap_or_default();
        children.iter().filter_map(|child| child["frame"]["id"].as_str().map(str::to_owned)).collect()
    }

    /// Sends a command that must be refused; returns the error message.
    fn refused(&mut self, method: &str, params: Value, session: &str) -> String {
        let response = self.client.ask(method, params.clone(), Some(session));
        assert_eq!(response["error"]["data"], "POLICY_DENIED", "{method} {params}: {response}");
        assert!(!response.to_string().contains(CANARY), "{method}: {response}");
        response["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    fn check_no_leak(&self) {
        let output = self.client.unread_events().find(|event| event.to_string().contains(CANARY));
        assert!(output.is_none(), "{output:?}");
    }
}

pub(crate) fn origin(site: &FixtureSite, name: &str) -> String {
    site.url(name, "").trim_end_matches('/').to_owned()
}

#[test]
fn h2_no_method_returns_content_of_ungranted_frames() {
    let mut driven = Driven::new();
    let (page, near, far) =
        (driven.site.page("/plain"), driven.site.url("x.a", "/canary"), driven.site.url("b", "/canary"));
    let session = driven.open(&page);
    driven.client.call("Page.captureScreenshot", json!({}), Some(&session));
    let remedy = format!("tabwire allow {} --cdp", origin(&driven.site, "x.a"));
    let frame = driven.add_frame(&session, &near);
    let whole = [
        ("DOMSnapshot.captureSnapshot", json!({"computedStyles": []})),
        ("DOM.getDocument", json!({"depth": -1, "pierce": true})),
        ("DOM.getDocument", json!({})),
        ("Accessibility.getFullAXTree", json!({})),
        ("Page.captureSnapshot", json!({})),
        ("Page.captureScreenshot", json!({})),
        ("Page.printToPDF", json!({})),
        ("Page.getAnnotatedPageContent", json!({})),
        ("Page.startScreencast", json!({})),
        ("Input.dispatchKeyEvent", json!({"type": "keyDown", "key": "x", "text": "x"})),
        ("Page.setDocumentContent", json!({"frameId": frame, "html": "mine"})),
        ("Page.createIsolatedWorld", json!({"frameId": frame})),
        ("DOM.getOuterHTML", json!({"backendNodeId": 1})),
        ("Debugger.enable", json!({})),
    ];
    for (method, params) in whole {
        let output = driven.refused(method, params, &session);
        assert!(output.contains(&remedy), "{method}: {output}");
    }
    for context in 1..40 {
        let read = json!({"contextId": context, "expression": "document.title", "returnByValue": true});
        let response = driven.client.ask("Runtime.evaluate", read, Some(&session));
        assert!(!response.to_string().contains(CANARY), "context {context}: {response}");
    }
    // The page itself stays usable.
    assert_eq!(driven.client.evaluate("document.title", &session), "Plain page");
    driven.check_no_leak();

    // A frame in its own process is visible in images of the page only.
    let session = driven.open(&page);
    driven.add_frame(&session, &far);
    for method in
        ["Page.captureScreenshot", "Page.captureSnapshot", "Page.printToPDF", "Page.getAnnotatedPageContent"]
    {
        let output = driven.refused(method, json!({}), &session);
        assert!(output.contains(&origin(&driven.site, "b")), "{method}: {output}");
    }
    driven.client.call("DOM.getDocument", json!({"depth": -1, "pierce": true}), Some(&session));
    driven.check_no_leak();
    allow(&driven.world, &[&origin(&driven.site, "b"), "--cdp"]);
    driven.client.call("Page.captureScreenshot", json!({}), Some(&session));
}

#[test]
fn h2_requests_and_paused_responses_are_judged_by_their_url() {
    let mut driven = Driven::new();
    let (near, own) = (driven.site.url("x.a", "/canary"), driven.site.page("/plain?own"));
    let session = driven.open(&driven.site.page("/plain"));
    // A body that the page itself may not read, and one that it may.
    allow(&driven.world, &[&origin(&driven.site, "x.a"), "--cdp"]);
    let mut ids = Vec::new();
    for url in [&near, &own] {
        driven
            .client
            .evaluate(&format!("fetch('{url}', {{mode: 'no-cors'}}).then((r) => r.text())"), &session);
        let sent = driven
            .client
            .event("Network.requestWillBeSent", |event| event["params"]["request"]["url"] == *url);
        ids.push(sent["params"]["requestId"].clone());
    }
    driven.world.run(&["grants", "revoke", &origin(&driven.site, "x.a"), "--without-terminal"]).succeeded();
    driven.refused("Network.getResponseBody", json!({"requestId": ids[0]}), &session);
    driven.refused("Network.getResponseBody", json!({"requestId": "7.7"}), &session);
    driven.client.call("Network.getResponseBody", json!({"requestId": ids[1]}), Some(&session));
    let resource = json!({"url": driven.site.page("/plain"), "options": {"disableCache": false, "includeCredentials": true}});
    driven.refused("Network.loadNetworkResource", resource, &session);
    driven.refused("IO.read", json!({"handle": "1"}), &session);
    let printed =
        driven.client.call("Page.printToPDF", json!({"transferMode": "ReturnAsStream"}), Some(&session));
    driven.client.call("IO.read", json!({"handle": printed["stream"], "size": 10}), Some(&session));

    // Paused requests of the other site show only their origin, and can only be continued or failed.
    driven.client.call(
        "Fetch.enable",
        json!({"patterns": [{"urlPattern": "*canary*"}, {"urlPattern": "*own*"}]}),
        Some(&session),
    );
    for (url, is_granted) in [(&near, false), (&own, true)] {
        let code = format!("void fetch('{url}&held', {{mode: 'no-cors'}})").replace("canary&", "canary?");
        driven.client.evaluate(&code, &session);
        let held = driven.client.event("Fetch.requestPaused", |_| true);
        assert_eq!(
            held["params"]["request"]["url"].as_str().is_some_and(|url| url.contains("held")),
            is_granted,
            "{held}"
        );
        let id = held["params"]["requestId"].clone();
        let rewritten = json!({"requestId": id, "headers": [{"name": "x", "value": "y"}]});
        let fulfilment = json!({"requestId": id, "responseCode": 200, "body": "bWluZQ=="});
        if is_granted {
            driven.client.call("Fetch.fulfillRequest", fulfilment, Some(&session));
        } else {
            driven.refused("Fetch.fulfillRequest", fulfilment, &session);
            driven.refused("Fetch.continueRequest", rewritten, &session);
            driven.client.call("Fetch.continueRequest", json!({"requestId": id}), Some(&session));
        }
    }
    driven.client.call("Fetch.disable", json!({}), Some(&session));
    driven.check_no_leak();
}

#[test]
fn h2_code_and_navigations_are_checked_on_every_hop() {
    let mut driven = Driven::new();
    let near = driven.site.url("x.a", "/report/hop");
    let blank = driven.client.open_page("about:blank").session;
    driven.client.call("DOM.getDocument", json!({}), Some(&blank));
    let output = driven.refused("Runtime.evaluate", json!({"expression": "1"}), &blank);
    assert!(output.contains("tabwire allow '*' --cdp"), "{output}");
    let main = json!({"frameId": "x", "html": "mine"});
    driven.refused("Page.setDocumentContent", main, &blank);
    let universal = json!({"originsWithUniversalNetworkAccess": [origin(&driven.site, "a")]});
    let response = driven.client.ask("Target.createBrowserContext", universal, None);
    assert_eq!(response["error"]["data"], "POLICY_DENIED", "{response}");

    // A redirect of a frame to an ungranted site sends no request there.
    let session = driven.open(&driven.site.page("/plain"));
    let frame = driven.add_frame(&session, &driven.site.page("/form"));
    let hop = driven.site.page(&format!("/redirect/to?to={}", near.replace(':', "%3A").replace('/', "%2F")));
    driven.client.ask("Page.navigate", json!({"frameId": frame, "url": hop}), Some(&session));
    eventually("the first hop was asked for", 10, || driven.site.request_count("/redirect/to") > 0);
    let after = json!({"frameId": frame, "url": driven.site.page("/report/after")});
    driven.client.ask("Page.navigate", after, Some(&session));
    eventually("the next one was asked for", 10, || driven.site.request_count("/report/after") > 0);
    assert_eq!(driven.site.request_count("/report/hop"), 0);
    driven.refused("Page.navigate", json!({"frameId": frame, "url": near}), &session);
    driven.refused("Page.reload", json!({"scriptToEvaluateOnLoad": "1"}), &session);
    driven.client.call("Page.reload", json!({}), Some(&session));
    driven.refused("Page.navigateToHistoryEntry", json!({"entryId": 1}), &session);
}

#[test]
fn m8_no_event_or_response_contains_url_or_title_of_an_ungranted_tab() {
    let mut driven = Driven::new();
    let other = origin(&driven.site, "b");
    allow(&driven.world, &[&other, "--cdp"]);
    let secret = driven.site.url("b", "/canary?CANARY-token");
    let made = driven.client.call("Target.createTarget", json!({"url": secret}), None);
    let target = made["targetId"].as_str().expect("an id").to_owned();
    let first = driven.client.attach(&target);
    driven.shows(&first, "CANARY-title");
    driven.world.run(&["grants", "revoke", &other, "--without-terminal"]).succeeded();
    while driven.client.unread_events().next().is_some() {
        let method = driven.client.unread_events().next().expect("one")["method"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        driven.client.event(&method, |_| true);
    }
    driven.client.call("Target.setDiscoverTargets", json!({"discover": true}), None);
    driven.client.call(
        "Target.setAutoAttach",
        json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true}),
        None,
    );
    let session = driven.client.attach(&target);
    for method in ["Page.enable", "Runtime.enable", "Network.enable", "Log.enable", "DOM.enable"] {
        driven.client.call(method, json!({}), Some(&session));
    }
    for method in [
        "Page.getFrameTree",
        "Page.getResourceTree",
        "Page.getNavigationHistory",
        "Target.getTargetInfo",
        "Target.getTargets",
    ] {
        let response = driven.client.ask(method, json!({}), Some(&session));
        assert!(
            response.get("error").is_none() && !response.to_string().contains(CANARY),
            "{method}: {response}"
        );
    }
    let output = driven.client.ask("Target.getTargetInfo", json!({"targetId": target}), None);
    assert!(output["result"]["targetInfo"]["url"] == "" && !output.to_string().contains(CANARY), "{output}");
    driven.client.call("Page.reload", json!({}), Some(&session));
    driven.client.event("Page.frameNavigated", |event| event["sessionId"] == session.as_str());
    driven.client.event("Page.loadEventFired", |event| event["sessionId"] == session.as_str());
    driven.refused("Page.reload", json!({"scriptToEvaluateOnLoad": "1"}), &session);
    driven.check_no_leak();
}

#[test]
fn p3_no_grant_lets_a_page_use_the_protocol() {
    let mut driven = Driven::new();
    allow(&driven.world, &["*", "--cdp", "--act", "--eval"]);
    let url = driven.site.page("/plain");
    let created = driven.client.call("Target.createTarget", json!({"url": url}), None);
    let target = created["targetId"].as_str().expect("an id");
    let session = driven.client.attach(target);
    let exposed = json!({"targetId": target, "bindingName": "cdp"});
    let refused = driven.client.ask("Target.exposeDevToolsProtocol", exposed, None);
    let sentence = refused["error"]["message"].as_str().expect("a message").to_owned();
    assert_eq!(refused["error"]["data"], "POLICY_DENIED", "{refused}");
    assert!(sentence.contains("Target.exposeDevToolsProtocol"), "{sentence}");
    let found = driven.client.evaluate("typeof window.cdp", &session);
    assert_eq!(found, "undefined", "nothing was added to the page");
}

#[test]
fn l6_a_command_with_a_null_session_gets_a_response() {
    let mut driven = Driven::new();
    for session in [Value::Null, json!(1)] {
        driven.client.say(&json!({"id": 77_001, "method": "Browser.getVersion", "sessionId": session}));
        let response = driven.client.response(77_001);
        assert_eq!(response["error"]["code"], -32600, "{response}");
    }
    let found = find_eventually(5, || {
        driven.client.ask("Browser.getVersion", json!({}), None).get("result").cloned()
    });
    assert!(found.is_some());
}
