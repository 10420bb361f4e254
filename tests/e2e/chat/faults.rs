//! Agents that hang, die, flood or refuse.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{await_state, chat, find_item, said, send, start, world_with};
use crate::support::fixture_site::FixtureSite;

#[test]
fn a_turn_is_stopped_and_the_agent_goes_on() {
    let world = world_with("codex-acp", "");
    let path = start(&world, "say Thinking.\nhang");
    find_item(&world, &path, "the turn", |item| item["text"] == "Thinking.");
    send(&world, "POST", &format!("{path}/stop"), &json!({})).expect("stopped");
    find_item(&world, &path, "the stop", |item| item["notice"] == "stopped");
    await_state(&world, &path, "idle");
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "say Still here."})).expect("sent");
    find_item(&world, &path, "the answer", |item| item["text"] == "Still here.");
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn an_agent_that_does_not_stop_is_ended_after_5_seconds() {
    let world = world_with("codex-acp", "");
    let path = start(&world, "say Deaf.\ndeaf");
    find_item(&world, &path, "the turn", |item| item["text"] == "Deaf.");
    let started = Instant::now();
    send(&world, "POST", &format!("{path}/stop"), &json!({})).expect("sent");
    let notice = find_item(&world, &path, "the end", |item| item["notice"] == "stopped");
    assert!(notice["text"].as_str().is_some_and(|text| text.contains("did not stop within 5 s")), "{notice}");
    assert!(started.elapsed() < Duration::from_secs(20));
    await_state(&world, &path, "offline");
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn an_agent_that_dies_is_reported_and_resumed_by_the_next_message() {
    let world = world_with("codex-acp", "");
    let path = start(&world, "die");
    find_item(&world, &path, "the end", |item| item["notice"] == "agent_ended");
    await_state(&world, &path, "offline");
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "recall"})).expect("sent");
    find_item(&world, &path, "the answer", |item| {
        item["item"] == "agent"
            && item["text"].as_str().is_some_and(|text| text.ends_with("by session/resume"))
    });
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

/// An adapter goes on when its agent has died, and has the session no longer.
#[test]
fn an_agent_that_has_lost_its_session_is_started_again_to_resume_it() {
    let world = world_with("codex-acp", "");
    let path = start(&world, "say Remember this.\nlose");
    find_item(&world, &path, "the answer", |item| item["text"] == "Remember this.");
    await_state(&world, &path, "idle");
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "recall"})).expect("sent");
    find_item(&world, &path, "the second answer", |item| {
        item["item"] == "agent"
            && item["text"].as_str().is_some_and(|text| text.ends_with("by session/resume"))
    });
    await_state(&world, &path, "idle");
    let chat = send(&world, "GET", &path, &json!({})).expect("the chat");
    let items = chat["items"].as_array().expect("items");
    assert_eq!(items.iter().filter(|item| item["text"] == "recall").count(), 1, "sent once: {items:?}");
    assert!(items.iter().all(|item| item["notice"] != "failed"), "{items:?}");
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn a_flood_is_cut_and_the_chat_goes_on() {
    let world = world_with("codex-acp", "");
    let path = start(&world, "flood\nusage");
    let cut = find_item(&world, &path, "the flood", |item| item["cut"] == true);
    assert!(cut["text"].as_str().is_some_and(|text| text.len() == 256 * 1024));
    await_state(&world, &path, "idle");
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn an_agent_without_a_login_says_how_to_sign_in() {
    let world = world_with("codex-acp", "sign-in");
    let outcome = chat(&world, &["new"], "say Hello.\n");
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stderr.contains("codex login"), "{outcome:?}");
    assert_eq!(world.json(&["chat", "list"])["chats"][0]["state"], "sign_in_needed");
}

#[test]
fn a_message_waits_until_the_user_has_signed_in() {
    for fault in ["sign-in", "late-sign-in"] {
        let world = world_with("codex-acp", fault);
        let path = start(&world, "say One.\nheard");
        await_state(&world, &path, "sign_in_needed");
        let agents = world.json(&["chat", "agents"])["agents"].clone();
        let codex = agents.as_array().expect("agents").iter().find(|agent| agent["id"] == "codex").cloned();
        assert_eq!(codex.expect("listed")["signed_in"], "needed", "{agents}");
        find_item(&world, &path, "the message", |item| item["item"] == "user" && item["queued"] == true);
        std::fs::write(world.home().join("programs/signed-in"), "").expect("written");
        send(&world, "POST", &format!("{path}/retry"), &json!({})).expect("started");
        find_item(&world, &path, "the answer", |item| item["text"] == "One.Heard: text");
        await_state(&world, &path, "idle");
        let chat = send(&world, "GET", &path, &json!({})).expect("the chat");
        let users: Vec<_> =
            chat["items"].as_array().expect("items").iter().filter(|item| item["item"] == "user").collect();
        assert!(users.len() == 1 && users[0]["queued"] == false, "sent once: {users:?}");
        send(&world, "DELETE", &path, &json!({})).expect("removed");
    }
}

#[test]
fn a_failed_turn_is_tried_again_with_the_same_message() {
    let world = world_with("codex-acp", "");
    let path = start(&world, "fail The model is overloaded.");
    find_item(&world, &path, "the failure", |item| item["text"] == "The model is overloaded.");
    await_state(&world, &path, "idle");
    send(&world, "POST", &format!("{path}/retry"), &json!({})).expect("sent");
    let is_second = |items: &[serde_json::Value]| {
        items.iter().filter(|item| item["text"] == "The model is overloaded.").count() == 2
    };
    crate::support::wait::eventually("the second failure", 20, || {
        let chat = send(&world, "GET", &path, &json!({})).expect("the chat");
        is_second(chat["items"].as_array().expect("items"))
    });
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn messages_to_an_agent_that_is_gone_wait_for_it() {
    let world = world_with("codex-acp", "");
    let path = start(&world, "say One.");
    await_state(&world, &path, "idle");
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "die"})).expect("sent");
    await_state(&world, &path, "offline");
    let program = world.home().join("programs/codex-acp");
    std::fs::rename(&program, world.home().join("programs/away")).expect("moved");
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "say Two."})).expect("taken");
    find_item(&world, &path, "the failure", |item| item["notice"] == "failed");
    std::fs::rename(world.home().join("programs/away"), &program).expect("moved back");
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "say Three."})).expect("sent");
    find_item(&world, &path, "the last answer", |item| item["text"] == "Three.");
    assert!(said(&world, &path).contains("Two.\nThree."), "in their order: {}", said(&world, &path));
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn a_stop_ends_the_actions_of_the_agent_at_once() {
    let (world, site) = (world_with("codex-acp", ""), FixtureSite::start());
    let origin = site.page("").trim_end_matches('/').to_owned();
    world.run(&["allow", &origin, "--without-terminal"]).succeeded();
    let open = format!("tool navigate {}", json!({"url": site.page("/form")}));
    let wait = format!("tool wait_for {}", json!({"text": "never there", "timeout_ms": 30_000}));
    let path = start(&world, &format!("{open}\n{wait}\n{open}"));
    let is_wait = |item: &serde_json::Value| item["item"] == "step" && item["action"] == "wait_for";
    find_item(&world, &path, "the wait", is_wait);
    let started = Instant::now();
    send(&world, "POST", &format!("{path}/stop"), &json!({})).expect("stopped");
    find_item(&world, &path, "the end of the wait", |item| is_wait(item) && item["error"] == "PAUSED");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    await_state(&world, &path, "idle");
    let chat = send(&world, "GET", &path, &json!({})).expect("the chat");
    let steps = chat["items"].as_array().expect("items").iter().filter(|item| item["item"] == "step");
    let navigations: Vec<_> = steps.filter(|item| item["action"] == "navigate").collect();
    assert_eq!(navigations.len(), 1, "nothing begins after the stop: {navigations:?}");
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": open})).expect("sent");
    await_state(&world, &path, "working");
    await_state(&world, &path, "idle");
    assert!(
        said(&world, &path).ends_with(&format!("Result: {}", "")) || said(&world, &path).contains("Result")
    );
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn without_an_agent_the_error_says_how_to_install_one() {
    let world = world_with("nothing", "");
    let agents = world.json(&["chat", "agents"])["agents"].clone();
    let agents = agents.as_array().expect("agents");
    assert!(agents.iter().any(|agent| agent["id"] == "codex" && agent["install"].is_string()), "{agents:?}");
    let outcome = chat(&world, &["new", "--agent", "unknown"], "say Hello.\n");
    assert!(outcome.stderr.contains("There is no agent `unknown`"), "{outcome:?}");
}
