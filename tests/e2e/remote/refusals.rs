//! Every way in which a Grid gives no browser has its own error, and none leaks a slot.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{records, rent};
use crate::support::fake_grid::FakeGrid;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::{Outcome, World};

/// Checks code and message of a failure, and that it has a remedy.
fn check(outcome: &Outcome, code: &str, part: &str) {
    assert_eq!(outcome.failure().0, code, "{outcome:?}");
    let error = outcome.json()["error"].clone();
    assert!(error["message"].as_str().is_some_and(|message| message.contains(part)), "{part}: {error}");
    assert!(!error["hint"].is_null(), "{error}");
}

#[test]
fn a_full_grid_says_so_after_the_wait_and_nothing_is_leaked() {
    let grid = FakeGrid::start(&["--nodes", "1", "--slots", "1"]);
    let world = World::new();
    rent(&world, &grid, "first").succeeded();
    let url = grid.url();
    let start = ["--json", "--session", "second", "session", "start", "--grid", &url, "--rent-wait", "1s"];
    let waited = Instant::now();
    let full = world.run(&start);
    assert!(waited.elapsed() < Duration::from_secs(20), "{:?}", waited.elapsed());
    check(&full, "BACKPRESSURE", "is full: 1 of 1 slots are in use, and 1 request waits");
    // The abandoned request gets the slot, and is found and released.
    world.run(&["--session", "first", "close"]).succeeded();
    eventually("the Grid served it", 20, || grid.count("created") == 2);
    grid.empties(20);
    // A request that waits long enough gets the slot.
    world.run(&start).succeeded();
    assert_eq!(grid.count("alive"), 1);
}

#[test]
fn a_grid_that_gives_up_by_itself_is_full() {
    let grid = FakeGrid::start(&["--nodes", "1", "--slots", "1", "--request-timeout-ms", "200"]);
    let world = World::new();
    rent(&world, &grid, "first").succeeded();
    check(&rent(&world, &grid, "second"), "BACKPRESSURE", "is full: 1 of 1 slots are in use");
    assert_eq!((grid.count("alive"), records(&world).len()), (1, 1));
}

#[test]
fn a_refused_a_lost_and_an_unusable_session_are_told_apart() {
    let grid = FakeGrid::start(&[]);
    let world = World::new();
    for (fault, code, part) in [
        ("refuse", "LAUNCH_FAILED", "did not start a browser: Could not start a new session. Chrome failed"),
        ("no_cdp", "NO_BACKEND", "gave a browser without `se:cdp`"),
        ("dead_websocket", "NO_BACKEND", "gave a browser that cannot be reached"),
        ("lose_response", "NO_BACKEND", "broke the connection before it responded"),
    ] {
        grid.fault(fault, 1);
        check(&rent(&world, &grid, "default"), code, part);
        grid.empties(20);
    }
    eventually("no record is left", 90, || records(&world).is_empty());
    rent(&world, &grid, "default").succeeded();
}

#[test]
fn a_slow_browser_that_comes_too_late_is_released() {
    let grid = FakeGrid::start(&[]);
    let world = World::new();
    grid.fault_with(json!({"do": "slow", "milliseconds": 2500}));
    let url = grid.url();
    let late = world.run(&["--json", "session", "start", "--grid", &url, "--rent-wait", "1s"]);
    check(&late, "TIMEOUT", "although a slot is free");
    grid.empties(20);
}

#[test]
fn wrong_urls_credentials_and_capabilities_are_refused() {
    let grid = FakeGrid::start(&["--credentials", "me:word"]);
    let world = World::new();
    let start = |url: &str, more: &[&str]| {
        world.run(&[&["--json", "session", "start", "--grid", url][..], more].concat())
    };
    check(&start(&grid.url(), &[]), "NO_BACKEND", "refuses the credentials");
    check(&start("http://127.0.0.1:9", &[]), "NO_BACKEND", "Cannot reach the Grid");
    check(&start("ftp://grid.example", &[]), "BAD_ARGS", "is not an http or https URL");
    let site = FixtureSite::start();
    check(&start(&format!("http://127.0.0.1:{}", site.port()), &[]), "NO_BACKEND", "is not a Selenium Grid");
    let file = world.home().join("capabilities.json");
    for (content, code, part) in [
        ("{", "BAD_ARGS", "invalid JSON at line 1"),
        ("[1]", "BAD_ARGS", "not a JSON object"),
        ("{\"browserName\": \"safari\"}", "NO_BACKEND", "only Chromium browsers and Firefox can"),
    ] {
        std::fs::write(&file, content).expect("written");
        let more = ["--capabilities", file.to_str().expect("plain")];
        check(&start(&grid.url(), &more), code, part);
    }
    let shared = start(&grid.url(), &["--isolation", "shared"]);
    check(&shared, "BAD_ARGS", "belongs to one session");
    assert_eq!((grid.count("created"), records(&world).len()), (0, 0));
}
