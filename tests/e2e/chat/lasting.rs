//! Chats that outlive their agent and their daemon.

use serde_json::json;

use super::{await_state, chat, find_item, send, start, world_with};
use crate::support::process::kill;

#[test]
fn a_chat_survives_a_killed_daemon_and_is_resumed() {
    let ways = [
        ("", "by session/resume"),
        ("load-only", "by session/load"),
        ("resume-fails", "by session/new"),
        ("resume-dies", "by session/new"),
        ("resume-hangs", "by session/new"),
    ];
    for (faults, expected) in ways {
        let is_fresh = expected == "by session/new";
        let world = world_with("codex-acp", faults);
        let path = start(&world, "say Remember me.");
        find_item(&world, &path, "the answer", |item| item["text"] == "Remember me.");
        await_state(&world, &path, "idle");
        // Saved within two seconds.
        crate::support::wait::eventually("the file", 20, || {
            let name = format!("{}.chat.json", path.rsplit('/').next().unwrap_or_default());
            let file = world.home().join("state/chats").join(name);
            std::fs::read_to_string(file).is_ok_and(|text| text.contains("fake-"))
        });
        kill(world.daemon_pid());
        let id = path.rsplit('/').next().expect("an id");
        let shown = world.json(&["chat", "show", id]);
        assert_eq!(shown["state"], "offline", "{shown}");
        let outcome = chat(&world, &["resume", id], "recall\nbefore\n").succeeded();
        assert!(outcome.stdout.contains(expected), "{faults}: {outcome:?}");
        assert_eq!(outcome.stderr.contains("could not resume"), is_fresh, "{faults}: {outcome:?}");
        assert!(!outcome.stdout.contains("was said before"), "a replay is discarded: {outcome:?}");
        assert!(outcome.stdout.contains("Before: before"), "the preamble is sent once: {outcome:?}");
        if is_fresh {
            let outcome = chat(&world, &["resume", id], "before\n").succeeded();
            assert!(outcome.stdout.contains("Before: before"), "{outcome:?}");
        }
        world.run(&["chat", "rm", id]).succeeded();
        assert!(send(&world, "GET", &path, &json!({})).is_err(), "it is gone");
        assert!(world.files("state/chats").is_empty());
    }
}

#[test]
fn an_agent_without_its_session_gets_the_transcript_once() {
    let world = world_with("codex-acp", "no-resume");
    let path = start(&world, "say Remember the blue door.");
    await_state(&world, &path, "idle");
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "die"})).expect("sent");
    find_item(&world, &path, "the end", |item| item["notice"] == "agent_ended");
    await_state(&world, &path, "offline");
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "before"})).expect("sent");
    find_item(&world, &path, "the preamble", |item| {
        item["text"].as_str().is_some_and(|text| text.contains("Before: This is the conversation so far."))
    });
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn options_are_kept_when_the_agent_starts_again() {
    let world = world_with("codex-acp", "");
    let path = start(&world, "set");
    // The mode in which Codex asks.
    find_item(&world, &path, "the values", |item| {
        item["text"].as_str()
            == Some(&json!({"loud": false, "mode": "read-only", "model": "small"}).to_string())
    });
    let change = format!("{path}/change");
    send(&world, "POST", &change, &json!({"options": {"model": "large", "loud": true}})).expect("set");
    let wrong = json!({"options": {"model": "huge"}});
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "die"})).expect("sent");
    await_state(&world, &path, "offline");
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "set"})).expect("sent");
    find_item(&world, &path, "the same values", |item| {
        item["text"].as_str()
            == Some(&json!({"loud": true, "mode": "read-only", "model": "large"}).to_string())
    });
    let shown = send(&world, "GET", &path, &json!({})).expect("the chat");
    assert_eq!(shown["chosen_options"], json!({"model": "large", "loud": true}));
    send(&world, "POST", &change, &wrong).expect("taken");
    find_item(&world, &path, "the refusal", |item| {
        item["text"].as_str().is_some_and(|text| text.contains("does not accept that value of `model`"))
    });
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn a_chat_is_listed_renamed_and_deleted() {
    let world = world_with("codex-acp", "");
    chat(&world, &["new"], "say One.\n").succeeded();
    let id = world.json(&["chat", "list"])["chats"][0]["id"].as_str().expect("an id").to_owned();
    world.run(&["chat", "rename", &id, "My title"]).succeeded();
    assert!(world.run(&["chat", "list"]).succeeded().stdout.contains("My title"));
    assert!(world.run(&["chat", "show", &id]).succeeded().stdout.contains("One."));
    world.run(&["chat", "rm", &id]).succeeded();
    assert_eq!(world.run(&["chat", "list"]).succeeded().text(), "No chats.");
    let missing = world.run(&["chat", "show", &id]);
    assert!(missing.stderr.contains("There is no chat"), "{missing:?}");
}

#[test]
fn without_history_nothing_is_written() {
    let world = world_with("codex-acp", "").with("TABWIRE_CHAT_HISTORY", "false");
    chat(&world, &["new"], "say One.\n").succeeded();
    assert!(!world.home().join("state/chats").exists());
}
