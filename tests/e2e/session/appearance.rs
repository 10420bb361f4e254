//! How a session's browser appears: on which display, and whether pages see that it is automated.

use crate::support::fixture_site::FixtureSite;
use crate::support::virtual_display::VirtualDisplay;
use crate::support::world::{World, wait};

const TABWIRE: &str = env!("CARGO_BIN_EXE_tabwire");

/// The variable of a process, from the kernel.
fn variable(pid: i32, name: &str) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).expect("it runs");
    let text = String::from_utf8_lossy(&environment).into_owned();
    text.split('\0').find_map(|entry| entry.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
}

#[test]
fn b8_window_opens_on_the_display_of_the_command_not_of_the_daemon() {
    let (first, second) = (VirtualDisplay::start(), VirtualDisplay::start());
    let world = World::new().with_whole_chromium();
    let open = |session: &str, display: &str| {
        let arguments = ["--session", session, "open", "--headed", "about:blank"];
        let mut command = world.command(TABWIRE, &arguments);
        command.env("DISPLAY", display).env_remove("WAYLAND_DISPLAY");
        let child = command.spawn().expect("the binary starts");
        wait(child, &arguments).succeeded();
        let status = world.json(&["--session", session, "session", "status"]);
        let pid = status["result"]["browser_pid"].as_i64().expect("a process");
        variable(i32::try_from(pid).expect("a process number"), "DISPLAY")
    };
    // The first command starts the daemon, which keeps the first display.
    assert_eq!(open("one", &first.name).as_deref(), Some(first.name.as_str()));
    assert_eq!(open("two", &second.name).as_deref(), Some(second.name.as_str()));
    assert_eq!(variable(world.daemon_pid(), "DISPLAY").as_deref(), Some(first.name.as_str()));
}

#[test]
fn automation_is_hidden_only_on_request_and_named_in_the_status() {
    let (world, site) = (World::new(), FixtureSite::start());
    let seen = || world.eval("[navigator.webdriver, navigator.userAgent.includes('Headless')].join()");
    world.open(&[&site.page("/plain")]);
    assert_eq!(seen(), "true,true");
    assert!(!world.run(&["status"]).succeeded().stdout.contains("hides automation"));
    world.open(&["--hide-automation", "--restart", &site.page("/plain")]);
    assert_eq!(seen(), "false,false");
    assert!(world.eval("navigator.userAgent").contains(" Chrome/"));
    let status = world.json(&["session", "status"]);
    assert_eq!(status["result"]["hides_automation"], true, "{status}");
    assert!(world.run(&["status"]).succeeded().stdout.contains("open, hides automation"));
}

#[test]
fn guarded_sessions_hide_automation_only_by_the_users_configuration() {
    let world = World::new();
    let refused = world.run(&["session", "start", "--policy", "guarded", "--hide-automation"]);
    assert!(
        refused.stderr.contains("POLICY_DENIED") && refused.stderr.contains("hide_automation"),
        "{refused:?}"
    );
    assert!(world.browser_processes().is_empty(), "no browser was started");
    world.run(&["config", "set", "hide_automation", "true"]).succeeded();
    world.run(&["session", "start", "--policy", "guarded"]).succeeded();
    assert_eq!(world.json(&["session", "status"])["result"]["hides_automation"], true);
}
