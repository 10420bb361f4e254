//! Interrupted commands and suspended machines: browser and session survive.

use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::chromium::Chromium;
use crate::support::process::{is_running, signal};
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::{World, wait};

/// How long daemon and browser are paused, as during a suspend.
const SLEEP: Duration = Duration::from_secs(4);

#[test]
fn an_interrupt_ends_only_the_command_and_its_work() {
    let world = World::new();
    world.open(&["data:text/html,<title>stays</title>"]);
    let (daemon, browser) = (world.daemon_pid(), world.pid("browser_pid"));
    let waiting = ["wait-for", "#never", "--timeout", "60s"];
    let mut command = world.start(&waiting);
    eventually("the command is under way", 10, || world.number("pending") > 0);
    eventually("it listens for interrupts", 5, || threads(command.id()) > 1);
    let asked = Instant::now();
    signal(command.id().cast_signed(), Signal::INT);
    let status = find_eventually(5, || command.try_wait().expect("our own child")).expect("it ends");
    assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
    // Shells report this as 130, and end the loop or script that ran the command.
    assert_eq!(status.signal(), Some(2), "{status:?}");
    let output = command.wait_with_output().expect("it has ended");
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(report.starts_with("Interrupted: ") && report.lines().count() == 1, "{report:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    assert!(is_running(browser) && is_running(daemon));
    // The daemon stops waiting, and so does the page.
    eventually("nothing is under way", 5, || world.number("pending") == 0);
    assert_eq!(world.eval("document.title"), "stays");
    assert_eq!((world.daemon_pid(), world.pid("browser_pid")), (daemon, browser));
}

/// Waits for real time to pass. A parked thread may wake early.
fn pass(time: Duration) {
    let begun = Instant::now();
    while let Some(left) = time.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
        std::thread::park_timeout(left);
    }
}

/// The number of threads: a command that takes long has one for interrupts.
fn threads(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

#[test]
fn an_interrupt_ends_every_kind_of_wait_in_the_page() {
    let world = World::new();
    world.open(&["data:text/html,<title>stays</title><button%20id=b%20disabled>never</button>"]);
    for arguments in [
        &["click", "#b", "--timeout", "60s"][..],
        &["wait-for", "--text", "never said", "--timeout", "60s"],
        &["wait-for", "--function", "window.never", "--timeout", "60s"],
    ] {
        let script = format!(
            "trap : INT; '{}' {}; echo $?",
            env!("CARGO_BIN_EXE_tabwire"),
            arguments.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ")
        );
        let mut shell = world.command("/bin/sh", &["-c", &script]);
        let shell = shell.spawn().expect("a shell");
        eventually("the command is under way", 10, || world.number("pending") > 0);
        let named = |each: &crate::support::process::Process| {
            each.command.contains("--timeout") && !each.command.contains("trap")
        };
        let command = world.processes().into_iter().find(named).expect("the command");
        eventually("it listens for interrupts", 5, || threads(command.pid.unsigned_abs()) > 1);
        signal(command.pid, Signal::INT);
        let outcome = wait(shell, arguments);
        assert_eq!(outcome.text(), "130", "{arguments:?}: {outcome:?}");
        eventually("nothing is under way", 5, || world.number("pending") == 0);
    }
}

#[test]
fn an_interrupt_while_the_browser_starts_leaves_a_session_that_works() {
    let world = World::new();
    let mut command = world.start(&["open", "data:text/html,<title>first</title>"]);
    eventually("a browser is starting", 20, || !world.browser_processes().is_empty());
    signal(command.id().cast_signed(), Signal::INT);
    let ended = find_eventually(5, || command.try_wait().expect("our own child"));
    assert!(ended.is_some(), "it ends at once");
    world.run(&["open", "data:text/html,<title>second</title>"]).succeeded();
    assert_eq!(world.eval("document.title"), "second");
    let browsers = world.browsers();
    assert_eq!(browsers.len(), 1, "{browsers:#?}\n{}", world.log());
    assert_eq!(world.files("runtime/profiles").len(), 1);
}

#[test]
fn f34_paused_processes_continue_after_resuming() {
    let world = World::new();
    let tab = world.open(&["--save-state", "data:text/html,<title>asleep</title>"]);
    world.run(&["--as", "anna", "tab", "lease", &tab, "--for", "5m"]).succeeded();
    let script = "setTimeout(() => document.title = 'awake', 1500); 1";
    world.run(&["--as", "anna", "eval", script]).succeeded();
    let arguments = [
        "--as",
        "anna",
        "eval",
        "while (document.title != 'awake') await new Promise(requestIdleCallback); 7",
    ];
    let waiting = world.start(&arguments);
    eventually("the command is under way", 10, || world.number("pending") > 0);
    let mut sleepers = world.processes();
    sleepers.retain(|process| process.pid != waiting.id().cast_signed());
    for process in &sleepers {
        signal(process.pid, Signal::STOP);
    }
    pass(SLEEP);
    for process in &sleepers {
        signal(process.pid, Signal::CONT);
    }
    assert_eq!(wait(waiting, &arguments).succeeded().text(), "7");
    let leased = world.json(&["tab", "leases"])["result"]["leases"].clone();
    assert_eq!(leased[0]["owner"], "anna", "{leased}");
    eventually("the state is saved as before", 15, || {
        world.files("state/sessions").iter().any(|project| {
            !world.files(&format!("state/sessions/{project}")).is_empty()
                && world
                    .files(&format!("state/sessions/{project}"))
                    .iter()
                    .any(|name| name.ends_with(".state"))
        })
    });
    assert!(!world.log().contains("was lost"), "{}", world.log());
}

/// Longer than an attached browser may be silent before it counts as lost.
const STANDSTILL: Duration = Duration::from_secs(14);

#[test]
fn f34_a_paused_daemon_drops_no_client_after_resuming() {
    let (world, browser) = (World::new(), Chromium::with_port());
    world.open(&["data:text/html,<title>launched</title>"]);
    let attached = ["--session", "attached"];
    let port = browser.port().to_string();
    world
        .run(&[&attached[..], &["open", "--cdp", &port, "data:text/html,<title>attached</title>"]].concat())
        .succeeded();
    let arguments = ["wait-for", "--function", "window.done", "--timeout", "60s"];
    let waiting = world.start(&[&attached[..], &arguments].concat());
    let is_waiting = || world.json(&["status"])["sessions"][0]["pending"].as_i64() > Some(0);
    eventually("the wait is under way", 10, is_waiting);
    let daemon = world.daemon_pid();
    signal(daemon, Signal::STOP);
    pass(STANDSTILL);
    signal(daemon, Signal::CONT);
    for (session, title) in [("attached", "attached"), ("default", "launched")] {
        let asked = Instant::now();
        let fresh = ["--session", session, "--timeout", "5s", "eval", "document.title"];
        let outcome = world.run(&fresh).succeeded();
        assert_eq!((outcome.text(), outcome.stderr.as_str()), (title, ""), "{session}: nothing was lost");
        assert!(asked.elapsed() < Duration::from_secs(5), "{session}: {:?}", asked.elapsed());
    }
    world.run(&[&attached[..], &["eval", "window.done = true"]].concat()).succeeded();
    wait(waiting, &arguments).succeeded();
    assert_eq!(world.daemon_pid(), daemon);
    world.run(&[&attached[..], &["close"]].concat()).succeeded();
}
