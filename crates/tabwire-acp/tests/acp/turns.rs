//! Connections in the protocol's order.

use serde_json::{Value, json};
use tabwire_acp::{
    Answer, CallError, Content, Event, Opening, OptionValue, QuestionKind, RpcError, Steering, StopReason,
    Update,
};

use crate::support::{SESSION, Stage, everything, setup, text};

#[test]
fn a_connection_begins_with_initialize_and_a_session() {
    let mut stage = Stage::new();
    assert_eq!(stage.client.open(Opening::New, &setup()), Err(CallError::WrongPhase));
    stage.client.initialize().expect("new");
    assert_eq!(stage.client.initialize(), Err(CallError::WrongPhase), "only once");
    let request = stage.sent_one();
    assert_eq!(
        (&request["method"], &request["params"]["protocolVersion"]),
        (&json!("initialize"), &json!(1))
    );
    let offered = &request["params"]["clientCapabilities"];
    assert_eq!(offered["terminal"], false, "the agent gets no terminal");
    assert_eq!(offered["fs"], json!({"readTextFile": false, "writeTextFile": false}));
    let events = stage.respond(&request, &everything());
    let [Event::Ready(agent)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((agent.name.as_str(), agent.version.as_str()), ("Fake", "2.0"));
    assert!(agent.loads && agent.resumes && agent.images && agent.steers);
    stage.client.open(Opening::New, &setup()).expect("ready");
    let request = stage.sent_one();
    let server = json!({"name": "tabwire_chat", "command": "/bin/tabwire", "args": ["mcp"],
        "env": [{"name": "A", "value": "b"}]});
    assert_eq!(request["params"], json!({"cwd": "/tmp", "mcpServers": [server], "_meta": {"x": 1}}));
    let modes =
        json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "do"}]});
    let events = stage.respond(&request, &json!({"sessionId": SESSION, "modes": modes}));
    assert!(
        matches!(events.as_slice(), [Event::Opened { .. }, Event::Options(options)] if options.len() == 1)
    );
}

#[test]
fn an_agent_of_another_version_is_refused() {
    let mut stage = Stage::new();
    stage.client.initialize().expect("new");
    let request = stage.sent_one();
    assert_eq!(stage.respond(&request, &json!({"protocolVersion": 2})), [Event::WrongVersion(Some(2))]);
    assert_eq!(stage.client.open(Opening::New, &setup()), Err(CallError::WrongPhase));
}

#[test]
fn a_turn_streams_text_calls_a_tool_and_ends() {
    let (mut stage, prompt) = Stage::working();
    assert_eq!(prompt["params"]["prompt"], json!([{"type": "text", "text": "hello"}]));
    assert_eq!(stage.client.prompt(&text("again")), Err(CallError::WrongPhase), "one turn at a time");
    let chunk = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}});
    assert!(
        matches!(stage.update(&chunk).as_slice(), [Event::Update(Update::AgentChunk { text, .. })] if text == "Hi")
    );
    let meta = json!({"claudeCode": {"toolName": "mcp__tabwire_chat__click"}});
    stage.update(&json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "x", "_meta": meta}));
    let events = stage.ask(7);
    let [Event::Asked(question)] = events.as_slice() else { panic!("{events:?}") };
    let QuestionKind::Permission { tool, is_mcp, .. } = &question.kind else { panic!("{question:?}") };
    assert_eq!(
        tool.meta_tool.as_deref(),
        Some("mcp__tabwire_chat__click"),
        "the facts of the call are known"
    );
    assert!(!is_mcp);
    assert_eq!(
        stage.client.answer(question.id, &Answer::Choose("maybe".to_owned())),
        Err(CallError::WrongValue)
    );
    stage.client.answer(question.id, &Answer::Choose("yes".to_owned())).expect("open");
    let sent = stage.sent_one();
    assert_eq!(sent["result"], json!({"outcome": {"outcome": "selected", "optionId": "yes"}}));
    assert_eq!(
        stage.client.answer(question.id, &Answer::Decline),
        Err(CallError::NoSuchQuestion),
        "the first answer counts"
    );
    stage.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}));
    let usage = json!({"sessionUpdate": "usage_update", "used": 5, "size": 10,
        "cost": {"amount": 0.5, "currency": "USD"}});
    assert!(
        matches!(stage.update(&usage).as_slice(), [Event::Update(Update::Usage(usage))] if usage.used == 5)
    );
    let ended = stage.respond(&prompt, &json!({"stopReason": "end_turn"}));
    assert_eq!(ended, [Event::TurnEnded(StopReason::EndTurn)]);
    assert!(!stage.client.is_working());
}

#[test]
fn a_stopped_turn_cancels_its_questions_and_later_ones() {
    let (mut stage, prompt) = Stage::working();
    let events = stage.ask(7);
    let [Event::Asked(question)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(stage.client.cancel(), Ok(vec![Event::Withdrawn(question.id)]));
    let sent = stage.sent();
    assert_eq!(sent[0]["method"], "session/cancel");
    assert_eq!(sent[1]["result"], json!({"outcome": {"outcome": "cancelled"}}));
    assert_eq!(stage.client.cancel(), Err(CallError::WrongPhase), "sent once");
    assert_eq!(stage.client.answer(question.id, &Answer::Decline), Err(CallError::NoSuchQuestion));
    assert_eq!(stage.ask(8), [], "a question after the stop is cancelled");
    assert_eq!(stage.sent_one()["result"], json!({"outcome": {"outcome": "cancelled"}}));
    assert_eq!(stage.client.steer(&text("go on"), Steering::Method), Err(CallError::WrongPhase));
    let error =
        json!({"jsonrpc": "2.0", "id": prompt["id"], "error": {"code": -32603, "message": "aborted"}});
    assert_eq!(stage.receive(&error), [Event::TurnEnded(StopReason::Cancelled)], "an abort is no failure");
}

#[test]
fn a_message_reaches_a_running_turn_by_either_way() {
    let (mut stage, prompt) = Stage::working();
    stage.client.steer(&text("also"), Steering::Method).expect("offered");
    let steering = stage.sent_one();
    assert_eq!(steering["method"], "_session/steering");
    assert_eq!(steering["params"]["_meta"]["steering"]["idleBehavior"], "promptRequired");
    assert_eq!(stage.respond(&steering, &json!({"outcome": "injected"})), [Event::Steered { taken: true }]);
    stage.client.steer(&text("more"), Steering::SecondPrompt).expect("any agent");
    let second = stage.sent_one();
    assert_eq!(second["method"], "session/prompt");
    assert_eq!(stage.respond(&prompt, &json!({"stopReason": "end_turn"})), [], "the second one waits");
    assert!(stage.client.is_working());
    assert_eq!(
        stage.respond(&second, &json!({"stopReason": "end_turn"})),
        [Event::TurnEnded(StopReason::EndTurn)]
    );

    let mut plain = everything();
    plain["_meta"] = Value::Null;
    let mut stage = Stage::ready(&plain);
    assert_eq!(stage.client.steer(&text("x"), Steering::Method), Err(CallError::WrongPhase));
    stage.client.open(Opening::New, &setup()).expect("ready");
    let request = stage.sent_one();
    stage.respond(&request, &json!({"sessionId": SESSION}));
    stage.client.prompt(&text("x")).expect("idle");
    assert_eq!(stage.client.steer(&text("y"), Steering::Method), Err(CallError::NotOffered));
}

#[test]
fn options_are_set_by_the_way_that_the_agent_offers() {
    let mut stage = Stage::open();
    let model = json!({"id": "model", "name": "Model", "category": "model", "type": "select",
        "currentValue": "a", "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]});
    let fast = json!({"id": "fast", "name": "Fast", "type": "boolean", "currentValue": false});
    let odd = json!({"id": "odd", "name": "Odd", "type": "slider", "currentValue": 3});
    let update = json!({"sessionUpdate": "config_option_update", "configOptions": [model, fast, odd]});
    assert!(matches!(stage.update(&update).as_slice(), [Event::Options(options)] if options.len() == 2));
    let text = |value: &str| OptionValue::Text(value.to_owned());
    assert_eq!(stage.client.set_option("model", text("c")), Err(CallError::WrongValue));
    assert_eq!(stage.client.set_option("fast", text("a")), Err(CallError::WrongValue));
    assert_eq!(stage.client.set_option("other", text("a")), Err(CallError::NotOffered));
    stage.client.set_option("fast", OptionValue::Boolean(true)).expect("a switch");
    let request = stage.sent_one();
    assert_eq!(request["method"], "session/set_config_option");
    assert_eq!(
        request["params"],
        json!({"sessionId": SESSION, "configId": "fast", "value": true, "type": "boolean"})
    );
    let events = stage.respond(&request, &Value::Null);
    assert!(matches!(events.as_slice(), [Event::Options(_)]), "the value is taken over");

    let mut stage = Stage::ready(&everything());
    stage.client.open(Opening::New, &setup()).expect("ready");
    let request = stage.sent_one();
    let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask"}, {"id": "do"}]});
    stage.respond(&request, &json!({"sessionId": SESSION, "modes": modes}));
    stage.client.set_option("mode", text("do")).expect("a mode");
    assert_eq!(stage.sent_one()["method"], "session/set_mode");
    let events = stage.update(&json!({"sessionUpdate": "current_mode_update", "modeId": "do"}));
    assert!(matches!(events.as_slice(), [Event::Options(_)]));
}

#[test]
fn a_session_is_resumed_or_loaded_without_its_messages() {
    let replayed =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "old"}});
    for (opening, method) in [
        (Opening::Resume(SESSION.to_owned()), "session/resume"),
        (Opening::Load(SESSION.to_owned()), "session/load"),
    ] {
        let mut stage = Stage::ready(&everything());
        stage.client.open(opening.clone(), &setup()).expect("offered");
        let request = stage.sent_one();
        assert_eq!((&request["method"], &request["params"]["sessionId"]), (&json!(method), &json!(SESSION)));
        assert_eq!(stage.update(&replayed), [], "the replay is discarded");
        assert_eq!(stage.client.counters().replayed, 1);
        let opened = stage.respond(&request, &Value::Null);
        assert_eq!(opened, [Event::Opened { session: SESSION.to_owned(), opening }]);
        assert_eq!(stage.update(&replayed).len(), 1, "what comes later counts");
    }
    let mut stage = Stage::ready(&json!({"protocolVersion": 1}));
    assert_eq!(stage.client.open(Opening::Load("x".to_owned()), &setup()), Err(CallError::NotOffered));
    assert_eq!(stage.client.open(Opening::Resume("x".to_owned()), &setup()), Err(CallError::NotOffered));
}

#[test]
fn an_agent_that_needs_a_sign_in_says_so_and_can_be_opened_later() {
    let mut stage = Stage::ready(&everything());
    stage.client.open(Opening::New, &setup()).expect("ready");
    let request = stage.sent_one();
    let error = json!({"code": -32000, "message": "Authentication required"});
    let events = stage.receive(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    let message = "Authentication required".to_owned();
    assert_eq!(events, [Event::SignInNeeded(RpcError { code: -32000, message })]);
    assert_eq!(stage.client.authenticate("terminal"), Err(CallError::NotOffered), "not by the protocol");
    stage.client.authenticate("login").expect("offered");
    let request = stage.sent_one();
    assert_eq!(stage.respond(&request, &json!({})), [Event::Authenticated]);
    stage.client.open(Opening::New, &setup()).expect("ready again");
}

#[test]
fn a_form_takes_only_values_that_fit() {
    let (mut stage, _) = Stage::working();
    let schema = json!({"type": "object", "required": ["how"], "properties": {
        "how": {"type": "string", "enum": ["fast", "slow"]}, "count": {"type": "integer"}}});
    let form = json!({"jsonrpc": "2.0", "id": "f", "method": "elicitation/create",
        "params": {"sessionId": SESSION, "mode": "form", "message": "How?", "requestedSchema": schema}});
    let events = stage.receive(&form);
    let [Event::Asked(question)] = events.as_slice() else { panic!("{events:?}") };
    let submit = |values: Value| Answer::Submit(serde_json::from_value(values).expect("a map"));
    for wrong in [
        json!({}),
        json!({"how": "later"}),
        json!({"how": "fast", "count": 1.5}),
        json!({"how": "fast", "x": 1}),
    ] {
        assert_eq!(
            stage.client.answer(question.id, &submit(wrong.clone())),
            Err(CallError::WrongValue),
            "{wrong}"
        );
    }
    stage.client.answer(question.id, &submit(json!({"how": "fast", "count": 2}))).expect("it fits");
    let sent = stage.sent_one();
    assert_eq!(
        sent,
        json!({"jsonrpc": "2.0", "id": "f",
        "result": {"action": "accept", "content": {"how": "fast", "count": 2}}})
    );
}

#[test]
fn images_are_left_out_for_an_agent_without_them() {
    let image = Content::Image { mime_type: "image/png".to_owned(), data: "AAAA".to_owned() };
    let mut plain = everything();
    plain["agentCapabilities"]["promptCapabilities"] = json!({});
    for (offers, parts) in [(everything(), 2), (plain, 1)] {
        let mut stage = Stage::ready(&offers);
        stage.client.open(Opening::New, &setup()).expect("ready");
        let request = stage.sent_one();
        stage.respond(&request, &json!({"sessionId": SESSION}));
        stage.client.prompt(&[Content::Text("look".to_owned()), image.clone()]).expect("idle");
        assert_eq!(stage.sent_one()["params"]["prompt"].as_array().map(Vec::len), Some(parts));
    }
}

#[test]
fn the_agent_withdraws_a_question_of_its_own() {
    let (mut stage, _) = Stage::working();
    let events = stage.ask(7);
    let [Event::Asked(question)] = events.as_slice() else { panic!("{events:?}") };
    let cancel = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 7}});
    assert_eq!(stage.receive(&cancel), [Event::Withdrawn(question.id)]);
    assert_eq!(stage.sent_one()["error"]["code"], -32800);
}
