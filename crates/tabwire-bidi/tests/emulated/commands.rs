//! Single commands: what they send, what they answer.

use serde_json::{Value, json};

use crate::stage::Stage;

fn context_of(stage: &Stage) -> i64 {
    stage.events("Runtime.executionContextCreated")[0]["context"]["id"].as_i64().expect("a number")
}

#[test]
fn the_anchor_is_hidden_and_new_tabs_are_announced() {
    let mut stage = Stage::started();
    stage.ask(None, "Target.setDiscoverTargets", json!({"discover": true}));
    let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    stage.ask(None, "Target.setAutoAttach", attach);
    assert!(stage.events("Target.targetCreated").is_empty());
    stage.ask(None, "Target.createTarget", json!({"url": "http://a.test/"}));
    stage.add_context("new", None);
    let created = stage.events("Target.targetCreated");
    assert_eq!(created[0]["targetInfo"]["targetId"], "new");
    let attached = stage.events("Target.attachedToTarget")[0].clone();
    assert_eq!(attached["waitingForDebugger"], true);
    stage.respond("browsingContext.create", json!({"context": "new"}));
    let navigates = |stage: &Stage| stage.open.iter().any(|sent| sent.method == "browsingContext.navigate");
    assert!(!navigates(&stage), "the first navigation waits for the session");
    let session = attached["sessionId"].as_str().expect("a session").to_owned();
    stage.ask(Some(&session), "Runtime.runIfWaitingForDebugger", json!({}));
    assert!(navigates(&stage));
}

#[test]
fn an_evaluation_fails_when_its_document_goes() {
    let (mut stage, session) = Stage::with_tab();
    let context = context_of(&stage);
    let params = json!({"expression": "new Promise(() => {})", "contextId": context, "awaitPromise": true});
    let id = stage.ask(Some(&session), "Runtime.evaluate", params.clone());
    assert_eq!(stage.answers[&id], 0);
    stage.event("script.realmDestroyed", json!({"realm": "main"}));
    let error = stage.answer(id)["error"]["message"].as_str().expect("an error").to_owned();
    assert!(error.contains("context was destroyed"), "{error}");
    // A response that comes all the same is ignored.
    stage.respond("script.evaluate", json!({"type": "success", "realm": "main", "result": {"type": "null"}}));
    assert_eq!(stage.answers[&id], 1);
    let late = stage.ask(Some(&session), "Runtime.evaluate", params);
    assert!(stage.answer(late)["error"]["message"].as_str().expect("text").contains("Cannot find context"));
}

#[test]
fn objects_are_read_by_value_with_a_second_command() {
    let (mut stage, session) = Stage::with_tab();
    let params = json!({"expression": "({a: 1})", "returnByValue": true});
    let id = stage.ask(Some(&session), "Runtime.evaluate", params);
    // It holds an object that is no plain data.
    let object = json!({"type": "object", "handle": "h1", "value": [["b", {"type": "date", "value": "x"}]]});
    stage.respond("script.evaluate", json!({"type": "success", "realm": "main", "result": object}));
    let text = json!({"type": "string", "value": "j{\"a\":1}"});
    stage.respond("script.callFunction", json!({"type": "success", "realm": "main", "result": text}));
    assert_eq!(stage.result(id)["result"], json!({"type": "object", "value": {"a": 1}}));
    assert!(stage.open.iter().any(|sent| sent.method == "script.disown"), "the handle is released");
    stage.open.clear();
    let params = json!({"expression": "({b: 2})", "returnByValue": true});
    let id = stage.ask(Some(&session), "Runtime.evaluate", params);
    let value = json!([["b", {"type": "number", "value": 2}]]);
    let object = json!({"type": "object", "handle": "h2", "value": value});
    stage.respond("script.evaluate", json!({"type": "success", "realm": "main", "result": object}));
    assert_eq!(stage.result(id)["result"], json!({"type": "object", "value": {"b": 2}}));
    let sent: Vec<&str> = stage.open.iter().map(|sent| sent.method.as_str()).collect();
    assert_eq!(sent, ["script.disown"], "plain data needs no second command");
}

#[test]
fn a_script_with_await_is_tried_in_forms_until_one_can_be_parsed() {
    let (mut stage, session) = Stage::with_tab();
    let params = json!({"expression": "const a = await b; a", "replMode": true, "returnByValue": true});
    let id = stage.ask(Some(&session), "Runtime.evaluate", params);
    let failed = |frames: Value| {
        let details = json!({"text": "SyntaxError: no", "stackTrace": {"callFrames": frames}});
        json!({"type": "exception", "realm": "main", "exceptionDetails": details})
    };
    stage.respond("script.evaluate", failed(json!([])));
    stage.respond("script.evaluate", failed(json!([])));
    let sent = &stage.open.last().expect("a third form").params;
    assert!(sent["expression"].as_str().expect("text").contains("return (\na\n)"), "{sent}");
    // One that a script throws is its result.
    stage.respond("script.evaluate", failed(json!([{"url": "", "functionName": "f"}])));
    assert!(stage.result(id)["exceptionDetails"].is_object() && stage.open.is_empty());
}

#[test]
fn a_navigation_is_answered_when_it_has_committed() {
    let (mut stage, session) = Stage::with_tab();
    for is_late in [false, true] {
        let id = stage.ask(Some(&session), "Page.navigate", json!({"url": "http://a.test/"}));
        let navigation = format!("N{is_late}");
        let event = json!({"context": "tab", "navigation": navigation, "url": "http://a.test/"});
        stage.event("browsingContext.navigationStarted", event.clone());
        let response = json!({"navigation": navigation, "url": "http://a.test/"});
        if is_late {
            stage.event("browsingContext.navigationCommitted", event);
            assert_eq!(stage.answers[&id], 0);
            stage.respond("browsingContext.navigate", response);
        } else {
            stage.respond("browsingContext.navigate", response);
            assert_eq!(stage.answers[&id], 0);
            stage.event("browsingContext.navigationCommitted", event);
        }
        assert_eq!(stage.result(id)["loaderId"], json!(navigation));
    }
}

#[test]
fn an_error_page_is_reported_as_chromes() {
    let (mut stage, session) = Stage::with_tab();
    let id = stage.ask(Some(&session), "Page.navigate", json!({"url": "http://no.invalid/"}));
    let started = json!({"context": "tab", "navigation": "N", "url": "http://no.invalid/"});
    stage.event("browsingContext.navigationStarted", started);
    let committed = json!({"context": "tab", "navigation": "N", "url": "about:neterror?e=dnsNotFound"});
    stage.event("browsingContext.navigationCommitted", committed);
    let sent = stage.open.iter().position(|sent| sent.method == "browsingContext.navigate").expect("sent");
    let sent = stage.open.remove(sent);
    stage.respond_to(&sent, &Err("unknown error"));
    assert!(stage.result(id)["errorText"].as_str().expect("text").starts_with("net::"));
    let frame = &stage.events("Page.frameNavigated")[0]["frame"];
    assert_eq!(frame["url"], "chrome-error://chromewebdata/");
    assert_eq!(frame["unreachableUrl"], "http://no.invalid/");
}

/// The root element of a document, as a script returns it.
fn root(shared: &str) -> Value {
    json!({"type": "success", "realm": "main", "result": {"type": "node", "sharedId": shared}})
}

#[test]
fn input_is_one_chain_at_a_time_and_ends_at_a_dialog() {
    let (mut stage, session) = Stage::with_tab();
    let event = |kind: &str| json!({"type": kind, "x": 5, "y": 6, "button": "left", "clickCount": 1});
    let ids: Vec<i64> = ["mouseMoved", "mousePressed", "mouseReleased"]
        .iter()
        .map(|kind| stage.ask(Some(&session), "Input.dispatchMouseEvent", event(kind)))
        .collect();
    stage.respond("browsingContext.activate", json!({}));
    stage.respond("input.performActions", json!({}));
    assert_eq!((stage.answers[&ids[0]], stage.answers[&ids[1]]), (1, 0));
    stage.respond("script.callFunction", root("r1"));
    stage.event(
        "browsingContext.userPromptOpened",
        json!({"context": "tab", "type": "alert", "message": "m"}),
    );
    stage.respond("session.status", json!({}));
    assert!(ids.iter().all(|id| stage.answers[id] == 1), "the input has arrived");
    assert_eq!(stage.events("Page.javascriptDialogOpening")[0]["message"], "m");
    stage.respond("input.performActions", json!({}));
    assert!(ids.iter().all(|id| stage.answers[id] == 1));
}

#[test]
fn a_press_for_the_former_document_is_not_sent() {
    let (mut stage, session) = Stage::with_tab();
    let event = |kind: &str| json!({"type": kind, "x": 5, "y": 6, "button": "left"});
    stage.ask(Some(&session), "Input.dispatchMouseEvent", event("mouseMoved"));
    let press = stage.ask(Some(&session), "Input.dispatchMouseEvent", event("mousePressed"));
    let committed = json!({"context": "tab", "navigation": "N", "url": "http://b.test/"});
    stage.event("browsingContext.navigationCommitted", committed);
    stage.respond("browsingContext.activate", json!({}));
    stage.respond("input.performActions", json!({}));
    assert!(stage.answer(press)["error"].is_object(), "the press is refused");
    assert!(!stage.open.iter().any(|sent| sent.method == "input.performActions"));
}

#[test]
fn a_key_names_the_root_of_its_document_and_fails_with_it() {
    let (mut stage, session) = Stage::with_tab();
    let key = json!({"type": "keyDown", "key": "a"});
    let guard_of = |stage: &Stage| {
        let sent = stage.open.iter().find(|sent| sent.method == "input.performActions").expect("sent");
        let sources = sent.params["actions"].as_array().expect("sources").clone();
        let wheel = sources.into_iter().find(|source| source["type"] == "wheel");
        wheel.expect("a guard")["actions"][0]["origin"]["element"]["sharedId"].clone()
    };
    let first = stage.ask(Some(&session), "Input.dispatchKeyEvent", key.clone());
    stage.respond("browsingContext.activate", json!({}));
    stage.respond("script.callFunction", root("r1"));
    assert_eq!(guard_of(&stage), "r1");
    stage.respond("input.performActions", json!({}));
    stage.result(first);
    // The root is known. Firefox shows the next document, which it has not reported yet.
    let second = stage.ask(Some(&session), "Input.dispatchKeyEvent", key.clone());
    assert_eq!(guard_of(&stage), "r1");
    let sent = stage.open.pop().expect("sent");
    stage.respond_to(&sent, &Err("no such node"));
    let error = stage.answer(second)["error"]["message"].as_str().expect("an error").to_owned();
    assert!(error.contains("context was destroyed"), "{error}");
    let committed = json!({"context": "tab", "navigation": "N", "url": "http://b.test/"});
    stage.event("browsingContext.navigationCommitted", committed);
    stage.ask(Some(&session), "Page.enable", json!({}));
    stage.ask(Some(&session), "Input.dispatchKeyEvent", key);
    stage.respond("script.callFunction", root("r2"));
    assert_eq!(guard_of(&stage), "r2");
}

#[test]
fn input_that_was_sent_before_its_client_knew_the_document_is_refused() {
    let (mut stage, session) = Stage::with_tab();
    let committed = json!({"context": "tab", "navigation": "N", "url": "http://b.test/"});
    stage.event("browsingContext.navigationCommitted", committed);
    let event = |kind: &str| json!({"type": kind, "x": 5, "y": 6, "button": "left"});
    let moved = stage.ask(Some(&session), "Input.dispatchMouseEvent", event("mouseMoved"));
    let press = stage.ask(Some(&session), "Input.dispatchMouseEvent", event("mousePressed"));
    stage.respond("browsingContext.activate", json!({}));
    stage.respond("input.performActions", json!({}));
    stage.result(moved);
    assert!(stage.answer(press)["error"].is_object(), "it may be meant for the former document");
    // The client has had a response, and with it the events.
    stage.ask(Some(&session), "Input.dispatchMouseEvent", event("mousePressed"));
    stage.respond("script.callFunction", root("r"));
    assert!(stage.open.iter().any(|sent| sent.method == "input.performActions"));
}

#[test]
fn input_is_refused_when_its_document_has_a_new_realm() {
    let (mut stage, session) = Stage::with_tab();
    let id = stage.ask(Some(&session), "Input.dispatchKeyEvent", json!({"type": "keyDown", "key": "a"}));
    stage.respond("browsingContext.activate", json!({}));
    // The next document: its commit is reported later.
    stage.add_realm("next", "tab");
    stage.respond("script.callFunction", root("r"));
    assert!(stage.answer(id)["error"].is_object() && stage.open.is_empty(), "{:?}", stage.open);
}

#[test]
fn input_without_a_root_in_the_view_is_sent_without_a_guard() {
    let (mut stage, session) = Stage::with_tab();
    let id = stage.ask(Some(&session), "Input.dispatchKeyEvent", json!({"type": "keyDown", "key": "a"}));
    stage.respond("browsingContext.activate", json!({}));
    stage.respond("script.callFunction", root("r1"));
    let sent = stage.open.pop().expect("sent");
    stage.respond_to(&sent, &Err("move target out of bounds"));
    stage.respond("script.callFunction", root("r1"));
    assert_eq!(stage.open.last().expect("sent again").params["actions"].as_array().map(Vec::len), Some(1));
    stage.respond("input.performActions", json!({}));
    stage.result(id);
    // Another document has no box because it is not shown yet.
    let id = stage.ask(Some(&session), "Input.dispatchKeyEvent", json!({"type": "keyDown", "key": "b"}));
    let sent = stage.open.pop().expect("sent");
    stage.respond_to(&sent, &Err("move target out of bounds"));
    stage.respond("script.callFunction", root("r2"));
    assert!(stage.answer(id)["error"].is_object() && stage.open.is_empty(), "it is refused");
}

#[test]
fn blocked_requests_go_to_the_session_and_foreign_ones_go_on() {
    let (mut stage, session) = Stage::with_tab();
    let enable = stage.ask(Some(&session), "Fetch.enable", json!({"patterns": [{"urlPattern": "*/x"}]}));
    stage.respond("network.addIntercept", json!({"intercept": "I"}));
    assert_eq!(stage.answers[&enable], 1);
    let blocked = |url: &str, intercept: &str| {
        json!({
            "context": "tab", "isBlocked": true, "intercepts": [intercept], "navigation": null,
            "redirectCount": 0, "timestamp": 1,
            "request": {"request": url, "url": url, "method": "GET", "headers": []},
        })
    };
    stage.event("network.beforeRequestSent", blocked("http://a.test/x", "I"));
    let paused = stage.events("Fetch.requestPaused")[0]["requestId"].clone();
    stage.event("network.beforeRequestSent", blocked("http://a.test/y", "I"));
    assert_eq!(stage.events("Fetch.requestPaused").len(), 1, "the pattern leaves it out");
    assert_eq!(stage.open.last().expect("sent").params["request"], "http://a.test/y");
    let fail =
        stage.ask(Some(&session), "Fetch.failRequest", json!({"requestId": paused, "errorReason": "Failed"}));
    stage.respond("network.failRequest", json!({}));
    assert_eq!(stage.answers[&fail], 1);
    stage.ask(Some(&session), "Fetch.disable", json!({}));
    // An intercept that an earlier daemon left.
    stage.event("network.beforeRequestSent", blocked("http://a.test/z", "old"));
    let sent: Vec<&str> = stage.open.iter().map(|sent| sent.method.as_str()).collect();
    assert!(sent.ends_with(&["network.removeIntercept", "network.continueRequest"]), "{sent:?}");
}

#[test]
fn a_changed_body_has_its_length_and_a_script_keeps_its_url() {
    let (mut stage, session) = Stage::with_tab();
    stage.ask(Some(&session), "Fetch.enable", json!({"patterns": [{"urlPattern": "*"}]}));
    stage.respond("network.addIntercept", json!({"intercept": "I"}));
    let header = |name: &str, value: &str| json!({"name": name, "value": {"type": "string", "value": value}});
    let request = json!({
        "request": "R", "url": "http://a.test/x", "method": "POST", "initiatorType": "fetch",
        "headers": [header("X-Kept", "1"), header("Content-Length", "3")],
    });
    let sent = json!({
        "context": "tab", "isBlocked": true, "intercepts": ["I"], "navigation": null, "redirectCount": 0,
        "timestamp": 1, "request": request,
    });
    stage.event("network.beforeRequestSent", sent);
    let paused = stage.events("Fetch.requestPaused")[0]["requestId"].clone();
    let change = json!({"requestId": paused, "url": "http://a.test/y"});
    let refused = stage.ask(Some(&session), "Fetch.continueRequest", change);
    assert_eq!(stage.answer(refused)["error"]["data"], "UNSUPPORTED_HERE");
    stage.ask(
        Some(&session),
        "Fetch.continueRequest",
        json!({"requestId": paused, "postData": "Y2hhbmdlZA=="}),
    );
    let sent = &stage.open.last().expect("sent").params;
    assert_eq!(sent["headers"], json!([header("X-Kept", "1"), header("Content-Length", "7")]));
}

#[test]
fn each_challenge_of_a_request_has_the_same_id_and_none_ends_in_a_dialog() {
    let (mut stage, session) = Stage::with_tab();
    let enable = json!({"patterns": [{"urlPattern": "*"}], "handleAuthRequests": true});
    stage.ask(Some(&session), "Fetch.enable", enable);
    stage.respond("network.addIntercept", json!({"intercept": "I"}));
    let challenge = json!({
        "context": "tab", "isBlocked": true, "intercepts": ["I"], "navigation": null, "redirectCount": 0,
        "timestamp": 1, "request": {"request": "R", "url": "http://a.test/x", "method": "GET", "headers": []},
        "response": {"authChallenges": [{"scheme": "Basic", "realm": "r"}]},
    });
    for response in ["ProvideCredentials", "Default"] {
        stage.event("network.authRequired", challenge.clone());
        let id = stage.events("Fetch.authRequired").last().expect("a challenge")["requestId"].clone();
        let params = json!({"requestId": id, "authChallengeResponse": {"response": response}});
        stage.ask(Some(&session), "Fetch.continueWithAuth", params);
    }
    let challenges = stage.events("Fetch.authRequired");
    assert_eq!(challenges[0]["requestId"], challenges[1]["requestId"]);
    let sent = stage.open.iter().filter(|sent| sent.method == "network.continueWithAuth");
    let actions: Vec<&Value> = sent.map(|sent| &sent.params["action"]).collect();
    assert_eq!(actions, [&json!("provideCredentials"), &json!("cancel")]);
}

#[test]
fn what_firefox_cannot_do_has_the_sentence_of_the_table() {
    let (mut stage, session) = Stage::with_tab();
    for method in ["Tracing.start", "Page.startScreencast", "Nothing.known", "DOM.getDocument"] {
        let id = stage.ask(Some(&session), method, json!({}));
        let error = &stage.answer(id)["error"];
        assert_eq!(error["data"], "UNSUPPORTED_HERE", "{method}");
        let sentence = tabwire_bidi::gaps::sentence_of(method);
        assert!(error["message"].as_str().expect("text").starts_with(sentence), "{method}");
    }
}

#[test]
fn media_that_hold_anyway_are_accepted_and_others_refused() {
    let (mut stage, session) = Stage::with_tab();
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    for (matches, expected) in [(true, Value::Null), (false, json!("UNSUPPORTED_HERE"))] {
        let id = stage.ask(Some(&session), "Emulation.setEmulatedMedia", dark.clone());
        let found = json!({"type": "boolean", "value": matches});
        stage.respond("script.callFunction", json!({"type": "success", "realm": "main", "result": found}));
        assert_eq!(stage.answer(id)["error"]["data"], expected);
    }
}

#[test]
fn boxes_in_a_frame_are_in_the_coordinates_of_its_tab() {
    let (mut stage, session) = Stage::with_tab();
    stage.add_context("frame", Some("tab"));
    let text =
        |text: &str| json!({"type": "success", "realm": "main", "result": {"type": "string", "value": text}});
    // The read of the frame's name.
    stage.respond("script.callFunction", text("inner"));
    stage.add_realm("inner", "frame");
    stage.ask(Some(&session), "Runtime.enable", json!({}));
    let realms = stage.events("Runtime.executionContextCreated");
    let inner = realms.last().expect("the frame's")["context"]["id"].clone();
    let quad = "[1,2,3,2,3,4,1,4]";
    for (method, boxes, path) in [
        ("DOM.getContentQuads", format!("[{quad}]"), "/quads/0"),
        ("DOM.getBoxModel", format!("[{quad},{quad},{quad},{quad}]"), "/model/border"),
    ] {
        let id = stage.ask(Some(&session), method, json!({"objectId": format!("{inner}|s|h")}));
        stage.respond("script.callFunction", text(&boxes));
        stage.respond("browsingContext.locateNodes", json!({"nodes": [{"sharedId": "owner"}]}));
        stage.respond("script.callFunction", text("[10,20]"));
        let moved = json!([11.0, 22.0, 13.0, 22.0, 13.0, 24.0, 11.0, 24.0]);
        assert_eq!(stage.result(id).pointer(path), Some(&moved), "{method}");
    }
    let id =
        stage.ask(Some(&session), "DOM.scrollIntoViewIfNeeded", json!({"objectId": format!("{inner}|s|h")}));
    stage.respond("script.callFunction", text("detached"));
    assert_eq!(stage.answer(id)["error"]["message"], "Node is detached from document");
}

#[test]
fn frames_are_in_the_tree_with_the_origin_of_their_realm() {
    let (mut stage, session) = Stage::with_tab();
    stage.add_context("frame", Some("tab"));
    let realm = json!({"realm": "f", "context": "frame", "type": "window", "origin": "http://b.test"});
    stage.event("script.realmCreated", realm);
    let id = stage.ask(Some(&session), "Page.getFrameTree", json!({}));
    let child: &Value = &stage.result(id)["frameTree"]["childFrames"][0]["frame"];
    assert_eq!((&child["id"], &child["parentId"]), (&json!("frame"), &json!("tab")));
    assert_eq!(child["securityOrigin"], "http://b.test");
    stage.event("browsingContext.contextDestroyed", json!({"context": "frame"}));
    assert_eq!(stage.events("Page.frameDetached").len(), 1);
}
