//! Chromium of a real Grid with one node and two slots.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::is_full_run;
use crate::mcp::client::McpClient;
use crate::policy::grants::allow;
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::process::{kill, signal};
use crate::support::real_grid::{Offer, RealGrid};
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

#[test]
fn a_real_selenium_grid_rents_keeps_and_releases() {
    if !is_full_run() {
        return;
    }
    let grid = RealGrid::standalone(Offer::Chromium);
    let site = FixtureSite::start();
    let world = World::new();
    let capabilities = json!({
        "browserName": "chrome", "goog:chromeOptions": {"args": ["--no-sandbox", "--headless=new"]},
    });
    let file = world.home().join("capabilities.json");
    fs::write(&file, capabilities.to_string()).expect("written");
    world.run(&["config", "set", "grid", &grid.url()]).succeeded();
    world.run(&["config", "set", "capabilities", file.to_str().expect("plain")]).succeeded();
    opens_reads_and_acts(&world, &grid, &site);
    moves_files(&world, &site);
    serves_cdp_clients(&world);
    is_released_when_its_mcp_client_is_lost(&world, &grid, &site);
    is_kept_while_idle(&world, &grid);
    survives_every_loss(&world, &grid);
    is_full_and_queues(&world, &grid);
    is_swept(&world, &grid);
}

/// Scenario 1: open, snapshot, click, fill, screenshot, and where it runs.
fn opens_reads_and_acts(world: &World, grid: &RealGrid, site: &FixtureSite) {
    world.open(&[&site.page("/plain")]);
    assert!(world.run(&["snapshot"]).succeeded().stdout.contains("button"));
    let picture = world.home().join("page.png");
    world.run(&["screenshot", "-o", picture.to_str().expect("plain")]).succeeded();
    assert!(fs::metadata(&picture).expect("there").len() > 1000);
    let page = "data:text/html,<input%20id=name><button%20onclick='document.title=document.querySelector(`input`).value'>Press</button>";
    world.open(&[page]);
    world.run(&["fill", "#name", "typed"]).succeeded();
    world.run(&["click", "text=Press"]).succeeded();
    assert_eq!(world.eval("document.title"), "typed");
    let status = world.json(&["session", "status"])["result"].clone();
    assert_eq!(status["remote"]["node"], grid.url(), "{status}");
    assert_eq!(status["remote"]["idle_limit_seconds"], 15, "{status}");
}

/// Scenarios 2 and 3: an upload and a download through the node.
pub(super) fn moves_files(world: &World, site: &FixtureSite) {
    fs::write(world.home().join("given.txt"), "content of the upload").expect("written");
    world.open(&["data:text/html,<input%20type=file%20id=f>"]);
    world.run(&["upload", "given.txt", "--to", "#f"]).succeeded();
    let read = world.eval("await document.querySelector('#f').files[0].text()");
    assert_eq!(read, "content of the upload");
    world.open(&[&site.page("/plain")]);
    let to = world.home().join("kept.txt");
    let link = "const a = document.createElement('a'); a.href = 'data:text/plain,hello'; a.download = 'kept.txt'; \
                a.textContent = 'Get it'; document.body.prepend(a)";
    world.run(&["eval", link]).succeeded();
    world.run(&["download-file", "text=Get it", "-o", to.to_str().expect("plain")]).succeeded();
    assert_eq!(fs::read_to_string(&to).expect("downloaded"), "hello");
}

/// Scenario 4: a CDP client beside the session.
fn serves_cdp_clients(world: &World) {
    let mut client = CdpClient::connect(&world.cdp_url());
    let version = client.call("Browser.getVersion", json!({}), None);
    assert!(version["product"].as_str().is_some_and(|product| product.contains("Chrome")), "{version}");
    drop(client);
    world.run(&["close"]).succeeded();
}

/// Scenario 5: an MCP client that is killed; its session is guarded.
fn is_released_when_its_mcp_client_is_lost(world: &World, grid: &RealGrid, site: &FixtureSite) {
    grid.empties(20);
    let own = site.page("").trim_end_matches('/').to_owned();
    let mut client = McpClient::start(world, &[]);
    let before = site.request_count("/plain");
    let refused = client.failure("navigate", json!({"url": site.page("/plain")}));
    assert!(refused.starts_with("POLICY_DENIED: "), "{refused}");
    assert_eq!(site.request_count("/plain"), before);
    allow(world, &[&own, "--act"]);
    let page = client.text("navigate", json!({"url": site.page("/plain")}));
    assert!(page.contains("Plain"), "{page}");
    assert_eq!(grid.ids().len(), 1);
    kill(client.process.id().cast_signed());
    grid.empties(60);
    drop(client);
}

/// Scenario 6: no command for longer than the Grid's limit of 15 s.
fn is_kept_while_idle(world: &World, grid: &RealGrid) {
    world.open(&["data:text/html,<title>kept</title>"]);
    let id = grid.ids();
    // The status is the daemon's own: it sends nothing to the Grid.
    eventually("25 s are over", 60, || {
        world.json(&["session", "status"])["result"]["remote"]["rented_seconds"].as_u64() > Some(25)
    });
    assert_eq!(grid.ids(), id);
    assert_eq!(world.eval("document.title"), "kept");
    world.run(&["close"]).succeeded();
    grid.empties(20);
}

/// Why a session has lost its browser that the Grid no longer has.
pub(super) const ENDED: &str = "it was ended there";

/// Waits until the session has lost its browser and says why; then its next command opens the tabs again.
pub(super) fn loses_and_comes_back(world: &World, why: &str, title: &str) {
    let mut last = Value::Null;
    eventually("the loss is noticed and explained", 90, || {
        last = world.json(&["session", "status"])["result"]["state"].clone();
        last.as_str().is_some_and(|state| state.contains(why))
    });
    let next = world.run(&["--json", "session", "start"]).succeeded().json();
    assert!(next["recovery"]["reason"].to_string().contains("the Grid at"), "{next}");
    assert_eq!(world.eval("document.title"), title, "its tab is open again");
}

/// Scenarios 7 and 8: a session deleted by others, and one that timed out while its machine was suspended.
fn survives_every_loss(world: &World, grid: &RealGrid) {
    world.open(&["data:text/html,<title>first</title>"]);
    let id = grid.ids().pop().expect("a session");
    grid.find("DELETE", &format!("/session/{id}"));
    loses_and_comes_back(world, ENDED, "first");
    let daemon = world.daemon_pid();
    signal(daemon, Signal::STOP);
    grid.empties(60);
    signal(daemon, Signal::CONT);
    loses_and_comes_back(world, ENDED, "first");
    world.run(&["close"]).succeeded();
    grid.empties(20);
}

/// Scenario 9: a full Grid, and a request that waits until a slot is free.
fn is_full_and_queues(world: &World, grid: &RealGrid) {
    for session in ["a", "b"] {
        world.run(&["--session", session, "session", "start"]).succeeded();
    }
    let full = world.run(&["--json", "--session", "c", "session", "start", "--rent-wait", "3s"]);
    assert_eq!(full.failure().0, "BACKPRESSURE", "{full:?}");
    assert!(full.stdout.contains("2 of 2 slots are in use"), "{full:?}");
    let waiting = world.start(&["--json", "--session", "d", "session", "start", "--rent-wait", "60s"]);
    eventually("the request is queued", 20, || {
        world.json(&["session", "list"])["sessions"].to_string().contains("waits for a browser")
    });
    world.run(&["--session", "a", "close"]).succeeded();
    // The abandoned request may get the slot first; it is released then.
    wait(waiting, &["start"]).succeeded();
    for session in ["b", "d"] {
        world.run(&["--session", session, "close"]).succeeded();
    }
    grid.empties(60);
}

/// Scenario 10: the next daemon releases what a killed one had.
fn is_swept(world: &World, grid: &RealGrid) {
    world.open(&["data:text/html,<title>left</title>"]);
    assert_eq!(grid.ids().len(), 1);
    kill(world.daemon_pid());
    world.run(&["daemon", "start"]).succeeded();
    grid.empties(30);
    let again = world.run(&["eval", "document.title"]).succeeded();
    assert_eq!(again.text(), "left", "its tab is open again");
    world.run(&["close"]).succeeded();
    grid.empties(20);
}
