//! The cost of the audit log for an action: the same requests to a daemon with and without one, in turns, and
//! the time from submitting a row to its commit.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use tabwire_api::SessionName;
use tabwire_audit::{AuditLog, Bounds, ClientInfo, Entry, LogVisibility, Outcome, Ruling, Summary};
use tabwire_testkit::bench::{Sample, TabwireWorld, micros};

/// Requests to each side in a block, and number of blocks.
const ROUNDS: usize = 1_000;
const BLOCKS: usize = 9;
/// Rows in direct succession, and rows with pauses between them, as actions have.
const ROWS: [(&str, usize, Duration); 2] = [
    ("one row, at once", 20_000, Duration::ZERO),
    ("one row, now and then", 4_000, Duration::from_millis(2)),
];
const LIMIT: Duration = Duration::from_secs(20);

/// A daemon and its socket.
struct Side {
    _world: TabwireWorld,
    socket: PathBuf,
}

impl Side {
    fn start(log: &str) -> Self {
        let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
        let mut start = world.command(&["open", "about:blank"]);
        assert!(start.env("TABWIRE_AUDIT_LOG", log).status().expect("started").success());
        let socket = world.home().join("runtime").join("daemon.sock");
        assert!(world.home().join("state/audit.sqlite").exists() == (log == "on"));
        Self { _world: world, socket }
    }

    /// One request as the command line sends it, on its own connection.
    fn ask(&self, action: &str, body: &str) -> Duration {
        let before = Instant::now();
        let mut stream = UnixStream::connect(&self.socket).expect("the daemon listens");
        let length = body.len();
        let request = format!(
            "POST /v1/actions/{action} HTTP/1.1\r\nHost: tabwire.local\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("it responds");
        assert!(response.starts_with("HTTP/1.1"), "{response}");
        before.elapsed()
    }
}

/// Both sides in turns, in blocks: a slow moment of the machine affects one block only.
fn compare(name: &str, with: &Side, without: &Side, action: &str, body: &str) {
    for _ in 0..ROUNDS / 5 {
        let _ = (with.ask(action, body), without.ask(action, body));
    }
    let mut blocks = [(); BLOCKS].map(|()| (Sample::default(), Sample::default()));
    for (ours, bare) in &mut blocks {
        for _ in 0..ROUNDS {
            ours.add(with.ask(action, body));
            bare.add(without.ask(action, body));
        }
    }
    for (share, of) in [("median", Sample::median as fn(&Sample) -> Duration), ("p99", Sample::p99)] {
        let middle = |of: &dyn Fn(&(Sample, Sample)) -> f64| {
            let mut found: Vec<f64> = blocks.iter().map(of).collect();
            found.sort_by(f64::total_cmp);
            found[BLOCKS / 2]
        };
        let time = |sample: &Sample| of(sample).as_secs_f64() * 1e6;
        println!(
            "{name:<22} {share:<6} with {:>8.1} µs  without {:>8.1} µs  adds {:>8.1} µs",
            middle(&|(with, _)| time(with)),
            middle(&|(_, without)| time(without)),
            middle(&|(with, without)| time(with) - time(without)),
        );
    }
}

fn rows(directory: &Path) {
    let log = AuditLog::start(&directory.join("state/audit.sqlite"), Bounds::default(), |_| {})
        .expect("an audit log");
    for (name, count, pause) in ROWS {
        let mut taken = Sample::default();
        for _ in 0..count {
            let entry = entry();
            std::thread::park_timeout(pause);
            let before = Instant::now();
            log.append(entry, LIMIT).expect("written");
            taken.add(before.elapsed());
        }
        println!("{name:<22} median {:>10}  p99 {:>10}", micros(taken.median()), micros(taken.p99()));
    }
    log.close(LIMIT).expect("closed");
}

fn entry() -> Entry {
    let params = json!({"target": "#login", "value": "secret"});
    Entry {
        time: SystemTime::now(),
        duration: Duration::from_millis(3),
        project: None,
        session: SessionName::default(),
        client: ClientInfo { pid: Some(4_711), program: Some("node".to_owned()), ..ClientInfo::default() },
        action: "fill",
        effect: "act",
        tab: None,
        origin: None,
        ruling: Ruling::open(),
        outcome: Outcome::Done,
        parameters: Summary::of(
            &params,
            &[("target", LogVisibility::Target), ("value", LogVisibility::Hidden)],
        ),
        changes: Summary::default(),
        run: None,
    }
}

fn main() {
    let directory = tempfile::tempdir().expect("a directory");
    rows(directory.path());
    let (with, without) = (Side::start("on"), Side::start("off"));
    // Refused before a browser is used: only HTTP and the audit log are left.
    compare("a refused action", &with, &without, "nothing", "{}");
    compare("eval 1", &with, &without, "eval", r#"{"params": {"expression": "1"}}"#);
}
