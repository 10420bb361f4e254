//! Several cdp sessions on one tab, which to the browser are one.

use serde_json::json;

use crate::stage::Stage;

fn context(id: i64) -> serde_json::Value {
    json!({"context": {"id": id, "auxData": {"isDefault": true, "frameId": "T1"}}})
}

#[test]
fn events_reach_only_those_who_enabled_their_domain() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    stage.send(Some(&first), "Network.enable", json!({}));
    stage.send(Some(&second), "Page.enable", json!({}));
    stage.does_all();
    stage.events();
    stage.page_says(1, None, "Network.requestWillBeSent", json!({}));
    stage.page_says(1, None, "Page.loadEventFired", json!({}));
    stage.page_says(1, None, "Log.entryAdded", json!({}));
    assert_eq!(
        stage.events(),
        [format!("Network.requestWillBeSent {first}"), format!("Page.loadEventFired {second}")]
    );
}

#[test]
fn a_newcomer_is_told_of_the_worlds_that_are_there_and_nobody_else_is_disturbed() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    stage.send(Some(&first), "Runtime.enable", json!({}));
    stage.does_all();
    for id in 1..=3 {
        stage.page_says(1, None, "Runtime.executionContextCreated", context(id));
    }
    stage.page_says(1, None, "Runtime.executionContextDestroyed", json!({"executionContextId": 2}));
    stage.events();
    let second = stage.second(&root);
    let answer = stage.call(Some(&second), "Runtime.enable", json!({}));
    assert_eq!(answer["result"], json!({}));
    assert_eq!(
        stage.events(),
        vec![format!("Runtime.executionContextCreated {second}"); 2],
        "the one that is gone is not told"
    );
    assert_eq!(stage.asked(), Vec::<String>::new(), "the browser is not asked again");
    stage.page_says(1, None, "Runtime.executionContextsCleared", json!({}));
    assert_eq!(stage.events().len(), 2);
    let third = stage.second(&root);
    stage.call(Some(&third), "Runtime.enable", json!({}));
    assert_eq!(stage.events(), Vec::<String>::new());
}

#[test]
fn a_domain_is_disabled_when_the_last_one_leaves_it() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    stage.send(Some(&first), "Network.enable", json!({}));
    stage.send(Some(&second), "Network.enable", json!({}));
    stage.does_all();
    let answer = stage.call(Some(&first), "Network.disable", json!({}));
    assert_eq!(answer["result"], json!({}), "answered here: another still listens");
    stage.send(Some(&second), "Network.disable", json!({}));
    assert_eq!(stage.asked(), ["send Network.disable"]);
}

#[test]
fn one_client_at_a_time_intercepts_requests() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    stage.send(Some(&first), "Fetch.enable", json!({}));
    stage.does_all();
    let answer = stage.call(Some(&second), "Fetch.enable", json!({}));
    assert_eq!(answer["error"]["data"], "BUSY");
    stage.send(Some(&first), "Fetch.disable", json!({}));
    stage.send(Some(&second), "Fetch.enable", json!({}));
    assert_eq!(stage.asked(), ["send Fetch.disable", "send Fetch.enable"]);
}

#[test]
fn who_leaves_takes_its_scripts_bindings_and_overrides_along() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    stage.send(Some(&second), "Network.enable", json!({}));
    stage.send(Some(&second), "Runtime.evaluate", json!({}));
    stage.send(Some(&first), "Network.enable", json!({}));
    stage.does_all();
    stage.send(Some(&first), "Page.addScriptToEvaluateOnNewDocument", json!({"source": "1"}));
    stage.does(json!({"identifier": "7"}));
    stage.send(Some(&first), "Runtime.addBinding", json!({"name": "call"}));
    stage.send(Some(&first), "Emulation.setTimezoneOverride", json!({"timezoneId": "Asia/Tokyo"}));
    stage.send(Some(&first), "Log.enable", json!({}));
    stage.does_all();
    stage.events();
    stage.page_says(1, None, "Runtime.bindingCalled", json!({"name": "call"}));
    assert_eq!(stage.events(), Vec::<String>::new(), "without Runtime enabled nobody hears it");
    stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": first}));
    assert_eq!(
        stage.asked(),
        [
            "send Page.removeScriptToEvaluateOnNewDocument",
            "send Runtime.removeBinding",
            "send Emulation.setTimezoneOverride",
            "send Log.disable",
        ],
        "the other's Network stays on"
    );
}

#[test]
fn a_trace_ends_with_the_one_who_took_it_unless_it_has_ended_before() {
    for (last, expected) in [("Runtime.evaluate", vec!["send Tracing.end"]), ("Tracing.end", vec![])] {
        let mut stage = Stage::with_tabs(1);
        let (root, first) = stage.working();
        let second = stage.second(&root);
        for method in ["Tracing.start", last] {
            stage.send(Some(&second), method, json!({}));
        }
        stage.does_all();
        stage.page_says(1, None, "Tracing.tracingComplete", json!({"stream": "1"}));
        assert_eq!(stage.events(), [format!("Tracing.tracingComplete {second}")], "not to {first}");
        stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": second}));
        assert_eq!(stage.asked(), expected);
    }
}

#[test]
fn a_binding_calls_back_the_one_who_made_it() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    for session in [&first, &second] {
        stage.send(Some(session), "Runtime.enable", json!({}));
    }
    stage.send(Some(&second), "Runtime.addBinding", json!({"name": "call"}));
    stage.does_all();
    stage.events();
    stage.page_says(1, None, "Runtime.bindingCalled", json!({"name": "call"}));
    assert_eq!(stage.events(), [format!("Runtime.bindingCalled {second}")]);
}

#[test]
fn each_session_gets_a_session_of_its_own_for_every_frame_and_worker() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    stage.send(Some(&first), "Target.setAutoAttach", auto.clone());
    stage.does_all();
    stage.events();
    let frame = json!({"sessionId": "real", "waitingForDebugger": true,
        "targetInfo": {"targetId": "F", "type": "iframe"}});
    stage.page_says(1, None, "Target.attachedToTarget", frame);
    let told = stage.event("Target.attachedToTarget").expect("told");
    let mine = told["params"]["sessionId"].as_str().expect("a session").to_owned();
    assert_eq!(told["sessionId"], first.as_str(), "on the page's session");
    assert_eq!(told["params"]["waitingForDebugger"], true);
    assert_ne!(mine, "real");
    assert_eq!(stage.asked(), Vec::<String>::new(), "it waits for its client");
    stage.send(Some(&mine), "Runtime.runIfWaitingForDebugger", json!({}));
    let asked = stage.does(json!({}));
    assert_eq!(
        (asked["params"]["session"].as_str(), asked["params"]["tab"].as_i64()),
        (Some("real"), Some(1))
    );

    let second = stage.second(&root);
    stage.call(Some(&second), "Target.setAutoAttach", auto);
    let told = stage.event("Target.attachedToTarget").expect("a newcomer is told what is there");
    let other = told["params"]["sessionId"].as_str().expect("a session").to_owned();
    assert_ne!(mine, other);
    stage.send(Some(&other), "Page.enable", json!({}));
    stage.does_all();
    stage.events();
    stage.page_says(1, Some("real"), "Page.loadEventFired", json!({}));
    assert_eq!(stage.events(), [format!("Page.loadEventFired {other}")]);
    stage.page_says(1, None, "Target.detachedFromTarget", json!({"sessionId": "real"}));
    assert_eq!(
        stage.events(),
        [format!("Target.detachedFromTarget {first}"), format!("Target.detachedFromTarget {second}")]
    );
    let answer = stage.call(Some(&mine), "Page.enable", json!({}));
    assert_eq!(answer["error"]["code"], -32001);
}

#[test]
fn who_asks_for_the_frames_below_is_told_of_them_before_it_is_answered() {
    let mut stage = Stage::with_tabs(1);
    let (_, session) = stage.working();
    let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    let id = stage.send(Some(&session), "Target.setAutoAttach", auto);
    stage.does(json!({}));
    assert_eq!(stage.asked(), ["settle all"], "Chrome's answer is faster than its events");
    assert!(stage.answer(id).is_none());
    let frame = json!({"sessionId": "real", "waitingForDebugger": false, "targetInfo": {"targetId": "F"}});
    stage.page_says(1, None, "Target.attachedToTarget", frame);
    assert_eq!(stage.events(), [format!("Target.attachedToTarget {session}")]);
    stage.refuses("UNKNOWN_METHOD", "An extension of an earlier version does not know it.");
    assert!(stage.answer(id).expect("an answer")["result"].is_object());
}

#[test]
fn what_nobody_holds_is_let_run() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let auto = |wait: bool| json!({"autoAttach": true, "waitForDebuggerOnStart": wait, "flatten": true});
    stage.send(Some(&first), "Target.setAutoAttach", auto(false));
    let second = stage.second(&root);
    stage.send(Some(&second), "Target.setAutoAttach", auto(true));
    stage.does_all();
    let frame = |session: &str| json!({"sessionId": session, "waitingForDebugger": true, "targetInfo": {"targetId": "F", "type": "iframe"}});
    stage.page_says(1, None, "Target.attachedToTarget", frame("held"));
    assert_eq!(stage.asked(), Vec::<String>::new(), "the second holds it");
    stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": second}));
    assert_eq!(stage.asked(), ["send Runtime.runIfWaitingForDebugger"], "who held it has left");
    stage.does_all();
    stage.page_says(1, None, "Target.attachedToTarget", frame("free"));
    assert_eq!(stage.asked(), ["send Runtime.runIfWaitingForDebugger"]);
}
