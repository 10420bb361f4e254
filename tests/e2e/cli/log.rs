//! The audit log: entries of commands and clients, live and after a crash, without secrets.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::cdp_client::CdpClient;
use crate::support::process::{kill, signal};
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

const CANARY: &str = "hunter2canary";

/// How long to wait for a row or an exit.
const SECONDS: u64 = 20;

impl World {
    /// Rows of `tabwire log --json`.
    fn rows(&self, arguments: &[&str]) -> Vec<Value> {
        let outcome =
            self.run(&[&["--json", "--quiet", "log", "-n", "1000"], arguments].concat()).succeeded();
        outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect()
    }

    /// The actions of those rows.
    fn actions(&self, arguments: &[&str]) -> Vec<String> {
        let name = |row: &Value| row["action"].as_str().expect("a name").to_owned();
        self.rows(arguments).iter().map(name).collect()
    }
}

/// The lines that a child prints, as they arrive.
fn printed(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    let output = BufReader::new(child.stdout.take().expect("piped"));
    std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    receiver
}

/// Runs commands with a canary in everything that must not be logged.
fn plant_canaries(world: &World) {
    let secret = format!("Authorization: Bearer {CANARY}");
    let url = format!("data:text/html,<input/id=a>?{CANARY}#{CANARY}");
    let code = format!("'{CANARY}'");
    for command in [
        &["navigate", &url][..],
        &["fill", "#a", CANARY],
        &["type", CANARY, "--target", "#a"],
        &["fill", &format!("[name={CANARY}]"), CANARY, "--timeout", "200ms"],
        &["press", CANARY],
        &["eval", &code],
        &["eval", &format!("throw new Error({code})")],
        &["headers", &secret],
        &["cookies", "set", "sid", CANARY, "--url", "http://127.0.0.1/"],
        &["find", CANARY],
        &["navigate", &format!("http://{CANARY}:{CANARY}@127.0.0.1:9/?{CANARY}")],
        &["get", "text", "--target", &format!("text={CANARY}"), "--timeout", "200ms"],
    ] {
        // Whether the commands succeed does not matter here.
        let _ = world.run(command);
    }
}

fn check_no_canary(world: &World) {
    for name in world.files("state").iter().filter(|name| name.starts_with("audit")) {
        let bytes = std::fs::read(world.home().join("state").join(name)).expect("a file");
        let found = bytes.windows(CANARY.len()).any(|window| window.eq_ignore_ascii_case(CANARY.as_bytes()));
        assert!(!found, "the canary is in {name}");
    }
}

#[test]
fn commands_and_clients_have_rows_and_filters_find_them() {
    let world = World::new().with("TABWIRE_CLIENT", "tester");
    assert_eq!(world.run(&["log"]).succeeded().stdout, "", "nothing yet, and no daemon is started");
    assert!(world.find_status().is_none());
    let tab = world.open(&["data:text/html,<title>one</title>"]);
    world.eval("1");
    assert_eq!(world.run(&["click", "#none", "--timeout", "100ms"]).code, 1);
    let client = CdpClient::connect(&format!("{}?client=other", world.cdp_url()));
    drop(client);
    eventually("the disconnect is logged", SECONDS, || world.actions(&["--client", "other"]).len() == 2);
    assert_eq!(world.actions(&["--client", "other"]), ["cdp_connect", "cdp_disconnect"]);
    assert_eq!(world.actions(&["--client", "tester"]), ["open", "eval", "click"]);
    assert_eq!(world.actions(&["--failed"]), ["click"]);
    assert_eq!(world.actions(&["--action", "open", "--since", "1h"]), ["open"]);
    assert_eq!(world.actions(&["--since", "2999-01-01"]), [""; 0]);
    assert_eq!(world.actions(&["--session", "other"]), [""; 0]);
    let last = world.run(&["--json", "log", "-n", "1"]).succeeded().json();
    assert_eq!(last["action"], "cdp_disconnect", "the newest is last");

    let click = world.rows(&["--failed"]).remove(0);
    assert_eq!((&click["tab"], &click["origin"]), (&Value::from(tab), &Value::from("data:")));
    assert_eq!((&click["decision"], &click["effect"]), (&Value::from("allow"), &Value::from("act")));
    assert!(click["duration_ms"].as_f64().expect("a number") >= 90.0, "{click}");
    let number = click["number"].to_string();
    assert_eq!(world.json(&["log", "show", &number]), click);
    let shown = world.run(&["log", "show", &number]).succeeded();
    assert!(shown.stdout.contains("SELECTOR_NOT_FOUND") && shown.stdout.contains("tester"), "{shown:?}");
    assert_eq!(world.run(&["--json", "log", "show", "999"]).failure(), ("BAD_ARGS".to_owned(), 2));
    assert_eq!(world.run(&["log", "--since", "soon"]).code, 2);
    let table = world.run(&["log"]).succeeded();
    assert!(table.stdout.starts_with("NUMBER") && !table.stdout.contains('\u{1b}'), "{table:?}");

    let all = world.rows(&[]);
    world.run(&["log", "export", "rows.ndjson"]).succeeded();
    let exported = std::fs::read_to_string(world.home().join("rows.ndjson")).expect("a file");
    let exported: Vec<Value> =
        exported.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(exported, all);
    let csv = world.run(&["log", "export", "--csv", "--action", "eval"]).succeeded();
    let lines: Vec<&str> = csv.stdout.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("number,time,") && lines[1].contains(",eval,"),
        "{lines:?}"
    );
}

#[test]
fn rows_can_be_followed_and_survive_a_killed_daemon_without_secrets() {
    let world = World::new().with("TABWIRE_LINGER", "30");
    let mut follower = world.start(&["--json", "log", "--follow"]);
    let lines = printed(&mut follower);
    world.open(&["about:blank"]);
    let next = || -> Value {
        let line = lines.recv_timeout(Duration::from_secs(SECONDS)).expect("a row comes");
        serde_json::from_str(&line).expect("one object a line")
    };
    assert_eq!(next()["action"], "open", "the file was not there when it began");
    for number in 0..5 {
        world.eval("1");
        kill(world.daemon_pid());
        let rows = world.rows(&[]);
        assert_eq!(rows.len(), 2 + number, "read without a daemon, and nothing is lost: {rows:?}");
        assert_eq!(next()["action"], "eval");
    }
    signal(i32::try_from(follower.id()).expect("a process number"), Signal::INT);
    let ended = find_eventually(SECONDS, || follower.try_wait().expect("our own child"));
    assert_eq!(ended.and_then(|status| status.signal()), Some(Signal::INT.as_raw()), "Ctrl-C ends it");

    let mut unread = world.start(&["log", "--follow"]);
    let mut output = BufReader::new(unread.stdout.take().expect("piped"));
    output.read_line(&mut String::new()).expect("a heading");
    drop(output);
    let ended = find_eventually(SECONDS, || unread.try_wait().expect("our own child"));
    assert_eq!(ended.and_then(|status| status.code()), Some(0), "it ends without a reader");

    plant_canaries(&world);
    check_no_canary(&world);
    let rows = world.rows(&[]);
    assert!(rows.iter().any(|row| row["action"] == "fill" && row["result"] == "ok"), "{rows:?}");
    assert!(rows.len() >= 6 + 10, "{rows:?}");
    world.run(&["daemon", "stop"]).succeeded();
    check_no_canary(&world);
    assert_eq!(world.rows(&[]).len(), rows.len());
}
