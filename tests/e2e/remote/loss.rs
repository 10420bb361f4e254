//! Rented browsers that end at the Grid: by a node's death, its timeout, or another client.

use serde_json::Value;

use rustix::process::Signal;

use super::{records, rent};
use crate::support::fake_grid::FakeGrid;
use crate::support::process::signal;
use crate::support::wait::eventually;
use crate::support::world::World;

/// Waits until the session has lost its browser, and checks that the state says why.
fn loses(world: &World) {
    let mut last = Value::Null;
    eventually("the loss is noticed and explained", 30, || {
        last = world.json(&["session", "status"])["result"]["state"].clone();
        last.as_str().is_some_and(|state| state.contains("it was ended there"))
    });
}

/// Starts the session again, and checks that the response says what was lost.
fn comes_back(world: &World, grid: &FakeGrid) {
    let next = world.run(&["--json", "session", "start"]).succeeded().json();
    let reason = next["recovery"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("the Grid at") && reason.contains("it was ended there"), "{next}");
    assert_eq!(grid.count("alive"), 1);
    world.run(&["close"]).succeeded();
    grid.empties(10);
    eventually("no record is left", 10, || records(world).is_empty());
}

#[test]
fn f01_a_session_deleted_by_others_is_rented_again() {
    let grid = FakeGrid::start(&[]);
    let world = World::new();
    rent(&world, &grid, "default").succeeded();
    let id = grid.ids().pop().expect("a session");
    grid.request("DELETE", &format!("/session/{id}"), &Value::Null);
    loses(&world);
    comes_back(&world, &grid);
}

#[test]
fn f01_the_browser_of_a_dead_node_is_rented_again_elsewhere() {
    let grid = FakeGrid::start(&["--nodes", "2", "--slots", "1"]);
    let world = World::new();
    rent(&world, &grid, "default").succeeded();
    grid.request("POST", "/fake/kill-node/0", &Value::Null);
    loses(&world);
    comes_back(&world, &grid);
}

#[test]
fn f01_a_session_that_timed_out_is_rented_again() {
    let grid = FakeGrid::start(&["--session-timeout-ms", "3000"]);
    let world = World::new();
    rent(&world, &grid, "default").succeeded();
    // A daemon that runs keeps its sessions: this one is suspended with its machine.
    let daemon = world.daemon_pid();
    signal(daemon, Signal::STOP);
    eventually("the session times out", 20, || grid.count("timed_out") == 1);
    signal(daemon, Signal::CONT);
    loses(&world);
    assert_eq!(grid.count("alive"), 0);
    comes_back(&world, &grid);
}
