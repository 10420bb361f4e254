//! The debugger is attached to a tab only when needed; setup commands sent before are replayed then, in
//! order.

use serde_json::{Value, json};

use crate::stage::{Stage, tab};

#[test]
fn setup_commands_attach_nothing_and_are_replayed_in_order() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    stage.events();
    let world = json!({"frameId": "T1", "grantUniveralAccess": true, "worldName": "utility"});
    for (method, params) in [
        ("Page.enable", json!({})),
        ("Page.setLifecycleEventsEnabled", json!({"enabled": true})),
        ("Network.enable", json!({})),
        ("Page.createIsolatedWorld", world),
        (
            "Target.setAutoAttach",
            json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}),
        ),
        ("Runtime.runIfWaitingForDebugger", json!({})),
    ] {
        let response = stage.call(Some(&session), method, params);
        assert!(response["result"].is_object(), "{method}: {response}");
    }
    let tree = stage.call(Some(&session), "Page.getFrameTree", json!({}));
    assert_eq!(tree["result"]["frameTree"]["frame"]["id"], "T1", "the main frame's id is the target's");
    let script = stage.call(Some(&session), "Page.addScriptToEvaluateOnNewDocument", json!({"source": "1"}));
    assert_eq!(script["result"]["identifier"], "tabwire-1");
    assert_eq!(stage.requests(), Vec::<String>::new());
    stage.events();

    let id = stage.send(Some(&session), "Runtime.evaluate", json!({"expression": "1"}));
    assert_eq!(stage.requests(), ["attach"]);
    let below = json!({"frame": {"id": "F", "parentId": "T1", "url": "https://b.example/"}});
    stage.respond(json!({"frameTree": {"frame": {"id": "T1"}, "childFrames": [below]}}));
    assert_eq!(
        stage.requests(),
        [
            "send Page.enable",
            "send Page.setLifecycleEventsEnabled",
            "send Network.enable",
            "send Page.createIsolatedWorld",
            "send Target.setAutoAttach",
            "send Page.addScriptToEvaluateOnNewDocument",
            "settle",
        ],
        "in order, before the command that needed the page"
    );
    assert_eq!(
        stage.events(),
        [format!("Page.frameAttached {session}"), format!("Page.frameNavigated {session}")],
        "frames missing in the synthetic tree are reported before their contexts"
    );
    for _ in 0..5 {
        stage.respond(json!({}));
    }
    stage.respond(json!({"identifier": "real-9"}));
    stage.respond(json!({}));
    stage.respond(json!({"result": {"type": "number", "value": 1}}));
    assert_eq!(stage.response(id).expect("a response")["result"]["result"]["value"], 1);
    stage.send(
        Some(&session),
        "Page.removeScriptToEvaluateOnNewDocument",
        json!({"identifier": "tabwire-1"}),
    );
    let asked = stage.respond(json!({}));
    assert_eq!(
        asked["params"]["params"]["identifier"], "real-9",
        "the client's script id is translated to Chrome's"
    );
}

/// A session on an unattached tab, set up as Playwright does; returns the ids of its two contexts.
fn set_up(stage: &mut Stage, session: &str) -> (i64, i64) {
    for method in ["Page.enable", "Page.getFrameTree", "Runtime.enable"] {
        stage.call(Some(session), method, json!({}));
    }
    let page = stage.event("Runtime.executionContextCreated").expect("the page's default context");
    let world = json!({"frameId": "T1", "grantUniveralAccess": true, "worldName": "utility"});
    stage.call(Some(session), "Page.createIsolatedWorld", world);
    let utility = stage.event("Runtime.executionContextCreated").expect("the isolated world");
    assert_eq!(page["params"]["context"]["auxData"]["isDefault"], true);
    assert_eq!(utility["params"]["context"]["name"], "utility");
    let number = |event: &Value| event["params"]["context"]["id"].as_i64().expect("a number");
    (number(&page), number(&utility))
}

fn world(id: i64, name: &str) -> Value {
    let aux = json!({"isDefault": name.is_empty(), "frameId": "T1"});
    json!({"context": {"id": id, "name": name, "uniqueId": format!("u{id}"), "auxData": aux}})
}

#[test]
fn synthetic_contexts_are_matched_with_chromes() {
    let mut stage = Stage::with_tabs(2);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    let (page, utility) = set_up(&mut stage, &session);
    assert_eq!(stage.requests(), Vec::<String>::new(), "no tab is attached for it");
    stage.events();

    let first = stage.send(Some(&session), "Runtime.evaluate", json!({"contextId": utility}));
    let second = stage.send(Some(&session), "Runtime.evaluate", json!({"contextId": page}));
    assert_eq!(stage.requests(), ["attach"]);
    let below = json!({"frame": {"id": "F", "parentId": "T1", "url": "https://a.example/in"}});
    let tree = json!({"frameTree": {"frame": {"id": "T1"}, "childFrames": [below]}});
    stage.page_event(1, None, "Page.frameDetached", json!({"frameId": "F"}));
    stage.respond(tree.clone());
    let expected_events = ["Page.frameAttached", "Page.frameNavigated", "Page.frameDetached"];
    assert_eq!(
        stage.events(),
        expected_events.map(|method| format!("{method} {session}")),
        "in Chrome's order"
    );
    let expected = ["send Page.enable", "send Runtime.enable", "send Page.createIsolatedWorld", "settle"];
    assert_eq!(stage.requests(), expected, "a command that names a context waits for it");
    stage.page_event(1, None, "Runtime.executionContextCreated", world(3, ""));
    assert_eq!(stage.requests().len(), 4, "the first command waits, and the second behind it");
    stage.page_event(1, None, "Runtime.executionContextCreated", world(4, "utility"));
    assert_eq!(stage.events(), Vec::<String>::new(), "both were reported before");
    for _ in 0..3 {
        stage.respond(json!({"executionContextId": 4}));
    }
    stage.respond(tree);
    assert_eq!(
        stage.respond(json!({}))["params"]["params"]["frameId"],
        "F",
        "its world is created in child frames too"
    );
    assert_eq!(stage.respond(json!({}))["command"], "settle", "and reported");
    assert_eq!(stage.respond(json!({}))["params"]["params"]["contextId"], 4, "in the order of the commands");
    assert_eq!(stage.respond(json!({}))["params"]["params"]["contextId"], 3);
    assert!(stage.response(first).is_some() && stage.response(second).is_some());
    stage.page_event(1, None, "Runtime.consoleAPICalled", json!({"executionContextId": 3}));
    let said = stage.event("Runtime.consoleAPICalled").expect("an event of its page");
    assert_eq!(said["params"]["executionContextId"], page);
    stage.page_event(1, None, "Runtime.executionContextsCleared", json!({}));
    stage.page_event(1, None, "Runtime.executionContextCreated", world(5, ""));
    let created = stage.event("Runtime.executionContextCreated").expect("a new page has new contexts");
    assert_eq!(created["params"]["context"]["id"], 5);
    let gone = stage.call(Some(&session), "Runtime.evaluate", json!({"contextId": page}));
    assert!(gone["result"].is_null(), "{gone}");
    assert_eq!(stage.browser.stats().attached, 1, "the other tab is not attached");
}

#[test]
fn command_on_an_unmatched_context_fails() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    let (page, _) = set_up(&mut stage, &session);
    let asked = stage.send(Some(&session), "Runtime.evaluate", json!({"contextId": page}));
    stage.respond_all();
    let response = stage.response(asked).expect("an error at once");
    assert_eq!(response["error"]["message"], "Cannot find context with specified id");
}

/// A client attaches to a child frame: sends its setup commands, and `Runtime.runIfWaitingForDebugger` last.
fn take_up(stage: &mut Stage, session: &str) {
    for (method, params) in [
        ("Page.enable", json!({})),
        ("Page.getFrameTree", json!({})),
        ("Target.setAutoAttach", auto_attach()),
        ("Runtime.runIfWaitingForDebugger", json!({})),
    ] {
        stage.send(Some(session), method, params);
    }
}

fn auto_attach() -> Value {
    json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
}

fn attached(real: &str, target: &str) -> Value {
    let info = json!({"targetId": target, "type": "iframe", "url": "https://b.example/"});
    json!({"sessionId": real, "targetInfo": info, "waitingForDebugger": false})
}

/// The CDP session that a client got on a child frame.
fn session_given(stage: &mut Stage) -> String {
    let event = stage.event("Target.attachedToTarget").expect("an event for the frame");
    event["params"]["sessionId"].as_str().expect("a session").to_owned()
}

/// The extension responds to all requests except the newest `settle`; returns the requests to send a command,
/// with their frame.
fn respond_to_child_requests(stage: &mut Stage) -> Vec<String> {
    let mut sent = Vec::new();
    while stage.requests().first().is_some_and(|first| first != "settle") {
        let asked = stage.respond(json!({}));
        let text = |name: &str| asked["params"][name].as_str().unwrap_or("-").to_owned();
        if asked["command"] == "send" {
            sent.push(format!("{} {}", text("session"), text("method")));
        }
    }
    sent
}

#[test]
fn child_frames_are_attached_before_queued_commands_run() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    for (method, params) in [("Page.enable", json!({})), ("Target.setAutoAttach", auto_attach())] {
        stage.call(Some(&session), method, params);
    }
    let work = stage.send(Some(&session), "DOM.getDocument", json!({}));
    stage.respond(json!({"frameTree": {"frame": {"id": "T1"}}}));
    stage.events();
    stage.page_event(1, None, "Target.attachedToTarget", attached("R1", "F1"));
    let middle = session_given(&mut stage);
    for _ in 0..2 {
        stage.respond(json!({}));
    }
    assert_eq!(stage.requests(), ["settle"]);
    // The client is slow: the tab is polled once more, and the client's commands go to the frame.
    stage.respond(json!({}));
    assert_eq!(stage.requests(), ["settle"]);
    take_up(&mut stage, &middle);
    stage.respond(json!({}));
    let expected =
        ["Page.enable", "Page.getFrameTree", "Target.setAutoAttach", "Runtime.runIfWaitingForDebugger"];
    let to = |real: &str| expected.map(|method| format!("{real} {method}")).to_vec();
    assert_eq!(
        respond_to_child_requests(&mut stage),
        to("R1"),
        "not to the page, which was the debuggee when they were queued"
    );
    // The responses are older than the event of a nested frame, so that frame is waited for too.
    stage.page_event(1, Some("R1"), "Target.attachedToTarget", attached("R2", "F2"));
    let inner = session_given(&mut stage);
    take_up(&mut stage, &inner);
    stage.respond(json!({}));
    assert_eq!(respond_to_child_requests(&mut stage), to("R2"));
    while stage.requests().first().is_some_and(|asked| asked.starts_with("settle")) {
        stage.respond(json!({}));
    }
    assert_eq!(stage.requests(), ["send DOM.getDocument"]);
    stage.respond(json!({}));
    assert!(stage.response(work).is_some());
}

#[test]
fn wait_for_child_frames_is_bounded() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    stage.call(Some(&session), "Target.setAutoAttach", auto_attach());
    let work = stage.send(Some(&session), "DOM.getDocument", json!({}));
    stage.respond(json!({"frameTree": {"frame": {"id": "T1"}}}));
    stage.page_event(1, None, "Target.attachedToTarget", attached("R1", "F1"));
    stage.respond_all();
    assert!(stage.response(work).is_some());
}

#[test]
fn unattached_tab_reports_navigations() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    stage.call(Some(&session), "Page.enable", json!({}));
    stage.call(Some(&session), "Page.getFrameTree", json!({}));
    stage.events();
    stage.call(Some(&session), "Page.setLifecycleEventsEnabled", json!({"enabled": true}));
    assert_eq!(stage.events().len(), 6, "all events of a loaded page");
    let mut there = tab(1, "https://b.example/");
    there.loaded = false;
    stage.extension_event("tab", serde_json::to_value(&there).expect("JSON"));
    let navigated = stage.event("Page.frameNavigated").expect("a navigation");
    assert_eq!(navigated["params"]["frame"]["url"], "https://b.example/");
    assert_eq!(stage.events().iter().filter(|event| event.starts_with("Page.lifecycle")).count(), 2);
    there.loaded = true;
    stage.extension_event("tab", serde_json::to_value(&there).expect("JSON"));
    assert_eq!(stage.events().iter().filter(|event| event.starts_with("Page.lifecycle")).count(), 4);
    assert_eq!(stage.requests(), Vec::<String>::new());
}

#[test]
fn session_that_never_used_the_page_survives_a_detach() {
    let mut stage = Stage::with_tabs(1);
    let (root, worker) = stage.working();
    let watcher = stage.second(&root);
    stage.send(Some(&watcher), "Page.enable", json!({}));
    stage.send(Some(&watcher), "Runtime.enable", json!({}));
    stage.respond_all();
    stage.page_event(1, None, "Runtime.executionContextCreated", world(3, ""));
    stage.events();
    stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": worker}));
    assert_eq!(stage.requests(), ["detach"]);
    stage.respond_all();
    let expected =
        ["Runtime.executionContextsCleared", "Page.frameNavigated", "Runtime.executionContextCreated"];
    let received: Vec<String> =
        stage.events().into_iter().filter(|event| event.ends_with(watcher.as_str())).collect();
    assert_eq!(received, expected.map(|method| format!("{method} {watcher}")));
    stage.send(Some(&watcher), "Runtime.evaluate", json!({}));
    stage.respond(json!({"frameTree": {}}));
    assert_eq!(
        stage.requests(),
        ["send Page.enable", "send Runtime.enable", "settle"],
        "its setup is replayed"
    );
    for _ in 0..3 {
        stage.respond(json!({}));
    }
    assert_eq!(stage.requests(), ["send Runtime.evaluate"], "then the command itself");
}

#[test]
fn screenshot_runs_within_a_hidden_screencast() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    stage.send(Some(&first), "Page.enable", json!({}));
    stage.respond_all();
    stage.events();
    let id = stage.send(Some(&first), "Page.captureScreenshot", json!({}));
    assert_eq!(stage.requests(), ["send Page.startScreencast", "send Page.captureScreenshot"]);
    stage.respond(json!({}));
    stage.page_event(1, None, "Page.screencastFrame", json!({}));
    assert_eq!(stage.events(), Vec::<String>::new());
    stage.respond(json!({"data": ""}));
    assert!(stage.response(id).is_some());
    assert_eq!(stage.requests(), ["send Page.stopScreencast"]);
    stage.respond_all();

    for session in [&first, &second] {
        stage.send(Some(session), "Page.startScreencast", json!({}));
    }
    stage.respond_all();
    stage.send(Some(&first), "Page.captureScreenshot", json!({}));
    assert_eq!(stage.requests(), ["send Page.captureScreenshot"], "a screencast runs already");
    stage.respond_all();
    stage.call(Some(&first), "Page.stopScreencast", json!({}));
    assert_eq!(stage.requests(), Vec::<String>::new(), "the other session's screencast continues");
    stage.send(Some(&second), "Page.stopScreencast", json!({}));
    assert_eq!(stage.requests(), ["send Page.stopScreencast"]);
}

#[test]
fn commands_during_attach_keep_their_order() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    stage.send(Some(&session), "DOM.getDocument", json!({}));
    let enabled = stage.send(Some(&session), "Page.enable", json!({}));
    stage.send(Some(&session), "Page.reload", json!({}));
    assert_eq!(stage.requests(), ["attach"], "once for all sessions");
    assert_eq!(stage.response(enabled), None, "from now on Chrome responds");
    stage.respond(json!({"frameTree": {}}));
    assert_eq!(stage.requests(), ["send DOM.getDocument", "send Page.enable", "send Page.reload"]);
}

#[test]
fn failed_attach_reports_its_reason_and_can_be_retried() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    stage.call(Some(&session), "Page.enable", json!({}));
    let id = stage.send(Some(&session), "Runtime.evaluate", json!({}));
    stage.respond_error("DEVTOOLS_OPEN", "Another debugger is attached to this tab.");
    let response = stage.response(id).expect("a response");
    assert_eq!(response["error"]["data"], "DEVTOOLS_OPEN");
    assert_eq!(response["sessionId"], session.as_str());
    stage.send(Some(&session), "Runtime.evaluate", json!({}));
    stage.respond(json!({"frameTree": {}}));
    assert_eq!(stage.requests(), ["send Page.enable", "settle"], "the recorded setup is replayed");
}

#[test]
fn debugger_is_detached_when_no_session_uses_the_tab() {
    let mut stage = Stage::with_tabs(1);
    let control = stage.root();
    let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    stage.call(Some(&control), "Target.setAutoAttach", auto);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    stage.send(Some(&second), "Runtime.evaluate", json!({}));
    stage.respond_all();
    stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": first}));
    assert_eq!(stage.browser.stats().attached, 1, "another session uses it");
    stage.respond_all();
    stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": second}));
    assert_eq!(stage.requests(), ["detach"], "a session that never used the page keeps no debugger attached");
    assert_eq!(stage.browser.stats().attached, 0);
}
