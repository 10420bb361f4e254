//! Browsers that die, crash or hang, by real signals. Test names start with the fault id.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::cdp_client::CdpClient;
use crate::support::process::{is_running, kill};
use crate::support::wait::eventually;
use crate::support::world::{World, await_end, testkit_program, wait};

#[test]
fn f01_a_killed_browser_fails_the_command_and_the_next_one_recovers() {
    let world = World::new();
    world.open(&["about:blank"]);
    let browser = world.pid("browser_pid");
    let running = world.start(&["--json", "eval", "await new Promise((done) => setTimeout(done, 60000))"]);
    eventually("the command is under way", 10, || world.number("pending") > 0);
    let killed = Instant::now();
    world.expect_litter();
    kill(browser);
    let outcome = wait(running, &["eval"]);
    // The 250 ms of F01 count from the daemon's notice. A loaded machine and the exit of a process add to
    // them.
    assert!(killed.elapsed() < Duration::from_secs(2), "{:?}", killed.elapsed());
    let (code, exit) = outcome.failure();
    assert!(exit == 1 && ["BROWSER_GONE", "OUTCOME_UNKNOWN"].contains(&code.as_str()), "{outcome:?}");
    let next = world.run(&["open", "about:blank"]).succeeded();
    assert!(next.stderr.contains("was lost"), "the user is notified: {next:?}");
    assert_ne!(world.pid("browser_pid"), browser);
    let quiet = world.run(&["eval", "1"]).succeeded();
    assert_eq!((quiet.text(), quiet.stderr.as_str()), ("1", ""), "the notice is printed once");
}

#[test]
fn f02_a_crashed_page_fails_alone() {
    let world = World::new();
    let crashing = world.open(&["data:text/html,<title>crashes</title>"]);
    let other = world.open(&["--new-tab", "data:text/html,<title>lives</title>"]);
    crash(&world, "crashes");

    let started = Instant::now();
    let outcome = world.run(&["--json", "--timeout", "10s", "eval", "1", "--tab", &crashing]);
    assert_eq!(outcome.code, 1, "a typed failure, not a timeout: {outcome:?}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let lives = world.run(&["eval", "document.title", "--tab", &other]).succeeded();
    assert_eq!(lives.text(), "lives");
    let again = world.open(&["--new-tab", "about:blank"]);
    assert_eq!(world.run(&["eval", "2", "--tab", &again]).succeeded().text(), "2");
}

/// Crashes the renderer of the page with this title.
pub(crate) fn crash(world: &World, title: &str) {
    drop(crash_and_stay(world, title));
}

/// The same, with a client that stays attached to the page.
fn crash_and_stay(world: &World, title: &str) -> CdpClient {
    let mut client = CdpClient::connect(&format!("{}?share=all", world.cdp_url()));
    let targets = client.call("Target.getTargets", json!({}), None);
    let found =
        targets["targetInfos"].as_array().expect("targets").iter().find(|info| info["title"] == title);
    let session = client.attach(found.expect("the page")["targetId"].as_str().expect("an id"));
    client.send("Page.crash", json!({}), Some(&session));
    client.event("Inspector.targetCrashed", |_| true);
    client
}

#[test]
fn f02_a_crashed_tab_can_be_opened_again() {
    let world = World::new();
    let tab = world.open(&["data:text/html,<title>crashes</title>"]);
    let mut client = crash_and_stay(&world, "crashes");
    let crashed = world.run(&["--json", "--timeout", "10s", "eval", "1"]);
    assert_eq!(crashed.code, 1, "a typed failure, not a timeout: {crashed:?}");
    assert_eq!(world.open(&["data:text/html,<title>back</title>"]), tab);
    // The mux takes this event as the moment from which a page responds again.
    client.event("Inspector.targetReloadedAfterCrash", |_| true);
    drop(client);
    assert_eq!(world.eval("document.title"), "back");
}

#[test]
fn f24_daemon_and_keeper_killed_leave_no_browser_and_no_profile() {
    let world = World::new();
    world.open(&["about:blank"]);
    let (daemon, keeper) = (world.daemon_pid(), world.pid("keeper_pid"));
    let browsers = world.browser_processes();
    assert!(browsers.len() > 3, "{browsers:?}");
    kill(daemon);
    kill(keeper);
    await_end("no browser is left", 5, &browsers);
    assert_eq!(world.files("runtime/profiles").len(), 1, "no process is left to remove it");
    world.run(&["daemon", "start"]).succeeded();
    assert_eq!(world.files("runtime/profiles"), [""; 0], "{}", world.log());
    assert_eq!(world.files("runtime/browsers"), [""; 0]);
    assert_eq!(world.eval("1"), "1");
}

#[test]
fn leftovers_of_a_killed_keeper_are_swept_automatically() {
    let world = World::new();
    world.open(&["about:blank"]);
    kill(world.pid("keeper_pid"));
    eventually("the profile and descriptor go", 20, || {
        world.files("runtime/profiles").is_empty() && world.files("runtime/browsers").is_empty()
    });
    assert!(world.browser_processes().is_empty());
}

#[test]
fn a_killed_keepers_browser_ends_and_is_reported() {
    let world = World::new();
    world.open(&["about:blank"]);
    let browsers = world.browser_processes();
    kill(world.pid("keeper_pid"));
    await_end("the browser goes", 5, &browsers);
    let next = world.run(&["eval", "1 + 1"]).succeeded();
    assert_eq!(next.text(), "2");
    assert!(next.stderr.contains("was lost"), "{next:?}");
    assert_eq!(world.files("runtime/browsers").len(), 2, "one descriptor and its socket");
    assert_eq!(world.files("runtime/profiles").len(), 1, "the old profile is removed");
}

#[test]
fn a_killed_daemon_leaves_the_browser_only_for_the_linger() {
    let world = World::new().with("TABWIRE_LINGER", "1");
    world.open(&["about:blank"]);
    let browsers = world.browser_processes();
    kill(world.daemon_pid());
    await_end("the keeper ends an unclaimed browser", 10, &browsers);
    eventually("its files are removed too", 5, || {
        world.files("runtime/browsers").is_empty() && world.files("runtime/profiles").is_empty()
    });
    eventually("no process is left", 5, || world.processes().is_empty());
    // Only the dead daemon's socket is left; the next daemon replaces it.
    world.run(&["daemon", "start"]).succeeded();
}

#[test]
fn f46_a_browser_that_ignores_close_is_ended_within_the_grace() {
    let script = tempfile::NamedTempFile::new().expect("a file");
    fs::write(script.path(), "{\"do\":\"ignore_close\"}\n{\"do\":\"ignore_terminate\"}\n").expect("written");
    let world = World::new()
        .with("TABWIRE_BROWSER", testkit_program("fake-browser").display().to_string())
        .with("TABWIRE_FAKE_BROWSER_SCRIPT", script.path().display().to_string());
    world.run(&["tabs"]).succeeded();
    let browser = world.pid("browser_pid");
    let asked = Instant::now();
    let closed = world.run(&["close"]).succeeded();
    let taken = asked.elapsed();
    assert!(closed.stdout.contains("ended"), "{closed:?}");
    assert!(!is_running(browser), "close returned while the browser ran");
    assert!(taken > Duration::from_secs(4) && taken < Duration::from_secs(9), "grace of 5 s: {taken:?}");
}
