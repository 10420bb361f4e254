//! Agents by the names that their users know, and grants for one agent.

use serde_json::{Value, json};

use crate::mcp::client::McpClient;
use crate::own_browser::extension_ui::states::open_tabs;
use crate::own_browser::tabs::connected_browser;
use crate::support::extension_pages::{ExtensionView, ExtensionWorker};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::{World, wait};

const OWN: [&str; 2] = ["--upstream", "extension"];

fn grants(world: &World) -> Vec<Value> {
    world.json(&["grants", "list"])["entries"].as_array().cloned().expect("a list")
}

#[test]
fn an_mcp_client_is_called_by_its_name_in_popup_and_tab_group() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let mut popup = ExtensionView::popup(&browser);
    let mut agent = McpClient::start_as(&world, "claude-code", &OWN);
    let opening =
        agent.begin("tools/call", json!({"name": "navigate", "arguments": {"url": site.page("/form")}}));
    popup.shows("Claude Code wants to see and open pages of");
    popup.shows("navigate in a session of its own");
    let text = popup.text();
    assert!(!text.contains("mcp-") && !text.contains("process "), "{text}");
    popup.press("Always for Claude Code");
    agent.response(opening);
    popup.shows("always allowed for this agent.");
    assert_eq!(grants(&world)[0]["agent"], "Claude Code");
    // The tab is listed with the agent's name, and its group has that name.
    popup.becomes(
        "the tab's client",
        "document.querySelector('#tabs .tag.agent')?.textContent === 'Claude Code'",
    );
    let mut worker = ExtensionWorker::of(&browser);
    let title = "chrome.tabGroups.query({}).then((all) => all.map((one) => one.title).join())";
    eventually("the group has the client's name", 10, || worker.evaluate(title) == "Claude Code");
    popup.press("Sites granted");
    popup.shows("read for Claude Code");
    let listed = world.run(&["grants", "list"]).succeeded().stdout;
    assert!(listed.contains("Claude Code"), "{listed}");
    agent.close();
}

#[test]
fn always_for_one_agent_leaves_the_question_to_the_others() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let url = site.page("/plain");
    open_tabs(&browser, &["about:blank"]);
    let mut popup = ExtensionView::popup(&browser);
    let open = |name: &str| world.start(&["--json", "--as", name, "open", OWN[0], OWN[1], &url]);
    let first = open("alice");
    popup.shows("alice wants to see and open pages of");
    popup.press("Always for alice");
    wait(first, &["open"]).succeeded();
    // Alice is not asked again, also in another session.
    world.run(&["close"]).succeeded();
    wait(open("alice"), &["open"]).succeeded();
    // Bob is asked, in the same session.
    let second = open("bob");
    popup.shows("bob wants to see and open pages of");
    popup.press("Always for every agent");
    wait(second, &["open"]).succeeded();
    eventually("there are two grants", 10, || grants(&world).len() == 2);
    let agents: Vec<_> = grants(&world).iter().map(|grant| grant["agent"].clone()).collect();
    assert_eq!(agents, [json!("alice"), Value::Null]);
    let third = find_eventually(20, || {
        let outcome = world.run(&["--json", "--as", "carol", "open", OWN[0], OWN[1], &url]);
        (outcome.code == 0).then_some(())
    });
    assert!(third.is_some(), "every agent is allowed");
    // A grant for an agent can be given in a terminal too.
    world.run(&["allow", "https://shop.test", "--act", "--agent", "codex", "--without-terminal"]).succeeded();
    popup.press("Sites granted");
    popup.shows("read, act for Codex");
    world.run(&["close"]).succeeded();
}
