//! A chat at a terminal.

use serde_json::json;

use super::{find_item, send, world_with};
use crate::scripts::repl::Terminal;

#[test]
fn a_chat_at_a_terminal_streams_asks_stops_and_ends() {
    let world = world_with("codex-acp", "");
    let mut terminal = Terminal::start(&world, &format!("exec '{}' chat new", env!("CARGO_BIN_EXE_tabwire")));
    terminal.expect("with Codex");
    terminal.press("say Hello there.\r");
    terminal.expect("\nHello there.");
    terminal.press("shell id\r");
    terminal.expect("The agent wants to use a tool of its own");
    terminal.expect("n  No");
    terminal.press("n\r");
    terminal.expect("The shell was refused.");
    terminal.press("shell id\r");
    terminal.expect("2  Allow");
    terminal.press("2\r");
    terminal.expect("The shell was allowed.");
    terminal.press("wait\r");
    terminal.expect("Waiting. ");
    terminal.press("\u{3}");
    terminal.expect("Stopping");
    terminal.expect("Stopped.");
    terminal.expect("Context: unavailable");
    terminal.press("\u{4}");
}

#[test]
fn lines_typed_while_the_agent_works_wait_or_reach_the_turn() {
    let world = world_with("codex-acp", "");
    let mut terminal = Terminal::start(&world, &format!("exec '{}' chat new", env!("CARGO_BIN_EXE_tabwire")));
    terminal.expect("with Codex");
    terminal.press("wait\r");
    terminal.expect("Waiting. ");
    terminal.press("say Later.\r");
    terminal.press("/steer hello\r");
    terminal.expect("Steered: hello");
    terminal.expect("Later.");
    terminal.press("usage\r");
    terminal.expect("Context: 90 % of 1000 tokens · 0.25 USD");
    terminal.expect("> ");
    terminal.press("/set model=large\r");
    terminal.expect("Set.");
    terminal.expect("> ");
    terminal.press("set\r");
    terminal.expect("\"model\":\"large\"");
    // An answer that is given elsewhere ends the question here.
    terminal.press("shell id\r");
    terminal.expect("n  No");
    let chats = world.json(&["chat", "list"])["chats"].clone();
    let path = format!("/v1/chats/{}", chats[0]["id"].as_str().expect("an id"));
    let question = find_item(&world, &path, "the question", |item| {
        item["outcome"].is_null() && item["item"] == "question"
    });
    let answer = json!({"id": question["question"], "choice": "once"});
    send(&world, "POST", &format!("{path}/answer"), &answer).expect("it waits");
    terminal.expect("answered elsewhere");
    terminal.expect("The shell was allowed.");
    terminal.press("\u{4}");
}
