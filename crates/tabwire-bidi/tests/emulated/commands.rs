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
    let object = json!({"type": "object", "handle": "h1"});
    stage.respond("script.evaluate", json!({"type": "success", "realm": "main", "result": object}));
    let text = json!({"type": "string", "value": "j{\"a\":1}"});
    stage.respond("script.callFunction", json!({"type": "success", "realm": "main", "result": text}));
    assert_eq!(stage.result(id)["result"], json!({"type": "object", "value": {"a": 1}}));
    assert!(stage.open.iter().any(|sent| sent.method == "script.disown"), "the handle is released");
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
    stage.add_realm("inner", "frame");
    stage.ask(Some(&session), "Runtime.enable", json!({}));
    let realms = stage.events("Runtime.executionContextCreated");
    let inner = realms.last().expect("the frame's")["context"]["id"].clone();
    let text =
        |text: &str| json!({"type": "success", "realm": "main", "result": {"type": "string", "value": text}});
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
