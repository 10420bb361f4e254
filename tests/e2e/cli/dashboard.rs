//! The dashboard in a real browser: the way in, what it shows, and that no session can open it.

use serde_json::json;

use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

#[test]
fn the_dashboard_opens_once_shows_what_happens_and_answers() {
    let free =
        std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
    let (world, site) = (World::new().with("TABWIRE_PORT", free.to_string()), FixtureSite::start());
    let browser = Chromium::with_port();
    let address = dashboard_url(&world);
    let mut page = Dashboard::open(&browser, &address);
    page.shows("connected");
    page.shows("No session runs.");
    page.save_screenshot("dashboard-empty");
    assert_eq!(page.run("location.href.includes('ticket')"), false, "the ticket leaves the address");
    let asked =
        world.start(&["--json", "--as", "reviewer", "open", "--policy", "guarded", &site.page("/plain")]);
    page.shows("reviewer wants to see and open pages of");
    assert_eq!(page.run("document.title"), "(1) Tabwire");
    page.save_screenshot("dashboard-question");
    page.run("document.querySelector('.answers button').click()");
    page.press("Once");
    wait(asked, &["open"]).succeeded();
    page.shows("You answered a question");
    page.shows("guarded");
    page.save_screenshot("dashboard-sessions");
    page.show_view("timeline");
    page.shows("every session");
    page.save_screenshot("dashboard-timeline");
    page.run("(() => { const kind = document.querySelector('[aria-label=Kind]'); kind.value = 'refused'; kind.dispatchEvent(new Event('input')); })()");
    page.shows("No row fits the filters.");
    page.show_view("questions");
    page.shows("No agent waits for an answer.");
    page.shows("allowed once");
    page.save_screenshot("dashboard-questions");
    page.show_view("policy");
    page.shows("Nothing is granted.");
    world.run(&["allow", "https://shop.test", "--without-terminal"]).succeeded();
    page.shows("read for every agent");
    page.save_screenshot("dashboard-policy");
    page.press("Revoke");
    page.shows("Nothing is granted.");
    page.show_view("health");
    page.shows("Dropped events");
    page.save_screenshot("dashboard-health");
    page.show_view("sessions");
    assert_eq!(page.run("violations"), json!([]));
    // A reload keeps the key; a second use of the ticket is refused.
    page.client.call("Page.reload", json!({}), Some(&page.session));
    page.shows("guarded");
    let mut second = Dashboard::open(&browser, &address);
    second.shows("The dashboard is locked.");
    // A new daemon has new keys.
    world.run(&["daemon", "stop"]).succeeded();
    page.shows("connection lost");
    page.save_screenshot("dashboard-stale");
    world.run(&["daemon", "start"]).succeeded();
    page.shows("The key of this page has ended.");
    page.save_screenshot("dashboard-locked");
}

#[test]
fn no_session_can_open_the_dashboard() {
    let world = World::new();
    let address = dashboard_url(&world);
    for policy in ["open", "guarded"] {
        let refused = world.run(&["--json", "open", "--session", policy, "--policy", policy, &address]);
        assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3), "{policy}: {refused:?}");
        let elsewhere = address.replace("127.0.0.1", "localhost");
        let refused = world.run(&["--json", "open", "--session", policy, &elsewhere]);
        assert_ne!(refused.code, 0, "{policy}: {refused:?}");
        world.run(&["close", "--session", policy]);
    }
    // Without a terminal an agent gets no address.
    let refused = world.run(&["--json", "dashboard", "--print"]);
    assert_eq!(refused.failure().0, "POLICY_DENIED");
    world.run(&["daemon", "stop"]).succeeded();
}

#[test]
fn the_opener_gets_a_private_file_that_is_used_once() {
    use std::os::unix::fs::PermissionsExt as _;
    let programs = tempfile::tempdir().expect("a folder");
    let opener = programs.path().join("xdg-open");
    let note = programs.path().join("opened");
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\n", note.display());
    std::fs::write(&opener, script).expect("written");
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").expect("a path"));
    let (world, site) = (World::new().with("PATH", path), FixtureSite::start());
    world.run(&["open", "--session", "work", &site.page("/plain")]).succeeded();
    let opened = world.json(&["dashboard", "--session", "work", "--without-terminal"]);
    assert_eq!(opened, json!({"opened": true}));
    let given = std::fs::read_to_string(&note).expect("it was opened");
    let file = std::path::PathBuf::from(given.trim_end());
    assert!(!given.contains("ticket") && file.starts_with(world.runtime()), "{given}");
    let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let browser = Chromium::with_port();
    let mut page = Dashboard::open(&browser, &format!("file://{}", file.display()));
    page.shows("connected");
    page.shows("Take over");
    assert_eq!(page.run("location.hash"), "#live/work");
    eventually("the file is removed", 20, || !file.exists());
    assert_eq!(page.run("violations"), json!([]));
    world.run(&["close", "--session", "work"]).succeeded();
}
