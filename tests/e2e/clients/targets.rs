//! New targets: a client receives through Tabwire what it receives from Chromium itself.

use serde_json::{Value, json};

use crate::chrome_shim::launcher::{run_script, shim};
use crate::chrome_shim::port_process::PortChrome;
use crate::clients::suite::Suite;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// What sessions receive from the creation of each type of target to its first responses.
fn record(world: &World, browser: [&str; 2], mode: &[&str]) -> Value {
    run_script(world, "target-events.mjs", &[&browser[..], mode].concat())
}

/// Compares both endpoints of Tabwire with Chromium.
fn compare(mode: &[&str]) {
    let world = World::new().with_whole_chromium();
    world.open(&["about:blank"]);
    let (address, link) = (world.cdp_url(), shim(&world).to_string_lossy().into_owned());
    let browser_world = &world;
    let [chromium, endpoint, launched] = std::thread::scope(|scope| {
        let browsers =
            [["--executable", "/usr/bin/chromium"], ["--endpoint", &address], ["--executable", &link]];
        let runs = browsers.map(|browser| scope.spawn(move || record(browser_world, browser, mode)));
        runs.map(|run| run.join().expect("it is recorded"))
    });
    assert_eq!(chromium.as_object().map(serde_json::Map::len), Some(7), "{chromium}");
    for (name, through) in [("the endpoint", endpoint), ("the shim", launched)] {
        for (target, events) in chromium.as_object().expect("a map") {
            assert_eq!(events["complete"], json!(true), "{target}: {events:#}");
            assert_eq!(&through[target], events, "{target} at {name}: {:#}", through[target]);
        }
    }
}

#[test]
fn b16_new_targets_send_the_same_events_as_on_chromium() {
    compare(&["--context", "own"]);
}

#[test]
fn b16_requests_of_new_targets_are_paused_as_on_chromium() {
    compare(&["--context", "default", "--intercept", "yes"]);
}

#[test]
fn b16_playwright_gets_the_requests_of_popups_and_service_workers() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&["about:blank"]);
    let profile = world.home().join("shim").to_string_lossy().into_owned();
    let chrome = PortChrome::start(&world, &["--user-data-dir", &profile]);
    // Each of the three operations in both contexts, after two that make settings.
    let only = ["--only", "request of a popup,requests of a service worker", "--operations", "8"];
    for endpoint in [world.cdp_url(), chrome.address.clone()] {
        Suite::playwright(&endpoint, &site, &only).passes(8);
    }
}
