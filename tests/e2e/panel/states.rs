//! States of the side panel: no agent, sign-in, agents that die, a lost daemon, earlier chats.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use crate::chat::{send, world_with};
use crate::own_browser::driving::{await_connected, own_browser};
use crate::own_browser::extension_ui::states::{open_tabs, unpaired_browser};
use crate::panel::appearance::check_widths;
use crate::panel::{items, latest_chat, panel_with, say};
use crate::support::extension_pages::ExtensionView;
use crate::support::wait::eventually;
use crate::support::world::{World, testkit_program};

#[test]
fn without_an_agent_the_panel_says_how_to_install_one() {
    let (_world, _browser, mut panel) = panel_with("another-program", "");
    panel.shows("No agent is installed");
    panel.shows("npm install -g @agentclientprotocol/codex-acp");
    panel.becomes("nothing can be sent", "document.querySelector('textarea').disabled");
    check_widths(&mut panel, "no-agent");
    panel.press("Earlier chats");
    panel.shows("No chat yet.");
    check_widths(&mut panel, "no-history");
}

#[test]
fn a_panel_that_is_not_paired_says_how_to_pair() {
    let world = World::new();
    let browser = unpaired_browser(&world);
    let mut panel = ExtensionView::panel(&browser);
    panel.shows("This browser is not paired.");
    panel.shows("tabwire extension install");
    check_widths(&mut panel, "not-paired");
}

#[test]
fn an_agent_without_a_login_says_in_the_panel_how_to_sign_in() {
    let (world, _browser, mut panel) = panel_with("codex-acp", "sign-in");
    say(&mut panel, "say hello");
    panel.shows("Codex needs you to sign in.");
    panel.shows("codex login");
    panel.shows("Retry");
    check_widths(&mut panel, "sign-in");
    std::fs::write(world.home().join("programs/signed-in"), "").expect("written");
    panel.press("Retry");
    panel.becomes("it replies", "document.querySelector('.theirs')?.textContent === 'hello'");
    assert_eq!(items(&world, "user").len(), 1, "the message is sent once");
}

#[test]
fn the_start_page_knows_which_agents_have_a_login() {
    let world = world_with("codex-acp", "");
    let programs = world.home().join("programs");
    // Its own program reports the login by its exit code.
    let own = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && exec echo codex-cli 1.2.3\ntest -e '{}/signed-in'\n",
        programs.display()
    );
    std::fs::write(programs.join("codex"), own).expect("written");
    std::fs::set_permissions(programs.join("codex"), Permissions::from_mode(0o755)).expect("executable");
    symlink(testkit_program("fake-agent"), programs.join("gemini")).expect("a link");
    std::fs::write(programs.join("claude"), "#!/bin/sh\n").expect("written");
    std::fs::set_permissions(programs.join("claude"), Permissions::from_mode(0o755)).expect("executable");
    let browser = own_browser(&world);
    await_connected(&world);
    let mut panel = ExtensionView::panel(&browser);
    panel.shows("1.2.3 · needs you to sign in");
    panel.shows("codex login");
    panel.becomes(
        "one that works is chosen",
        "document.querySelector('[aria-pressed=true]')?.textContent.startsWith('Gemini CLI')",
    );
    panel.press("Other agents");
    panel.shows("Claude Code is installed, but its adapter for chats is not.");
    check_widths(&mut panel, "start-sign-in");
    std::fs::write(programs.join("signed-in"), "").expect("written");
    panel.press("Look again");
    panel.shows("1.2.3 · signed in");
    panel.becomes(
        "the preferred one is chosen",
        "document.querySelector('[aria-pressed=true]')?.textContent.startsWith('Codex')",
    );
}

#[test]
fn an_agent_that_died_is_resumed_from_the_panel() {
    let (world, _browser, mut panel) = panel_with("codex-acp", "");
    say(&mut panel, "say first\ndie");
    panel.shows("first");
    panel.shows("Resume");
    panel.shows("not running");
    check_widths(&mut panel, "agent-died");
    say(&mut panel, "recall");
    panel.shows("by session/resume");
    assert_eq!(items(&world, "user").len(), 2);
}

#[test]
fn a_chat_outlives_panel_and_daemon() {
    let (world, browser, mut panel) = panel_with("codex-acp", "");
    say(&mut panel, "say Remember this.");
    panel.shows("Remember this.");
    eventually("the agent waits", 20, || latest_chat(&world)["state"] == "idle");
    drop(panel);
    let mut panel = ExtensionView::panel(&browser);
    // The chat that was open is shown again.
    panel.becomes("it is shown", "document.querySelector('.theirs')?.textContent === 'Remember this.'");
    world.run(&["daemon", "stop"]).succeeded();
    panel.shows("Tabwire is not running.");
    panel.becomes(
        "its transcript stays",
        "document.querySelector('.theirs')?.textContent === 'Remember this.'",
    );
    panel.becomes("nothing can be sent", "document.querySelector('textarea').disabled");
    check_widths(&mut panel, "daemon-away");
    world.run(&["daemon", "start"]).succeeded();
    await_connected(&world);
    panel.shows_no_more("Tabwire is not running.");
    say(&mut panel, "recall");
    panel.shows("by session/resume");
}

/// The titles of all chats, sorted.
fn titles(world: &World) -> Vec<String> {
    let chats = send(world, "GET", "/v1/chats", &Value::Null).expect("the chats");
    let titles = chats["chats"].as_array().expect("a list").iter().filter_map(|chat| chat["title"].as_str());
    let mut titles: Vec<String> = titles.map(str::to_owned).collect();
    titles.sort();
    titles
}

#[test]
fn earlier_chats_are_found_and_renamed() {
    let (world, _browser, mut panel) = panel_with("codex-acp", "");
    for text in ["say one", "say two"] {
        panel.press("New chat");
        panel.shows("Choose an agent");
        say(&mut panel, text);
        panel.becomes(
            "it has replied",
            &format!("document.querySelector('.theirs')?.textContent === {:?}", &text[4..]),
        );
    }
    panel.press("Earlier chats");
    panel.shows("say one");
    check_widths(&mut panel, "history");
    panel.type_into("input[type=search]", "two");
    panel.shows_no_more("say one");
    panel.press("Rename say two");
    panel.becomes("the name is edited", "document.activeElement?.value === 'say two'");
    panel.type_into("input[aria-label='New name']", "The second");
    panel.press("Rename");
    panel.evaluate("document.querySelector('input[type=search]').value = ''");
    panel.type_into("input[type=search]", "second");
    panel.shows("The second");
    // What was said is found too, not the title alone.
    panel.evaluate("document.querySelector('input[type=search]').value = ''");
    panel.type_into("input[type=search]", "say two");
    panel.shows("The second");
    panel.shows_no_more("say one");
    assert_eq!(titles(&world), ["The second", "say one"]);
    panel.evaluate("(() => { const one = document.querySelector('input[type=search]'); one.value = ''; one.dispatchEvent(new Event('input')); })()");
    panel.press("Delete say one");
    panel.shows("Delete this chat?");
    panel.press("Delete say one");
    eventually("it is deleted", 40, || titles(&world) == ["The second"]);
}

#[test]
fn a_chat_whose_session_is_gone_begins_anew_and_says_so() {
    let (world, _browser, mut panel) = panel_with("codex-acp", "resume-fails");
    say(&mut panel, "say first");
    panel.becomes("it replies", "document.querySelector('.theirs')?.textContent === 'first'");
    eventually("the agent waits", 20, || latest_chat(&world)["state"] == "idle");
    world.run(&["daemon", "stop"]).succeeded();
    world.run(&["daemon", "start"]).succeeded();
    await_connected(&world);
    panel.shows("not running");
    say(&mut panel, "before");
    panel.shows("could not resume");
    panel.shows("Before:");
    eventually("the agent waits", 20, || latest_chat(&world)["state"] == "idle");
    check_widths(&mut panel, "resumed-fresh");
}

#[test]
fn an_agent_that_starts_and_a_page_that_is_off_limits_are_named() {
    let (_world, browser, mut panel) = panel_with("codex-acp", "no-start");
    open_tabs(&browser, &["chrome://version/"]);
    panel.shows("This tab is off limits.");
    say(&mut panel, "say hello");
    panel.shows("Codex starts…");
    check_widths(&mut panel, "starting");
}

#[test]
fn a_new_key_closes_the_panel_and_it_connects_again() {
    let (world, _browser, mut panel) = panel_with("codex-acp", "");
    panel.shows("Choose an agent");
    // The panel has not replaced the worker's connection.
    assert_eq!(world.json(&["extension", "status"])["connected"].as_array().map(Vec::len), Some(1));
    panel.evaluate(
        "(window.lineClosed = 0, document.body.addEventListener('x', () => 0), \
          new MutationObserver(() => { if (document.querySelector('textarea').disabled) window.lineClosed += 1; }) \
          .observe(document.querySelector('textarea'), { attributes: true }), 0)",
    );
    world.json(&["extension", "rotate"]);
    panel.becomes("its line was closed", "window.lineClosed > 0");
    await_connected(&world);
    say(&mut panel, "say With the new key.");
    panel.becomes("it replies", "document.querySelector('.theirs')?.textContent === 'With the new key.'");
}
