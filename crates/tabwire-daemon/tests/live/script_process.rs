//! Processes of scripts as the daemon holds them: what they can see, what ends them, and lines that they forge.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::live::support::live_daemon::{LiveDaemon, TIMEOUT};

/// Runs code and returns the lines of the response.
fn execute(daemon: &LiveDaemon, code: &str) -> Vec<Value> {
    let body = json!({"request": {"client": "test", "timeout_ms": 3_000}, "code": code});
    let reply = daemon.request_as_user("POST", "/v1/execute", &body);
    assert_eq!(reply.status, 200, "{}", reply.body);
    // The body is chunked: sizes stand between the lines.
    let lines = reply.body.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The processes that a daemon has started.
fn children(daemon: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("a list of processes");
    let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        parent == Some(daemon)
    };
    numbers.filter(is_child).collect()
}

fn is_there(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let until = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < until, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn the_response_to_execute_is_lines_that_end_with_done_or_failed() {
    let daemon = LiveDaemon::start();
    let lines = execute(&daemon, "console.log('one'); console.error('two'); ({ a: 1 })");
    assert_eq!(lines[0], json!({"console": {"level": "log", "text": "one"}}));
    assert_eq!(lines[1], json!({"console": {"level": "error", "text": "two"}}));
    assert_eq!((&lines[2]["done"]["value"], lines.len()), (&json!({"a": 1}), 3), "{lines:?}");
    let lines = execute(&daemon, "1;\nmissing()");
    assert_eq!(lines[0]["failed"]["code"], "EVAL_FAILED", "{lines:?}");
    assert!(lines[0]["failed"]["message"].to_string().contains("execute:2:1"), "{lines:?}");
    for (body, status) in [
        (json!({"request": {}, "code": 5}), 400),
        (json!({"code": "1", "unknown": 1}), 400),
        (json!({"request": {"session": "../x"}, "code": "1"}), 400),
    ] {
        assert_eq!(daemon.request_as_user("POST", "/v1/execute", &body).status, status, "{body}");
    }
    // Without the token the port refuses it.
    let refused = daemon.request("POST /v1/execute", &["content-type: application/json"], "{\"code\":\"1\"}");
    assert!(refused.status == 401 || refused.status == 403, "{refused:?}");
}

#[test]
fn a_process_sees_no_environment_and_ends_with_a_killed_daemon() {
    let daemon = LiveDaemon::start();
    assert_eq!(execute(&daemon, "40 + 2")[0]["done"]["text"], "42");
    let found = children(daemon.pid());
    let [child] = found[..] else { panic!("one process: {found:?}") };
    // Only root can read this of a process that is not dumpable.
    match std::fs::read(format!("/proc/{child}/environ")) {
        Ok(environment) => assert_eq!(String::from_utf8_lossy(&environment), ""),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
    }
    if let Ok(directory) = std::fs::read_link(format!("/proc/{child}/cwd")) {
        assert_eq!(directory, std::path::Path::new("/"));
    }
    drop(daemon.crash());
    wait_until("the process of the script ends with the daemon", || !is_there(child));
}

#[test]
fn forged_lines_of_a_process_harm_no_other_client() {
    for (forgery, expected) in [
        ("done-twice", "forged"),
        ("actions", "forged"),
        ("image", "forged"),
        ("other-run", "ended unexpectedly"),
        ("garbage", "ended unexpectedly"),
        ("unknown", "ended unexpectedly"),
        ("ready-twice", "ended unexpectedly"),
        ("calls", "ended"),
        ("console", "ended"),
        ("long-line", "ended unexpectedly"),
        ("silence", "Timeout 3000ms exceeded"),
    ] {
        let daemon = LiveDaemon::start_with_forgery(forgery);
        let since = Instant::now();
        let lines = execute(&daemon, "1");
        assert!(since.elapsed() < TIMEOUT / 2, "{forgery}: {:?}", since.elapsed());
        let last = lines.last().expect("a last line");
        assert!(last.to_string().contains(expected), "{forgery}: {last}");
        let ends = lines.iter().filter(|line| line.get("done").or(line.get("failed")).is_some()).count();
        assert_eq!(ends, 1, "{forgery}: one end");
        assert!(!lines.iter().any(|line| line.get("image").is_some()), "{forgery}: no image of another file");
        daemon.expect_alive();
        // The next run gets an answer of its own, not one that was forged for it before.
        let again = execute(&daemon, "2");
        assert!(
            again.last().is_some_and(|line| line.get("done").or(line.get("failed")).is_some()),
            "{forgery}"
        );
        assert!(children(daemon.pid()).len() <= 1, "{forgery}: processes that were ended are gone");
    }
}

/// Longer than the grace after a timeout.
const GONE: Duration = Duration::from_secs(30);

#[test]
fn a_client_that_leaves_ends_its_run() {
    let daemon = LiveDaemon::start();
    assert_eq!(execute(&daemon, "1")[0]["done"]["text"], "1");
    let body =
        json!({"request": {"client": "test", "timeout_ms": 120_000}, "code": "for (;;) {}"}).to_string();
    let mut stream = daemon.connect_socket();
    let head = format!(
        "POST /v1/execute HTTP/1.1\r\nhost: tabwire.local\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    std::io::Write::write_all(&mut stream, head.as_bytes()).expect("taken");
    drop(stream);
    // The next run waits for the one before.
    let since = Instant::now();
    assert_eq!(execute(&daemon, "'next'").last().expect("a line")["done"]["text"], "next");
    assert!(since.elapsed() < GONE, "{:?}", since.elapsed());
}
