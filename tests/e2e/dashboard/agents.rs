//! One agent is paused and stopped, from the clients and from the stage, while the others go on.

use serde_json::json;

use crate::mcp::client::McpClient;
use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::{World, wait};

/// Clicks the control with this label.
fn press_labelled(page: &mut Dashboard, label: &str) {
    page.becomes(&format!("document.querySelector('button[aria-label={label:?}]:not(:disabled)') !== null"));
    let place = page.run(&format!(
        "(() => {{ const one = document.querySelector('button[aria-label={label:?}]'); one.scrollIntoView({{block: 'center'}}); \
         const {{x, y, width, height}} = one.getBoundingClientRect(); return [x + width / 2, y + height / 2]; }})()"
    ));
    for kind in ["mousePressed", "mouseReleased"] {
        let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
        page.client.call("Input.dispatchMouseEvent", event, Some(&page.session));
    }
}

#[test]
fn one_agent_is_paused_and_stopped_and_the_others_go_on() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", &site.page("/form")]).succeeded();
    let mut agent = McpClient::start_as(&world, "painter", &["--session", "default"]);
    agent.text("snapshot", json!({}));
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("connected");
    page.show_view("clients");
    page.shows("painter");
    press_labelled(&mut page, "Pause painter");
    page.shows("paused");
    page.save_screenshot("dashboard-clients-paused");
    let waiting = agent.begin("tools/call", json!({"name": "snapshot", "arguments": {}}));
    world.run(&["click", "#agree"]).succeeded();
    // The stage names the agent that waits, and can let it go on.
    page.show_view("live/default");
    page.shows("painter paused");
    page.shows_frame();
    page.save_screenshot("live-agent-paused");
    press_labelled(&mut page, "Resume painter");
    page.becomes("!document.getElementById('view-tools').innerText.includes('painter paused')");
    let response = agent.response(waiting);
    assert_ne!(response["result"]["isError"], true, "{response}");
    page.show_view("clients");
    press_labelled(&mut page, "Stop painter");
    page.shows("stopped");
    assert!(agent.failure("snapshot", json!({})).contains("PAUSED"));
    world.run(&["click", "#agree"]).succeeded();
    press_labelled(&mut page, "Resume painter");
    page.becomes("!document.getElementById('view-body').innerText.includes('stopped')");
    agent.text("snapshot", json!({}));
    let log = world.run(&["log", "--json"]).succeeded().text().to_owned();
    assert!(log.contains("\"scope\":\"agent\""), "{log}");
    // The stage follows the latest action.
    world.run(&["click", "#agree"]).succeeded();
    // While a tab is taken over, one waiting agent can be stopped from the stage.
    page.show_view("live/default");
    page.becomes("document.querySelector('.url').innerText.includes('/form')");
    page.shows_frame();
    page.press("Take over");
    page.shows("You have mouse and keyboard.");
    let tab = world.json(&["tabs"])["result"]["tabs"][0]["tab"].as_str().expect("a tab").to_owned();
    let held =
        world.start(&["--json", "--as", "codex", "click", "#agree", "--timeout", "60s", "--tab", &tab]);
    press_labelled(&mut page, "Stop Codex");
    assert_eq!(wait(held, &["click"]).failure().0, "PAUSED");
    page.press("Give it back");
    assert_eq!(page.run("violations"), json!([]));
    agent.close();
}
