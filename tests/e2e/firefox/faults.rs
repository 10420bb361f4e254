//! What ends and what comes back: the content process, the daemon, the keeper, Firefox itself, with and without a window.

use serde_json::json;

use crate::support::fixture_site::FixtureSite;
use crate::support::process::{Process, kill};
use crate::support::virtual_display::VirtualDisplay;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::{World, await_end};

/// The processes of Firefox in this world.
fn processes(world: &World) -> Vec<Process> {
    world.processes().into_iter().filter(|process| process.command.contains("firefox-esr")).collect()
}

/// The content processes that show pages of the web.
fn content_processes(world: &World) -> Vec<Process> {
    processes(world)
        .into_iter()
        .filter(|process| {
            let last: Vec<&str> = process.command.split_whitespace().rev().take(1).collect();
            process.command.contains("-contentproc") && last == ["tab"]
        })
        .collect()
}

#[test]
fn f02_a_killed_content_process_is_reported_and_the_tab_opened_again() {
    let (world, site) = (World::new(), FixtureSite::start());
    let tab = world.open(&["--browser", "firefox", &site.page("/plain")]);
    world.eval("document.title");
    // Which of them shows the page is not reported, and a new tab starts others.
    let contents = content_processes(&world);
    assert!(!contents.is_empty(), "{:?}", processes(&world));
    for process in &contents {
        kill(process.pid);
    }
    eventually("the crash is reported", 20, || {
        world.json(&["session", "status"])["result"]["crashed_tabs"] == json!([tab])
    });
    let crashed = world.run(&["--json", "--timeout", "10s", "eval", "1"]);
    assert_eq!(crashed.failure().0, "TARGET_GONE", "{crashed:?}");
    assert!(crashed.stdout.contains("process crashed"), "{crashed:?}");
    assert_eq!(world.open(&[&site.page("/form")]), tab);
    assert_eq!(world.eval("document.title"), "Form");
    world.run(&["close"]).succeeded();
}

#[test]
fn f24_a_killed_keeper_daemon_and_browser_leave_nothing() {
    let world = World::new();
    world.open(&["--browser", "firefox", "about:blank"]);
    // The browser alone: the session's next command starts another one.
    world.expect_litter();
    let before = processes(&world);
    kill(world.pid("browser_pid"));
    await_end("no process of the browser is left", 30, &before);
    let back = find_eventually(60, || {
        let opened = world.run(&["open", "about:blank"]);
        (opened.code == 0).then_some(opened)
    });
    assert!(back.is_some(), "{}", world.log());
    // The keeper alone: its browser ends with it.
    let before = processes(&world);
    kill(world.pid("keeper_pid"));
    await_end("the browser ends with its keeper", 30, &before);
    eventually("its files go", 20, || world.files("runtime/browsers").is_empty());
    // Daemon and keeper together.
    world.open(&["about:blank"]);
    let (daemon, keeper, before) = (world.daemon_pid(), world.pid("keeper_pid"), processes(&world));
    kill(daemon);
    kill(keeper);
    await_end("no browser is left", 30, &before);
    world.run(&["daemon", "start"]).succeeded();
    assert_eq!(world.files("runtime/profiles"), [""; 0], "{}", world.log());
    assert_eq!(world.files("runtime/browsers"), [""; 0]);
}

#[test]
fn a_firefox_with_a_window_is_driven_and_survives_the_daemon() {
    let display = VirtualDisplay::start();
    let (world, site) = (World::new().with("DISPLAY", &display.name), FixtureSite::start());
    world.open(&["--browser", "firefox", "--headed", &site.page("/plain")]);
    assert_eq!(world.json(&["session", "status"])["result"]["headed"], true);
    world.run(&["click", "#count"]).succeeded();
    world.run(&["screenshot", "--output", "window.png"]).succeeded();
    kill(world.daemon_pid());
    assert_eq!(world.eval("document.title"), "Plain page");
    world.run(&["close"]).succeeded();
}
