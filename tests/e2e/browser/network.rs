//! Requests, routes, offline mode and HAR files on the command line.

use std::fs;

use serde_json::{Value, json};

use crate::support::either_browser::launched;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Evaluates an expression that fetches; returns the printed value.
fn fetched(world: &World, value: &str) -> String {
    world.eval(&format!("viaFetch('{value}')"))
}

#[test]
fn requests_are_listed_shown_and_changed() {
    launched(change_requests);
}

pub(crate) fn change_requests(world: &World, site: &FixtureSite) {
    world.open(&[&site.page("/requests")]);
    assert_eq!(fetched(world, "one"), "200 echo one");
    let listed = world.run(&["requests", "/api/"]).succeeded();
    assert!(listed.stdout.contains("/api/echo?value=one fetch 200"), "{listed:?}");
    let list = world.json(&["requests", "--type", "fetch"]);
    let number = list["result"]["requests"][0]["number"].to_string();
    let report = world.run(&["request", &number]).succeeded();
    assert!(report.stdout.contains("echo one") && report.stdout.contains("timing: "), "{report:?}");
    let full = world.json(&["request", &number, "--save", "response-body", "--output", "body.txt"]);
    assert_eq!(full["result"]["status"], 200, "{full}");
    assert_eq!(fs::read_to_string(world.home().join("body.txt")).expect("saved"), "echo one");
    let missing = world.run(&["--json", "request", "999"]);
    assert_eq!(missing.failure(), ("BAD_ARGS".to_owned(), 2), "{missing:?}");

    world.run(&["route", "value=tea", "--status", "418", "--body", "teapot", "--times", "1"]).succeeded();
    world.run(&["route", "value=never", "--abort", "connection-refused"]).succeeded();
    assert_eq!(fetched(world, "tea"), "418 teapot");
    assert_eq!(fetched(world, "tea"), "200 echo tea", "the route applied once");
    assert_eq!(fetched(world, "never"), "fetch failed");
    let routes = world.run(&["route"]).succeeded();
    assert!(routes.stdout.contains("abort (ConnectionRefused) (hits: 1)"), "{routes:?}");
    let failed = world.run(&["requests", "--failed", "--type", "fetch"]).succeeded();
    assert!(failed.stdout.contains("value=never") && !failed.stdout.contains("value=one"), "{failed:?}");
    world.run(&["unroute", "--all"]).succeeded();
    assert_eq!(fetched(world, "never"), "200 echo never");
    assert_eq!(world.run(&["--json", "route", "x", "--abort", "politely"]).code, 2);
}

#[test]
fn a_har_file_is_replayed_without_network() {
    launched(replay_a_visit);
}

pub(crate) fn replay_a_visit(world: &World, site: &FixtureSite) {
    world.open(&["about:blank"]);
    world.run(&["har", "start"]).succeeded();
    world.open(&[&site.page("/requests")]);
    fetched(world, "kept");
    let stopped = world.run(&["har", "stop", "visit.har"]).succeeded();
    assert!(stopped.stdout.contains("visit.har"), "{stopped:?}");
    let archive = fs::read_to_string(world.home().join("visit.har")).expect("written");
    let archive: Value = serde_json::from_str(&archive).expect("JSON");
    assert_eq!(archive["log"]["version"], "1.2");
    let replayed = world.json(&["har", "replay", "visit.har", "--strict"]);
    assert_eq!(replayed["result"]["replay"]["strict"], true, "{replayed}");
    let before = site.request_count("/api/echo");
    world.open(&[&site.page("/requests")]);
    assert_eq!(fetched(world, "kept"), "200 echo kept");
    assert_eq!(fetched(world, "other"), "fetch failed");
    assert_eq!(site.request_count("/api/echo"), before, "no request reached the server");
    world.run(&["har", "live"]).succeeded();
    assert_eq!(fetched(world, "other"), "200 echo other");
}

#[test]
fn offline_mode_headers_and_http_auth_apply_to_a_tab() {
    launched(go_offline_and_log_in);
}

pub(crate) fn go_offline_and_log_in(world: &World, site: &FixtureSite) {
    world.open(&[&site.page("/requests")]);
    assert_eq!(world.run(&["offline"]).succeeded().text(), "online, not throttled");
    world.run(&["offline", "on"]).succeeded();
    assert_eq!(world.json(&["offline"])["result"]["offline"], true);
    assert_eq!(fetched(world, "x"), "fetch failed");
    let lost = world.run(&["--json", "open", &site.page("/plain")]);
    assert_eq!(lost.failure(), ("CDP_ERROR".to_owned(), 1), "{lost:?}");
    world.run(&["offline", "off"]).succeeded();

    world.open(&[&site.page("/requests")]);
    let added = world.run(&["headers", "X-Added: here", "X-Api-Key: CANARY"]).succeeded();
    assert!(!added.stdout.contains("CANARY"), "{added:?}");
    assert_eq!(world.eval("fetch('/api/headers').then((response) => response.text())"), "here");
    let shown = world.run(&["headers"]).succeeded();
    assert!(shown.stdout.contains("X-Added: here") && shown.stdout.contains("X-Api-Key: •••"), "{shown:?}");
    world.run(&["headers", "--clear"]).succeeded();
    assert_eq!(world.eval("fetch('/api/headers').then((response) => response.text())"), "absent");

    fs::write(world.home().join("password"), "secret\n").expect("written");
    let set = world.run(&["http-auth", "alice", "--password-file", "password"]).succeeded();
    assert!(set.stdout.contains("alice") && !set.stdout.contains("secret"), "{set:?}");
    world.open(&[&site.page("/auth/basic")]);
    assert_eq!(world.eval("document.getElementById('who').textContent"), "alice");
    let report = world.json(&["http-auth"]);
    assert_eq!(report["result"]["user"], json!("alice"), "{report}");
    world.run(&["http-auth", "--clear"]).succeeded();
    assert_eq!(world.run(&["--json", "http-auth", "alice"]).failure(), ("BAD_ARGS".to_owned(), 2));
}
