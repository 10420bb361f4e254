//! Daemons that are killed, doubled, signalled or outdated: browsers, tabs and URLs survive.

use std::io::Read;
use std::os::unix::net::UnixListener;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::session::attachment::secret_of;
use crate::support::cdp_client::CdpClient;
use crate::support::process::{Process, is_running, kill, signal};
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

/// Commands that race to start one daemon.
const RACERS: usize = 20;

/// State that must survive the loss of a daemon.
fn surviving_state(world: &World) -> (Value, i32, String) {
    let mut tabs = world.json(&["tabs"])["result"]["tabs"].clone();
    for tab in tabs.as_array_mut().expect("tabs") {
        tab["title"].take();
    }
    (tabs, world.pid("browser_pid"), secret_of(&world.cdp_url()))
}

/// Opens two tabs with a script variable that a reload would lose.
fn open_two_tabs(world: &World) -> String {
    let first = world.open(&["data:text/html,<title>first</title>"]);
    world.eval("window.x = 1");
    world.open(&["--new-tab", "data:text/html,<title>second</title>"]);
    world.eval("window.x = 2");
    first
}

fn check_tabs(world: &World, first: &str) {
    assert_eq!(world.eval("window.x"), "2", "the current tab is the same");
    let outcome = world.run(&["eval", "window.x", "--tab", first]).succeeded();
    assert_eq!((outcome.text(), outcome.stderr.as_str()), ("1", ""));
}

#[test]
fn f47_a_killed_daemon_loses_nothing_but_its_port() {
    let world = World::new().with("TABWIRE_LINGER", "30");
    let first = open_two_tabs(&world);
    let before = surviving_state(&world);
    let old = world.daemon_pid();
    kill(old);
    check_tabs(&world, &first);
    assert_eq!(surviving_state(&world), before);
    assert_ne!(world.daemon_pid(), old);
    assert!(world.log().contains("adopted a browser"), "{}", world.log());
    let mut client = CdpClient::connect(&world.cdp_url());
    let page = client.open_page("about:blank");
    assert_eq!(client.evaluate("6 * 7", &page.session), 42, "the CDP URL works again");
    drop(client);
    let third = world.open(&["--new-tab", "about:blank"]);
    assert!(!before.0.to_string().contains(&format!("\"{third}\"")), "{third} was used before");
}

#[test]
fn a_cdp_url_survives_a_killed_daemon_if_its_port_is_free() {
    let free =
        std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
    let world = World::new().with("TABWIRE_PORT", free.to_string()).with("TABWIRE_LINGER", "30");
    world.open(&["about:blank"]);
    let address = world.cdp_url();
    kill(world.daemon_pid());
    world.run(&["daemon", "start"]).succeeded();
    assert_eq!(world.cdp_url(), address);
    let mut client = CdpClient::connect(&address);
    let page = client.open_page("about:blank");
    assert_eq!(client.evaluate("1", &page.session), 1);
}

#[test]
fn f37_a_port_taken_by_another_program_is_not_used() {
    let stranger = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = stranger.local_addr().expect("bound").port();
    let world = World::new().with("TABWIRE_PORT", port.to_string());
    world.open(&["about:blank"]);
    let status = world.json(&["status"]);
    assert_ne!(status["port"], port);
    let findings = world.json(&["doctor"]).to_string();
    assert!(findings.contains(&format!("Another program uses port {port}")), "{findings}");
    // `World` checks at the end that its own ports are closed.
    drop(stranger);
}

#[test]
fn a_command_reports_outcome_unknown_when_the_daemon_is_killed() {
    let world = World::new().with("TABWIRE_LINGER", "30");
    world.open(&["about:blank"]);
    let running = world.start(&["--json", "eval", "await new Promise((done) => setTimeout(done, 60000))"]);
    eventually("the command is under way", 10, || world.number("pending") > 0);
    kill(world.daemon_pid());
    assert_eq!(wait(running, &["eval"]).failure(), ("OUTCOME_UNKNOWN".to_owned(), 1));
    assert_eq!(world.eval("1"), "1");
}

#[test]
fn f27_a_terminated_daemon_leaves_the_browser_to_the_next() {
    let world = World::new().with("TABWIRE_LINGER", "30");
    let first = open_two_tabs(&world);
    let before = surviving_state(&world);
    let daemon = world.daemon_pid();
    signal(daemon, Signal::TERM);
    signal(daemon, Signal::TERM);
    eventually("the daemon ends", 10, || !is_running(daemon));
    assert!(!world.socket().exists(), "it removes its socket");
    check_tabs(&world, &first);
    assert_eq!(surviving_state(&world), before);
}

/// A daemon that got SIGTERM while a command runs, the command, and the daemon's pid.
fn daemon_that_waits_for_its_work() -> (World, Child, i32) {
    let world = World::new().with("TABWIRE_LINGER", "30");
    world.open(&["about:blank"]);
    let running = world.start(&["--json", "eval", "await new Promise((done) => setTimeout(done, 60000))"]);
    eventually("the command is under way", 10, || world.number("pending") > 0);
    let daemon = world.daemon_pid();
    signal(daemon, Signal::TERM);
    eventually("it stops listening", 5, || !world.socket().exists());
    assert!(is_running(daemon), "it waits for the command");
    (world, running, daemon)
}

#[test]
fn f27_a_second_signal_does_not_wait_for_work() {
    let (world, running, daemon) = daemon_that_waits_for_its_work();
    let asked = Instant::now();
    signal(daemon, Signal::TERM);
    eventually("the daemon ends", 5, || !is_running(daemon));
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(wait(running, &["eval"]).code, 1);
    assert_eq!(world.eval("1"), "1");
}

#[test]
fn f27_a_command_during_daemon_shutdown_is_served_by_the_next_daemon() {
    let (world, running, daemon) = daemon_that_waits_for_its_work();
    let mut waiting = world.start(&["eval", "1"]);
    eventually("the next daemon waits for the lock", 10, || {
        world.processes().iter().filter(|process| process.command.contains("daemon run")).count() == 2
    });
    signal(daemon, Signal::TERM);
    eventually("the command ends", 15, || waiting.try_wait().expect("our own child").is_some());
    let outcome = wait(waiting, &["eval"]).succeeded();
    assert_eq!(outcome.text(), "1");
    assert_eq!(wait(running, &["eval"]).code, 1);
}

#[test]
fn f27_a_signal_during_the_start_leaves_nothing() {
    let world = World::new().with("TABWIRE_LINGER", "30");
    let starting = world.start(&["--json", "open", "about:blank"]);
    let daemon = || world.processes().into_iter().find(|process| process.command.contains("daemon run"));
    eventually("a daemon is there", 10, || daemon().is_some());
    if let Some(Process { pid, .. }) = daemon() {
        signal(pid, Signal::TERM);
        signal(pid, Signal::TERM);
        eventually("it ends", 20, || !is_running(pid));
    }
    // Either result is fine: the command must end, and the next one must work.
    let _ = wait(starting, &["open"]);
    world.open(&["about:blank"]);
    assert_eq!(world.eval("1"), "1");
}

#[test]
fn f38_twenty_commands_at_once_start_one_daemon() {
    let world = World::new();
    let racers: Vec<_> = (0..RACERS).map(|number| world.start(&["eval", &format!("{number} + 1")])).collect();
    for (number, racer) in racers.into_iter().enumerate() {
        let outcome = wait(racer, &["eval"]);
        assert_eq!((outcome.code, outcome.text()), (0, (number + 1).to_string().as_str()), "{outcome:?}");
    }
    let daemons: Vec<_> =
        world.processes().into_iter().filter(|process| process.command.contains("daemon run")).collect();
    assert_eq!(daemons.len(), 1, "{daemons:?}");
    let starts = world.log().matches("the daemon starts").count();
    assert_eq!(starts, 1, "{}", world.log());
    assert_eq!(world.log().matches("a browser was launched").count(), 1);
}

#[test]
fn f40_a_newer_client_gets_a_version_error_and_a_drained_daemon_yields() {
    let world = World::new().with("TABWIRE_LINGER", "30");
    let first = open_two_tabs(&world);
    let before = surviving_state(&world);
    let ask = |method: &str, path: &str, version: &str| {
        let body = if method == "POST" {
            "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        } else {
            "\r\n"
        };
        world.http(&format!(
            "{method} {path} HTTP/1.1\r\nHost: tabwire.local\r\nx-tabwire-version: {version}\r\nConnection: close\r\n{body}"
        ))
    };
    for (version, code) in [("99.0.0", "DAEMON_OLDER"), ("0.0.1", "VERSION_MISMATCH")] {
        let (status, body) = ask("GET", "/v1/status", version);
        assert!(status.contains(" 426 "), "{version}: {status} {body}");
        assert!(body.contains(code), "{version}: {body}");
    }
    let daemon = world.daemon_pid();
    let browser = world.pid("browser_pid");
    let (status, body) = ask("POST", "/v1/daemon/drain", "99.0.0");
    assert!(status.contains(" 200 "), "{status} {body}");
    eventually("the daemon leaves", 10, || !is_running(daemon));
    assert!(is_running(browser), "the browser stays");
    check_tabs(&world, &first);
    assert_eq!(surviving_state(&world), before);
}

#[test]
fn an_idle_daemon_ends_by_itself() {
    let world = World::new().with("TABWIRE_IDLE_EXIT", "1");
    world.open(&["about:blank"]);
    let daemon = world.daemon_pid();
    world.run(&["close"]).succeeded();
    eventually("the daemon goes", 10, || !is_running(daemon));
}

#[test]
fn two_sessions_of_one_browser_both_outlive_the_daemon() {
    let world = World::new().with("TABWIRE_LINGER", "30");
    world.open(&["--profile", "both", "about:blank"]);
    world.run(&["--session", "b", "open", "--profile", "both", "--new-tab", "about:blank"]).succeeded();
    world.run(&["--session", "b", "eval", "window.x = 5"]).succeeded();
    let browser = world.pid("browser_pid");
    kill(world.daemon_pid());
    let outcome = world.run(&["--session", "b", "eval", "window.x"]).succeeded();
    assert_eq!(outcome.text(), "5");
    assert_eq!(world.pid("browser_pid"), browser);
    assert_eq!(world.json(&["status"])["sessions"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_stop_whose_response_is_lost_succeeds_if_the_daemon_is_gone() {
    for (is_gone, code) in [(true, 0), (false, 1)] {
        let world = World::new();
        let socket = world.socket();
        std::fs::create_dir_all(world.runtime()).expect("a directory");
        let listener = UnixListener::bind(&socket).expect("a socket");
        std::thread::scope(|scope| {
            let stop = scope.spawn(|| world.run(&["daemon", "stop"]));
            let (mut connection, _) = listener.accept().expect("a request");
            let read = connection.read(&mut [0; 4_096]).expect("a request");
            assert!(read > 0);
            if is_gone {
                std::fs::remove_file(&socket).expect("removed");
            }
            drop(connection);
            let outcome = stop.join().expect("it ends");
            assert_eq!(outcome.code, code, "{outcome:?}");
            let said = if is_gone { &outcome.stdout } else { &outcome.stderr };
            let text = if is_gone { "The daemon stopped." } else { "OUTCOME_UNKNOWN" };
            assert!(said.contains(text), "{outcome:?}");
        });
        // No daemon is there that would remove it.
        drop(listener);
        let _ = std::fs::remove_file(&socket);
    }
}
