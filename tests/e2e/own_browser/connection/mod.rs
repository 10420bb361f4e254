//! How a session reaches a browser: fixed at its start, shown in every status, and never switched silently.

mod flood;
mod pairing;
pub(super) mod restarts;

use serde_json::Value;

use crate::own_browser::driving::{await_connected, own_browser};
use crate::support::chromium::Chromium;
use crate::support::extension_pages::ExtensionWorker;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

const AUTO: [&str; 4] = ["--upstream", "auto", "--policy", "open"];

fn upstream(world: &World) -> Value {
    world.json(&["status"])["sessions"][0]["upstream"].clone()
}

#[test]
fn auto_uses_a_responding_own_browser_and_reports_every_switch() {
    let site = FixtureSite::start();
    let world = World::new();
    let page = site.page("/plain");
    // No extension is connected: a browser is launched, and the session stays with it.
    let launched = world.open(&[&AUTO[..], &[&page]].concat());
    assert!(launched.starts_with("pipe:"), "{launched}");
    let browser = own_browser(&world);
    await_connected(&world);
    let again = world.open(&[&AUTO[..], &[&page]].concat());
    assert!(again.starts_with("pipe:"), "{again}");
    assert_eq!(upstream(&world), "pipe");

    // On request, the session switches; a notice says so, and old tab ids are stale.
    let moved = world.json(&["open", "--restart", "--policy", "open", "--upstream", "extension", &page]);
    let notices = moved["notices"].to_string();
    assert!(notices.contains("now uses extension instead of pipe"), "{moved}");
    assert_eq!(upstream(&world), "extension");
    let stale = world.run(&["--json", "eval", "1", "--tab", &launched]);
    assert_eq!(stale.failure().0, "STALE_TAB", "{stale:?}");
    let log = world.run(&["log", "--json"]).succeeded().stdout;
    assert!(log.contains("upstream_switch"), "{log}");
    world.run(&["close"]).succeeded();

    // A new session decides again: now the extension responds.
    let own = world.open(&[&AUTO[..], &[&page]].concat());
    assert!(own.starts_with("extension:"), "{own}");
    check_in_flight(&world, &browser, (&site, &page));
    world.run(&["close"]).succeeded();
}

/// A command that runs when the worker ends is not repeated elsewhere: it fails with an unknown outcome.
fn check_in_flight(world: &World, browser: &Chromium, (site, page): (&FixtureSite, &str)) {
    let worker = ExtensionWorker::of(browser);
    let beacon = site.page("/plain?under-way");
    let before = site.request_count("/plain");
    let script = format!("fetch({beacon:?}).then(() => new Promise(() => {{}}))");
    let running = world.start(&["--json", "eval", &script]);
    eventually("the script runs", 20, || site.request_count("/plain") > before);
    worker.stop(page);
    let outcome = wait(running, &["eval"]);
    assert_eq!(outcome.failure().0, "OUTCOME_UNKNOWN", "{outcome:?}");
    assert_eq!(site.request_count("/plain"), before + 1, "it was done once");
}
