//! The real agents when they die, hang, flood or have no model. `.config/nextest.toml` leaves these tests to full runs.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use super::real::{CLAUDE, CODEX, say, world_with};
use super::{await_state, find_item, said, send, start};
use crate::support::process::{Process, kill, signal};
use crate::support::world::World;

/// The adapter of the chat: the process that speaks to the daemon.
fn adapter(world: &World) -> Process {
    let home = world.home().display().to_string();
    let is_it = |one: &Process| one.command.contains("/dist/index.js") && one.mentions(&home);
    Process::all().into_iter().find(is_it).expect("the adapter runs")
}

/// The agent's own program, which the adapter has started.
fn program(adapter: &Process) -> Process {
    let all = Process::all();
    let is_below = |one: &&Process| one.parent == adapter.pid;
    all.iter().find(is_below).expect("the agent runs").clone()
}

fn await_text(world: &World, path: &str, text: &str) {
    find_item(world, path, text, |item| {
        item["item"] == "agent" && item["text"].as_str().is_some_and(|said| said.contains(text))
    });
}

#[test]
fn a_real_agent_that_is_killed_is_reported_and_resumed() {
    for agent in [CODEX, CLAUDE] {
        let (world, _model) = world_with(agent, true);
        let path = start(&world, "say Remember this.");
        await_text(&world, &path, "Remember this.");
        await_state(&world, &path, "idle");
        say(&world, &path, "say Waiting.\nhang");
        await_text(&world, &path, "Waiting.");
        kill(adapter(&world).pid);
        find_item(&world, &path, "the end", |item| item["notice"] == "agent_ended");
        await_state(&world, &path, "offline");
        say(&world, &path, "say Back again.");
        await_text(&world, &path, "Back again.");
        await_state(&world, &path, "idle");
        assert_eq!(said(&world, &path).matches("Remember this.").count(), 1, "{agent}: nothing is repeated");
        send(&world, "DELETE", &path, &json!({})).expect("removed");
    }
}

/// The adapter goes on without its agent: the turn ends, and the chat can go on.
#[test]
fn a_real_agent_whose_program_is_killed_ends_its_turn() {
    for agent in [CODEX, CLAUDE] {
        let (world, _model) = world_with(agent, true);
        let path = start(&world, "say Waiting.\nhang");
        await_text(&world, &path, "Waiting.");
        kill(program(&adapter(&world)).pid);
        let ended = find_item(&world, &path, "the end", |item| {
            item["notice"] == "failed" || item["notice"] == "agent_ended"
        });
        assert!(ended["text"].as_str().is_some_and(|text| !text.is_empty()), "{agent}: {ended}");
        say(&world, &path, "say Back again.");
        await_text(&world, &path, "Back again.");
        send(&world, "DELETE", &path, &json!({})).expect("removed");
    }
}

#[test]
fn a_real_agent_that_hangs_is_ended_after_5_seconds() {
    for agent in [CODEX, CLAUDE] {
        let (world, _model) = world_with(agent, true);
        let path = start(&world, "say Waiting.\nhang");
        await_text(&world, &path, "Waiting.");
        signal(adapter(&world).pid, Signal::STOP);
        let started = Instant::now();
        send(&world, "POST", &format!("{path}/stop"), &json!({})).expect("sent");
        let notice = find_item(&world, &path, "the end", |item| item["notice"] == "stopped");
        let text = notice["text"].as_str().unwrap_or_default();
        assert!(text.contains("did not stop within 5 s"), "{agent}: {notice}");
        assert!(started.elapsed() < Duration::from_secs(20), "{agent}");
        await_state(&world, &path, "offline");
        say(&world, &path, "say Back again.");
        await_text(&world, &path, "Back again.");
        send(&world, "DELETE", &path, &json!({})).expect("removed");
    }
}

#[test]
fn a_flood_of_a_real_agent_is_cut_and_the_chat_goes_on() {
    for agent in [CODEX, CLAUDE] {
        let (world, _model) = world_with(agent, true);
        let path = start(&world, "flood");
        let cut = find_item(&world, &path, "the flood", |item| item["cut"] == true);
        assert!(cut["text"].as_str().is_some_and(|text| text.len() <= 256 * 1024), "{agent}");
        await_state(&world, &path, "idle");
        say(&world, &path, "say Still here.");
        await_text(&world, &path, "Still here.");
        send(&world, "DELETE", &path, &json!({})).expect("removed");
    }
}
