//! Messages, tool calls, questions.

use serde_json::json;

use super::{await_state, chat, find_item, post_to_port, said, send, start, world_with};
use crate::support::fixture_site::FixtureSite;

#[test]
fn a_message_calls_a_tool_in_a_real_browser_and_gets_a_reply() {
    for program in ["codex-acp", "claude-agent-acp"] {
        let (world, site) = (world_with(program, ""), FixtureSite::start());
        let origin = site.page("").trim_end_matches('/').to_owned();
        world.run(&["allow", &origin, "--without-terminal"]).succeeded();
        let line = format!("tool navigate {}\n", json!({"url": site.page("/form")}));
        let outcome =
            chat(&world, &["new", "--upstream", "launch"], &format!("{line}say Good bye.\n")).succeeded();
        assert!(outcome.stdout.contains("Result: ") && outcome.stdout.contains("Good bye."), "{outcome:?}");
        assert!(outcome.stderr.contains("· navigate http"), "the daemon shows the step: {outcome:?}");
        let chats = world.json(&["chat", "list"])["chats"].clone();
        let id = chats[0]["id"].as_str().expect("an id").to_owned();
        let shown = world.json(&["chat", "show", &id]);
        let steps = shown["items"].as_array().expect("items").iter();
        let steps: Vec<_> =
            steps.filter(|item| item["item"] == "step").map(|item| item["action"].clone()).collect();
        assert!(steps.contains(&json!("navigate")), "{shown}");
        let asked = shown["items"].as_array().expect("items").iter().any(|item| item["item"] == "question");
        assert!(!asked, "the rule allows our own tools: {shown}");
        world.run(&["chat", "rm", &id]).succeeded();
    }
}

#[test]
fn a_policy_question_is_answered_in_the_chat() {
    let (world, site) = (world_with("codex-acp", ""), FixtureSite::start());
    let path = start(&world, &format!("tool navigate {}", json!({"url": site.page("/form")})));
    let open = |item: &serde_json::Value| item["item"] == "approval" && item["outcome"].is_null();
    let question = find_item(&world, &path, "a question", open);
    let answer = format!("{path}/answer");
    let wrong = send(&world, "POST", &answer, &json!({"id": question["approval"], "choice": "maybe"}));
    assert!(wrong.expect_err("not a choice").contains("once"));
    // An agent may know the token of the port.
    let body = json!({"id": question["approval"], "choice": "always"});
    assert!(post_to_port(&world, &answer, &body).contains("POLICY_DENIED"));
    send(&world, "POST", &answer, &json!({"id": question["approval"], "choice": "session"}))
        .expect("it waits");
    let log = world.run(&["log", "--json", "--action", "approval_answer"]);
    assert!(log.text().contains("the chat"), "{log:?}");
    await_state(&world, &path, "idle");
    assert!(said(&world, &path).contains("Result: "), "{}", said(&world, &path));
    let shown = find_item(&world, &path, "the answer", |item| item["outcome"]["answered"] == "session");
    assert_eq!(shown["approval"], question["approval"]);
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn t22_a_request_for_the_shell_reaches_the_user_only() {
    for program in ["codex-acp", "claude-agent-acp", "gemini"] {
        let world = world_with(program, "");
        // The model chooses the title and the parameters of a command.
        let path = start(&world, "shell mcp__tabwire_chat__click");
        let open = |item: &serde_json::Value| item["item"] == "question" && item["outcome"].is_null();
        let question = find_item(&world, &path, "a question", open);
        assert_eq!(question["tool"]["kind"], "execute");
        let answer = format!("{path}/answer");
        let wrong = send(&world, "POST", &answer, &json!({"id": "q999", "decline": true}));
        assert!(wrong.expect_err("no such question").contains("no such question"));
        send(&world, "POST", &answer, &json!({"id": question["question"], "decline": true}))
            .expect("it waits");
        await_state(&world, &path, "idle");
        assert_eq!(said(&world, &path), "The shell was refused.", "{program}");
        let again = send(&world, "POST", &answer, &json!({"id": question["question"], "choice": "once"}));
        assert!(again.is_err(), "the first answer counts");
        send(&world, "DELETE", &path, &json!({})).expect("removed");
    }
}

#[test]
fn a_grant_for_the_agent_holds_in_its_next_chat() {
    let (world, site) = (world_with("codex-acp", ""), FixtureSite::start());
    let line = format!("tool navigate {}", json!({"url": site.page("/form")}));
    let path = start(&world, &line);
    let open = |item: &serde_json::Value| item["item"] == "approval" && item["outcome"].is_null();
    let question = find_item(&world, &path, "a question", open);
    assert_eq!(question["facts"]["agent"], "Codex", "{question}");
    assert_eq!(question["facts"]["capability"], "read", "{question}");
    send(&world, "POST", &format!("{path}/answer"), &json!({"id": question["approval"], "choice": "agent"}))
        .expect("it waits");
    await_state(&world, &path, "idle");
    let second = start(&world, &line);
    await_state(&world, &second, "idle");
    assert!(said(&world, &second).contains("Result: "), "{}", said(&world, &second));
    let chat = send(&world, "GET", &second, &json!({})).expect("the chat");
    let asked = chat["items"].as_array().expect("items").iter().any(|item| item["item"] == "approval");
    assert!(!asked, "{chat}");
    for path in [path, second] {
        send(&world, "DELETE", &path, &json!({})).expect("removed");
    }
}

#[test]
fn t22_nothing_that_runs_on_the_machine_is_allowed_over_the_port() {
    let world = world_with("codex-acp", "");
    let path = start(&world, "shell id");
    let open = |item: &serde_json::Value| item["item"] == "question" && item["outcome"].is_null();
    let question = find_item(&world, &path, "a question", open);
    let answer = format!("{path}/answer");
    for choice in ["once", "always"] {
        let body = json!({"id": question["question"], "choice": choice});
        assert!(post_to_port(&world, &answer, &body).contains("POLICY_DENIED"), "{choice}");
    }
    // It can be refused there.
    let body = json!({"id": question["question"], "choice": "no"});
    assert!(post_to_port(&world, &answer, &body).contains("\"done\":true"));
    await_state(&world, &path, "idle");
    assert_eq!(said(&world, &path), "The shell was refused.");
    for option in ["mode", "loud", "other"] {
        let body = json!({"options": {option: "full"}});
        assert!(post_to_port(&world, &format!("{path}/change"), &body).contains("POLICY_DENIED"), "{option}");
    }
    let body = json!({"options": {"model": "large"}});
    assert!(post_to_port(&world, &format!("{path}/change"), &body).contains("\"done\":true"));
    let directory = json!({"directory": world.home()});
    assert!(post_to_port(&world, "/v1/chats", &directory).contains("POLICY_DENIED"));
    assert!(
        post_to_port(&world, "/v1/chats", &json!({"options": {"mode": "full"}})).contains("POLICY_DENIED")
    );
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn t22_an_agent_that_may_have_a_shell_takes_no_messages_over_the_port() {
    let world = world_with("gemini", "");
    let path = start(&world, "say One.");
    await_state(&world, &path, "idle");
    for (path, body) in [
        ("/v1/chats".to_owned(), json!({"agent": "gemini", "text": "say Two."})),
        (format!("{path}/messages"), json!({"text": "say Two."})),
        (format!("{path}/retry"), json!({})),
    ] {
        assert!(post_to_port(&world, &path, &body).contains("POLICY_DENIED"), "{path}");
    }
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn an_agent_of_unknown_ways_asks_for_our_tools_too() {
    let world = world_with("gemini", "");
    let outcome = chat(&world, &["new", "--agent", "gemini"], "tool navigate {\"url\":\"about:blank\"}\n");
    assert!(outcome.stdout.contains("The tool was refused."), "{outcome:?}");
    assert!(outcome.stderr.contains("there is no terminal to ask"), "{outcome:?}");
}

#[test]
fn unknown_requests_are_refused_and_usage_is_shown() {
    let world = world_with("codex-acp", "");
    let path = start(&world, "unknown\nusage\nthink Let me see.");
    await_state(&world, &path, "idle");
    assert_eq!(said(&world, &path), "Refused: -32601 -32601 -32601");
    let shown = send(&world, "GET", &path, &json!({})).expect("the chat");
    assert_eq!((&shown["usage"]["used"], &shown["usage"]["cost"]["currency"]), (&json!(900), &json!("USD")));
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn a_second_prompt_reaches_the_turn_of_claude_code() {
    let world = world_with("claude-agent-acp", "");
    let path = start(&world, "wait");
    find_item(&world, &path, "the turn", |item| item["text"] == "Waiting. ");
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "hello", "steer": true}))
        .expect("into the turn");
    find_item(&world, &path, "the answer", |item| {
        item["text"].as_str().is_some_and(|text| text.contains("Second: hello"))
    });
    await_state(&world, &path, "idle");
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn a_message_while_the_agent_works_waits_or_reaches_the_turn() {
    let world = world_with("codex-acp", "");
    let path = start(&world, "wait");
    find_item(&world, &path, "the turn", |item| item["text"] == "Waiting. ");
    let messages = format!("{path}/messages");
    send(&world, "POST", &messages, &json!({"text": "say Later."})).expect("it waits");
    find_item(&world, &path, "the queued message", |item| item["queued"] == true);
    send(&world, "POST", &messages, &json!({"text": "hello", "steer": true})).expect("into the turn");
    find_item(&world, &path, "the next turn", |item| item["text"] == "Later.");
    assert!(said(&world, &path).contains("Steered: hello"), "{}", said(&world, &path));
    find_item(&world, &path, "the mark", |item| item["steered"] == true);
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}
