//! Several CDP sessions on one tab, which share one Chrome session.

use serde_json::json;

use crate::stage::Stage;

fn context(id: i64) -> serde_json::Value {
    json!({"context": {"id": id, "auxData": {"isDefault": true, "frameId": "T1"}}})
}

#[test]
fn events_reach_only_sessions_that_enabled_the_domain() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    stage.send(Some(&first), "Network.enable", json!({}));
    stage.send(Some(&second), "Page.enable", json!({}));
    stage.respond_all();
    stage.events();
    stage.page_event(1, None, "Network.requestWillBeSent", json!({}));
    stage.page_event(1, None, "Page.loadEventFired", json!({}));
    stage.page_event(1, None, "Log.entryAdded", json!({}));
    assert_eq!(
        stage.events(),
        [format!("Network.requestWillBeSent {first}"), format!("Page.loadEventFired {second}")]
    );
}

#[test]
fn later_session_receives_existing_contexts_alone() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    stage.send(Some(&first), "Runtime.enable", json!({}));
    stage.respond_all();
    for id in 1..=3 {
        stage.page_event(1, None, "Runtime.executionContextCreated", context(id));
    }
    stage.page_event(1, None, "Runtime.executionContextDestroyed", json!({"executionContextId": 2}));
    stage.events();
    let second = stage.second(&root);
    let response = stage.call(Some(&second), "Runtime.enable", json!({}));
    assert_eq!(response["result"], json!({}));
    assert_eq!(
        stage.events(),
        vec![format!("Runtime.executionContextCreated {second}"); 2],
        "the destroyed context is not reported"
    );
    assert_eq!(stage.requests(), Vec::<String>::new(), "no request to Chrome");
    stage.page_event(1, None, "Runtime.executionContextsCleared", json!({}));
    assert_eq!(stage.events().len(), 2);
    let third = stage.second(&root);
    stage.call(Some(&third), "Runtime.enable", json!({}));
    assert_eq!(stage.events(), Vec::<String>::new());
}

#[test]
fn domain_is_disabled_with_its_last_session() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    stage.send(Some(&first), "Network.enable", json!({}));
    stage.send(Some(&second), "Network.enable", json!({}));
    stage.respond_all();
    let response = stage.call(Some(&first), "Network.disable", json!({}));
    assert_eq!(response["result"], json!({}), "not forwarded: another session still listens");
    stage.send(Some(&second), "Network.disable", json!({}));
    assert_eq!(stage.requests(), ["send Network.disable"]);
}

#[test]
fn one_client_at_a_time_intercepts_requests() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    stage.send(Some(&first), "Fetch.enable", json!({}));
    stage.respond_all();
    let response = stage.call(Some(&second), "Fetch.enable", json!({}));
    assert_eq!(response["error"]["data"], "BUSY");
    stage.send(Some(&first), "Fetch.disable", json!({}));
    stage.send(Some(&second), "Fetch.enable", json!({}));
    assert_eq!(stage.requests(), ["send Fetch.disable", "send Fetch.enable"]);
}

#[test]
fn ended_session_undoes_its_scripts_bindings_and_overrides() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    stage.send(Some(&second), "Network.enable", json!({}));
    stage.send(Some(&second), "Runtime.evaluate", json!({}));
    stage.send(Some(&first), "Network.enable", json!({}));
    stage.respond_all();
    stage.send(Some(&first), "Page.addScriptToEvaluateOnNewDocument", json!({"source": "1"}));
    stage.respond(json!({"identifier": "7"}));
    stage.send(Some(&first), "Runtime.addBinding", json!({"name": "call"}));
    stage.send(Some(&first), "Emulation.setTimezoneOverride", json!({"timezoneId": "Asia/Tokyo"}));
    stage.send(Some(&first), "Log.enable", json!({}));
    stage.respond_all();
    stage.events();
    stage.page_event(1, None, "Runtime.bindingCalled", json!({"name": "call"}));
    assert_eq!(stage.events(), Vec::<String>::new(), "no session has Runtime enabled");
    stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": first}));
    assert_eq!(
        stage.requests(),
        [
            "send Page.removeScriptToEvaluateOnNewDocument",
            "send Runtime.removeBinding",
            "send Emulation.setTimezoneOverride",
            "send Log.disable",
        ],
        "the other session's Network stays enabled"
    );
}

#[test]
fn trace_ends_with_its_session_unless_it_ended_before() {
    for (last, expected) in [("Runtime.evaluate", vec!["send Tracing.end"]), ("Tracing.end", vec![])] {
        let mut stage = Stage::with_tabs(1);
        let (root, first) = stage.working();
        let second = stage.second(&root);
        for method in ["Tracing.start", last] {
            stage.send(Some(&second), method, json!({}));
        }
        stage.respond_all();
        stage.page_event(1, None, "Tracing.tracingComplete", json!({"stream": "1"}));
        assert_eq!(stage.events(), [format!("Tracing.tracingComplete {second}")], "not to {first}");
        stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": second}));
        assert_eq!(stage.requests(), expected);
    }
}

#[test]
fn binding_calls_reach_the_session_that_added_it() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    for session in [&first, &second] {
        stage.send(Some(session), "Runtime.enable", json!({}));
    }
    stage.send(Some(&second), "Runtime.addBinding", json!({"name": "call"}));
    stage.respond_all();
    stage.events();
    stage.page_event(1, None, "Runtime.bindingCalled", json!({"name": "call"}));
    assert_eq!(stage.events(), [format!("Runtime.bindingCalled {second}")]);
}

#[test]
fn each_session_gets_its_own_child_sessions() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    stage.send(Some(&first), "Target.setAutoAttach", auto.clone());
    stage.respond_all();
    stage.events();
    let frame = json!({"sessionId": "real", "waitingForDebugger": true,
        "targetInfo": {"targetId": "F", "type": "iframe"}});
    stage.page_event(1, None, "Target.attachedToTarget", frame);
    let attached = stage.event("Target.attachedToTarget").expect("an event");
    let mine = attached["params"]["sessionId"].as_str().expect("a session").to_owned();
    assert_eq!(attached["sessionId"], first.as_str(), "on the page's session");
    assert_eq!(attached["params"]["waitingForDebugger"], true);
    assert_ne!(mine, "real");
    assert_eq!(stage.requests(), Vec::<String>::new(), "it waits for its client");
    stage.send(Some(&mine), "Runtime.runIfWaitingForDebugger", json!({}));
    let asked = stage.respond(json!({}));
    assert_eq!(
        (asked["params"]["session"].as_str(), asked["params"]["tab"].as_i64()),
        (Some("real"), Some(1))
    );

    let second = stage.second(&root);
    stage.call(Some(&second), "Target.setAutoAttach", auto);
    let attached = stage.event("Target.attachedToTarget").expect("a later session gets existing children");
    let other = attached["params"]["sessionId"].as_str().expect("a session").to_owned();
    assert_ne!(mine, other);
    stage.send(Some(&other), "Page.enable", json!({}));
    stage.respond_all();
    stage.events();
    stage.page_event(1, Some("real"), "Page.loadEventFired", json!({}));
    assert_eq!(stage.events(), [format!("Page.loadEventFired {other}")]);
    stage.page_event(1, None, "Target.detachedFromTarget", json!({"sessionId": "real"}));
    assert_eq!(
        stage.events(),
        [format!("Target.detachedFromTarget {first}"), format!("Target.detachedFromTarget {second}")]
    );
    let response = stage.call(Some(&mine), "Page.enable", json!({}));
    assert_eq!(response["error"]["code"], -32001);
}

#[test]
fn child_targets_are_reported_before_the_auto_attach_response() {
    let mut stage = Stage::with_tabs(1);
    let (_, session) = stage.working();
    let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    let id = stage.send(Some(&session), "Target.setAutoAttach", auto);
    stage.respond(json!({}));
    assert_eq!(stage.requests(), ["settle all"], "Chrome's response is faster than its events");
    assert!(stage.response(id).is_none());
    let frame = json!({"sessionId": "real", "waitingForDebugger": false, "targetInfo": {"targetId": "F"}});
    stage.page_event(1, None, "Target.attachedToTarget", frame);
    assert_eq!(stage.events(), [format!("Target.attachedToTarget {session}")]);
    stage.respond_error("UNKNOWN_METHOD", "An extension of an earlier version does not know it.");
    assert!(stage.response(id).expect("a response")["result"].is_object());
}

#[test]
fn unclaimed_child_targets_are_resumed() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let auto = |wait: bool| json!({"autoAttach": true, "waitForDebuggerOnStart": wait, "flatten": true});
    stage.send(Some(&first), "Target.setAutoAttach", auto(false));
    let second = stage.second(&root);
    stage.send(Some(&second), "Target.setAutoAttach", auto(true));
    stage.respond_all();
    let frame = |session: &str| json!({"sessionId": session, "waitingForDebugger": true, "targetInfo": {"targetId": "F", "type": "iframe"}});
    stage.page_event(1, None, "Target.attachedToTarget", frame("held"));
    assert_eq!(stage.requests(), Vec::<String>::new(), "the second session keeps it paused");
    stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": second}));
    assert_eq!(stage.requests(), ["send Runtime.runIfWaitingForDebugger"], "the last session has ended");
    stage.respond_all();
    stage.page_event(1, None, "Target.attachedToTarget", frame("free"));
    assert_eq!(stage.requests(), ["send Runtime.runIfWaitingForDebugger"]);
}
