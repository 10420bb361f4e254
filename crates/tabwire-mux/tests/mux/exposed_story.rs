//! Pages to which their client exposes the protocol, as chromedriver does for WebDriver BiDi.

use serde_json::{Value, json};

use crate::support::stage::Stage;

/// The execution context of the page's main frame.
const CONTEXT: i64 = 7;

/// A client's page with the protocol, and the mux's session on it.
struct Exposed {
    page: String,
    session: String,
}

fn expose(stage: &mut Stage, client: u64) -> Exposed {
    let page = stage.create(client);
    let done = stage.ask(client, "", "Target.exposeDevToolsProtocol", json!({"targetId": page}));
    assert_eq!(done, json!({}));
    let on_page = stage.browser.heard.iter().find(|(_, heard)| heard.method == "Runtime.addBinding");
    let session = on_page.expect("a binding").1.session.clone();
    let context = json!({"id": CONTEXT, "auxData": {"isDefault": true, "frameId": page}});
    stage.browser.event(&session, "Runtime.executionContextCreated", json!({"context": context}));
    stage.flow();
    stage.take_heard();
    stage.take_inbox(client);
    Exposed { page, session }
}

/// The page calls its binding.
fn call(stage: &mut Stage, exposed: &Exposed, context: i64, command: Value) {
    let params = json!({"name": "cdp", "payload": command.to_string(), "executionContextId": context});
    stage.browser.event(&exposed.session, "Runtime.bindingCalled", params);
    stage.flow();
}

/// The frames that the page received.
fn received(stage: &mut Stage, exposed: &Exposed) -> Vec<Value> {
    let heard = std::mem::take(&mut stage.browser.heard);
    let calls = heard
        .into_iter()
        .map(|(_, heard)| heard)
        .filter(|heard| heard.session == exposed.session && heard.method == "Runtime.evaluate");
    calls
        .map(|heard| {
            assert_eq!(heard.params["contextId"], CONTEXT);
            let expression = heard.params["expression"].as_str().expect("code");
            let text = expression.strip_prefix("window[\"cdp\"]?.onmessage?.(").expect("a call");
            let text: String = serde_json::from_str(text.strip_suffix(')').expect("a call")).expect("a text");
            serde_json::from_str(&text).expect("a frame")
        })
        .collect()
}

#[test]
fn p3_page_with_the_protocol_reaches_what_its_client_reaches() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let foreign = stage.create(2);
    let exposed = expose(&mut stage, 1);
    let own = stage.create(1);
    stage.take_inbox(1);
    stage.take_inbox(2);
    stage.browser.heard.clear();
    let discover = json!({"id": 3, "method": "Target.setDiscoverTargets", "params": {"discover": true}});
    call(&mut stage, &exposed, CONTEXT, discover);
    let frames = received(&mut stage, &exposed);
    let targets: Vec<&str> =
        frames.iter().filter_map(|frame| frame["params"]["targetInfo"]["targetId"].as_str()).collect();
    assert!(targets.contains(&own.as_str()) && targets.contains(&exposed.page.as_str()), "{targets:?}");
    assert!(!targets.contains(&foreign.as_str()), "another client's page: {targets:?}");
    assert_eq!(frames.last(), Some(&json!({"id": 3, "result": {}})), "on its root, without a session");
    // Its sessions are its own; responses and events do not reach the client.
    let attach =
        json!({"id": 4, "method": "Target.attachToTarget", "params": {"targetId": own, "flatten": true}});
    call(&mut stage, &exposed, CONTEXT, attach);
    let frames = received(&mut stage, &exposed);
    let session = frames.last().unwrap()["result"]["sessionId"].as_str().expect("a session").to_owned();
    call(
        &mut stage,
        &exposed,
        CONTEXT,
        json!({"id": 5, "method": "Fake.echo", "params": {}, "sessionId": session}),
    );
    let frames = received(&mut stage, &exposed);
    assert_eq!((&frames[0]["id"], &frames[0]["sessionId"]), (&json!(5), &json!(session)));
    assert!(stage.take_inbox(1).is_empty() && stage.take_inbox(2).is_empty());
    for (number, target) in [(6, foreign.as_str()), (7, "T-999.")] {
        let attach = json!({"id": number, "method": "Target.attachToTarget", "params": {"targetId": target, "flatten": true}});
        call(&mut stage, &exposed, CONTEXT, attach);
        assert_eq!(received(&mut stage, &exposed)[0]["error"]["code"], -32602);
    }
}

#[test]
fn p3_only_the_document_that_got_the_protocol_may_use_it() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let exposed = expose(&mut stage, 1);
    let client_session = stage.attach(1, &exposed.page);
    stage.take_heard();
    let command = json!({"id": 1, "method": "Fake.echo", "params": {}});
    call(&mut stage, &exposed, CONTEXT + 1, command.clone());
    assert!(stage.take_heard().is_empty(), "another frame or world");
    let elsewhere = json!({"id": 2, "method": "Fake.echo", "params": {}, "sessionId": client_session});
    call(&mut stage, &exposed, CONTEXT, elsewhere);
    assert_eq!(received(&mut stage, &exposed)[0]["error"]["code"], -32001, "a session of the client itself");
    for wrong in [json!("text"), json!({"id": -4, "method": "Fake.echo"}), json!({"method": "Fake.echo"})] {
        call(&mut stage, &exposed, CONTEXT, wrong);
        assert!(stage.take_heard().is_empty());
    }
    stage.browser.event(&exposed.session, "Runtime.executionContextsCleared", json!({}));
    stage.flow();
    assert!(!stage.browser.sessions.contains_key(&exposed.session), "the page has another document");
    call(&mut stage, &exposed, CONTEXT, command);
    assert!(!stage.take_methods().contains(&"Fake.echo".to_owned()));
    let left = stage.mux.resource_counts();
    assert_eq!(left.sessions, 3, "two roots and the client's session: {left:?}");
}

#[test]
fn p3_protocol_is_exposed_only_to_a_page_of_the_client() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let foreign = stage.create(2);
    for (target, code) in [(foreign.as_str(), json!(-32602)), ("T-002.", json!("POLICY_DENIED"))] {
        let refused = stage.ask(1, "", "Target.exposeDevToolsProtocol", json!({"targetId": target}));
        assert!(refused["code"] == code || refused["data"] == code, "{target}: {refused}");
    }
    let page = stage.create(1);
    for name in ["", "a b", "x;alert(1)", "1a"] {
        let params = json!({"targetId": page, "bindingName": name});
        assert_eq!(stage.ask(1, "", "Target.exposeDevToolsProtocol", params)["code"], -32602, "{name}");
    }
    let exposed = expose(&mut stage, 1);
    stage.leave(1);
    assert!(!stage.browser.sessions.contains_key(&exposed.session));
    assert_eq!(stage.mux.resource_counts().sessions, 1, "the other client's root");
}

#[test]
fn p3_commands_to_the_page_wait_until_it_has_the_protocol() {
    let mut stage = Stage::new();
    stage.join(1);
    let page = stage.create(1);
    let session = stage.attach(1, &page);
    stage.take_inbox(1);
    stage.take_heard();
    stage.send(1, "", 7, "Target.exposeDevToolsProtocol", json!({"targetId": page}));
    stage.send(1, &session, 8, "Fake.echo", json!({}));
    stage.flow();
    let methods = stage.take_methods();
    let at = |method: &str| methods.iter().position(|heard| heard == method).expect("sent");
    assert!(at("Runtime.evaluate") < at("Fake.echo"), "{methods:?}");
    assert_eq!(stage.take_inbox(1), ["7 ok".to_owned(), format!("8 ok on {session}")]);
}
