//! Chromium of a real hub with two nodes.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use super::chromium::loses_and_comes_back;
use super::is_full_run;
use crate::support::real_grid::{Offer, RealGrid};
use crate::support::wait::eventually;
use crate::support::world::World;

/// Scenario 11: two sessions on two nodes, and a node that dies.
#[test]
fn sessions_of_a_real_hub_run_on_two_nodes_and_outlive_one() {
    if !is_full_run() {
        return;
    }
    let grid = RealGrid::with_nodes(Offer::Chromium, 2);
    let world = World::new();
    let file = world.home().join("capabilities.json");
    let capabilities = json!({"alwaysMatch": {
        "browserName": "chrome", "goog:chromeOptions": {"args": ["--no-sandbox", "--headless=new"]},
    }});
    fs::write(&file, capabilities.to_string()).expect("written");
    world.run(&["config", "set", "grid", &grid.url()]).succeeded();
    world.run(&["config", "set", "capabilities", file.to_str().expect("plain")]).succeeded();
    for session in ["default", "other"] {
        let page = format!("data:text/html,<title>{session}</title>");
        world.run(&["--session", session, "open", &page]).succeeded();
    }
    let mut nodes = BTreeSet::new();
    eventually("both nodes are shown", 20, || {
        let listed = world.json(&["session", "list"]);
        let sessions = listed["sessions"].as_array().cloned().unwrap_or_default();
        nodes = sessions.iter().filter_map(|one| Some(one["remote"]["node"].as_str()?.to_owned())).collect();
        nodes.len() == 2
    });
    let table = world.run(&["session", "list"]).succeeded().stdout;
    assert!(table.contains("WHERE") && nodes.iter().all(|node| table.contains(node)), "{table}");

    // The other session ends first, so that a slot is left for the one that loses its node.
    world.run(&["--session", "other", "close"]).succeeded();
    let status = world.json(&["session", "status"]);
    let node = status["result"]["remote"]["node"].as_str().expect("a node").to_owned();
    grid.kill_node(&node);
    loses_and_comes_back(&world, "its node, or the browser on it, does not respond", "default");
    let status = world.json(&["session", "status"]);
    let now = status["result"]["remote"]["node"].as_str().unwrap_or_default();
    assert!(nodes.contains(now) && now != node, "{status}");
    world.run(&["close"]).succeeded();
    grid.empties(60);
}
