//! The real agents behind their adapters in the real side panel, with a scripted model on loopback.
//! `.config/nextest.toml` leaves these tests to full runs.

use serde_json::{Value, json};

use crate::chat::real::{CLAUDE, CODEX, world_with};
use crate::chat::send;
use crate::own_browser::driving::{await_connected, own_browser};
use crate::panel::appearance::check_widths;
use crate::panel::turns::READY;
use crate::panel::{items, latest_chat, say};
use crate::support::extension_pages::ExtensionView;
use crate::support::fixture_site::FixtureSite;
use crate::support::page_checks::press_by_key;
use crate::support::process::kill;
use crate::support::wait::find_eventually;
use crate::support::world::World;

fn await_state(world: &World, state: &str) {
    let found = find_eventually(40, || (latest_chat(world)["state"] == state).then_some(()));
    assert!(found.is_some(), "{state}: {}", latest_chat(world));
}

/// Waits until the agent has said a text, in its own words: the user's message has the script.
fn hears(panel: &mut ExtensionView, text: &str) {
    let find =
        format!("[...document.querySelectorAll('.theirs')].some((one) => one.innerText.includes({text:?}))");
    let heard = find_eventually(60, || (panel.evaluate(&find) == true).then_some(()));
    assert!(heard.is_some(), "{text}: {}", panel.text());
}

fn asks(panel: &mut ExtensionView) {
    let asked = find_eventually(60, || (panel.evaluate(READY) == true).then_some(()));
    assert!(asked.is_some(), "no question: {}", panel.text());
}

/// Ask, tool call, a question by pointer and one by keys, reply, stop, steer, and the resume after a killed daemon.
fn a_chat_in_the_side_panel(agent: &str) {
    let ((world, _model), site) = (world_with(agent, true), FixtureSite::start());
    let browser = own_browser(&world);
    await_connected(&world);
    let mut panel = ExtensionView::panel(&browser);
    panel.take_keys();
    panel.shows("Choose an agent");
    panel.shows(if agent == CODEX { "Codex" } else { "Claude Code" });
    let call = |page: &str| format!("tool navigate {}", json!({"url": site.page(page)}));

    say(&mut panel, &format!("{}\nsay First reply.", call("/plain")));
    asks(&mut panel);
    panel.shows("wants to see and open pages of");
    panel.press("No");
    hears(&mut panel, "First reply.");
    panel.shows("not allowed: see and open");
    await_state(&world, "idle");
    let steps = items(&world, "step");
    assert_eq!(steps[0]["error"], "POLICY_DENIED", "{steps:?}");

    say(&mut panel, &format!("{}\nsay Second reply.", call("/form")));
    asks(&mut panel);
    press_by_key(&mut panel, "This session", " ");
    hears(&mut panel, "Second reply.");
    await_state(&world, "idle");
    let steps = items(&world, "step");
    assert_eq!(steps.last().map(|step| &step["succeeded"]), Some(&Value::Bool(true)), "{steps:?}");
    assert!(items(&world, "question").iter().all(|item| item["outcome"] == "allowed_by_rule"));
    assert!(panel.text().contains("tokens"), "the fill of the context is shown: {}", panel.text());
    check_widths(&mut panel, &format!("real-{agent}"));

    say(&mut panel, "say Waiting.\nhang");
    hears(&mut panel, "Waiting.");
    panel.press("Stop");
    panel.shows("Stopped");
    await_state(&world, "idle");

    say(&mut panel, "slow");
    hears(&mut panel, "3 ");
    say(&mut panel, "say Steered.");
    panel.shows("sent into the turn");
    hears(&mut panel, "Steered.");
    await_state(&world, "idle");
    // The agent's own options.
    panel.press("Agent and its options");
    panel.becomes("it offers a model", "document.querySelectorAll('.option select').length > 0");
    panel.press("Agent and its options");

    let saved = find_eventually(20, || {
        let id = latest_chat(&world)["id"].as_str()?.to_owned();
        let file = world.home().join(format!("state/chats/{id}.items.json"));
        std::fs::read_to_string(file).ok().filter(|text| text.contains("Steered.\\n"))
    });
    assert!(saved.is_some(), "the chat is saved");
    kill(world.daemon_pid());
    world.run(&["daemon", "start"]).succeeded();
    await_connected(&world);
    say(&mut panel, "say Back again.");
    hears(&mut panel, "Back again.");
    panel.shows("goes on with its earlier session.");
    await_state(&world, "idle");
    assert_eq!(panel.evaluate("[...document.querySelectorAll('.theirs')].filter((one) => one.innerText.includes('First reply.')).length"), 1);
    let id = latest_chat(&world)["id"].as_str().expect("an id").to_owned();
    send(&world, "DELETE", &format!("/v1/chats/{id}"), &Value::Null).expect("removed");
}

#[test]
fn codex_works_in_the_side_panel_from_the_question_to_the_resume() {
    a_chat_in_the_side_panel(CODEX);
}

#[test]
fn claude_code_works_in_the_side_panel_from_the_question_to_the_resume() {
    a_chat_in_the_side_panel(CLAUDE);
}

#[test]
fn a_real_agent_without_a_login_says_in_the_panel_how_to_sign_in() {
    for (agent, hint) in [(CODEX, "codex login"), (CLAUDE, "claude")] {
        let (world, _model) = world_with(agent, false);
        let browser = own_browser(&world);
        await_connected(&world);
        let mut panel = ExtensionView::panel(&browser);
        panel.shows("needs you to sign in");
        panel.shows(hint);
        say(&mut panel, "say Hello.");
        await_state(&world, "sign_in_needed");
        panel.becomes(
            "the notice has the command",
            &format!("document.querySelector('.talk .command code')?.textContent === {hint:?}"),
        );
        panel.shows("Retry");
    }
}
