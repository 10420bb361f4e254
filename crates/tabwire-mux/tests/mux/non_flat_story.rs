//! Clients without flat sessions: their commands and frames travel inside messages of the parent session.

use serde_json::{Value, json};

use crate::support::stage::Stage;

fn attach(stage: &mut Stage, client: u64) -> String {
    stage.ask_for(client, "Target.attachToTarget", json!({"targetId": "T-002."}), "sessionId")
}

/// The frames inside the messages that a client received.
fn inner(stage: &mut Stage, client: u64) -> Vec<Value> {
    let frames = stage.take_frames(client);
    let wrapped = frames.iter().filter(|frame| frame["method"] == "Target.receivedMessageFromTarget");
    wrapped.map(|frame| serde_json::from_str(frame["params"]["message"].as_str().unwrap()).unwrap()).collect()
}

#[test]
fn p6_sessions_without_flatten_are_translated() {
    let mut stage = Stage::new();
    stage.join(1);
    let session = attach(&mut stage, 1);
    assert_eq!(stage.take_inbox(1), ["attachedToTarget page T-002."]);
    for names in [json!({"sessionId": session}), json!({"targetId": "T-002."})] {
        let mut params = names.clone();
        params["message"] = json!(r#"{"id":5,"method":"Fake.echo","params":{"tag":"c1-","x":"}"}}"#);
        assert_eq!(stage.ask(1, "", "Target.sendMessageToTarget", params), json!({}));
        let [response] = inner(&mut stage, 1).try_into().unwrap();
        assert_eq!((&response["id"], &response["result"]["echo"]["x"]), (&json!(5), &json!("}")));
        assert!(response.get("sessionId").is_none(), "{response}");
    }
    stage.browser.event(&session, "Fake.event", json!({"y": 1}));
    stage.flow();
    let frames = stage.take_frames(1);
    assert_eq!(frames[0]["params"]["sessionId"], session);
    assert_eq!(frames[0]["params"]["targetId"], "T-002.");
    let event: Value = serde_json::from_str(frames[0]["params"]["message"].as_str().unwrap()).unwrap();
    assert_eq!(event, json!({"method": "Fake.event", "params": {"y": 1}}));
    stage.ask(1, "", "Target.detachFromTarget", json!({"sessionId": session}));
    assert_eq!(stage.take_inbox(1), ["detachedFromTarget T-002."]);
}

#[test]
fn p6_a_client_may_mix_flat_and_other_sessions() {
    let mut stage = Stage::new();
    stage.join(1);
    let (wrapped, flat) = (attach(&mut stage, 1), stage.attach(1, "T-002."));
    stage.take_frames(1);
    stage.browser.event(&flat, "Fake.event", json!({}));
    stage.browser.event(&wrapped, "Fake.event", json!({}));
    stage.flow();
    let lines = stage.take_inbox(1);
    assert_eq!(lines[0], format!("Fake.event on {flat}"));
    assert_eq!(lines[1], "receivedMessageFromTarget T-002.");
    assert_eq!(stage.ask(1, &flat, "Fake.echo", json!({}))["echo"]["tag"], "c1-");
}

#[test]
fn p6_messages_reach_own_sessions_without_flatten_only() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let (wrapped, flat) = (attach(&mut stage, 1), stage.attach(1, "T-002."));
    let other = attach(&mut stage, 2);
    stage.take_heard();
    let message = r#"{"id":5,"method":"Fake.echo","params":{}}"#;
    let smuggled = format!(r#"{{"id":5,"method":"Fake.echo","params":{{}},"sessionId":"{other}"}}"#);
    for params in [
        json!({"sessionId": other, "message": message}),
        json!({"sessionId": flat, "message": message}),
        json!({"sessionId": wrapped, "message": smuggled}),
        json!({"sessionId": wrapped, "message": "nonsense"}),
        json!({"sessionId": wrapped}),
        json!({"targetId": "T-001.", "message": message}),
        json!({"message": message}),
    ] {
        let refused = stage.ask(1, "", "Target.sendMessageToTarget", params.clone());
        assert_eq!(refused["code"], -32602, "{params}: {refused}");
    }
    assert!(stage.take_heard().is_empty(), "nothing of it reached the browser");
    let on = json!({"autoAttach": true, "waitForDebuggerOnStart": false});
    let refused = stage.ask(1, "", "Target.setAutoAttach", on);
    assert!(refused["message"].as_str().unwrap().contains("flatten: true"), "{refused}");
}

#[test]
fn p6_sessions_below_a_session_without_flatten_are_inside_it() {
    let mut stage = Stage::new();
    stage.join(1);
    let page = attach(&mut stage, 1);
    let say = |stage: &mut Stage, message: Value| {
        let params = json!({"sessionId": page, "message": message.to_string()});
        stage.ask(1, "", "Target.sendMessageToTarget", params)
    };
    let on = json!({"autoAttach": true, "waitForDebuggerOnStart": false, "tag": "c1-"});
    say(&mut stage, json!({"id": 1, "method": "Target.setAutoAttach", "params": on}));
    assert!(stage.browser.heard.iter().any(|(_, heard)| heard.params["flatten"] == true));
    stage.take_frames(1);
    let worker = stage.browser.attach_worker(&page);
    stage.flow();
    let [attached] = inner(&mut stage, 1).try_into().unwrap();
    assert_eq!(
        (&attached["method"], &attached["params"]["sessionId"]),
        (&json!("Target.attachedToTarget"), &json!(worker))
    );
    stage.browser.event(&worker, "Fake.event", json!({}));
    stage.flow();
    let [outer] = inner(&mut stage, 1).try_into().unwrap();
    assert_eq!(outer["params"]["sessionId"], worker);
    let event: Value = serde_json::from_str(outer["params"]["message"].as_str().unwrap()).unwrap();
    assert_eq!(event["method"], "Fake.event");
}
