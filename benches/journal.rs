//! What the journal adds to an action: the same requests to a daemon that writes one and to a daemon that does not, in
//! turns, and the time a row takes from being handed over to being committed.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use tabwire_journal::{Asker, Bounds, Entry, Journal, Outcome, Ruling, Summary, Telling};
use tabwire_testkit::bench::{Sample, TabwireWorld, micros};
use tabwire_wire::SessionName;

const ROUNDS: usize = 2_000;
const ROWS: usize = 20_000;
const LIMIT: Duration = Duration::from_secs(20);

/// A daemon and its socket.
struct Side {
    _world: TabwireWorld,
    socket: PathBuf,
}

impl Side {
    fn start(journal: &str) -> Self {
        let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
        let mut start = world.command(&["open", "about:blank"]);
        assert!(start.env("TABWIRE_JOURNAL", journal).status().expect("started").success());
        let socket = world.home().join("runtime").join("daemon.sock");
        assert!(world.home().join("state/journal.db").exists() == (journal == "on"));
        Self { _world: world, socket }
    }

    /// One request as the command line makes it, on a connection of its own.
    fn ask(&self, action: &str, body: &str) -> Duration {
        let before = Instant::now();
        let mut stream = UnixStream::connect(&self.socket).expect("the daemon listens");
        let length = body.len();
        let request = format!(
            "POST /v1/actions/{action} HTTP/1.1\r\nHost: tabwire.local\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert!(answer.starts_with("HTTP/1.1"), "{answer}");
        before.elapsed()
    }
}

fn compare(name: &str, with: &Side, without: &Side, action: &str, body: &str) {
    let (mut ours, mut bare) = (Sample::default(), Sample::default());
    for _ in 0..ROUNDS / 10 {
        let _ = (with.ask(action, body), without.ask(action, body));
    }
    for _ in 0..ROUNDS {
        ours.add(with.ask(action, body));
        bare.add(without.ask(action, body));
    }
    for (share, with, without) in [("median", ours.median(), bare.median()), ("p99", ours.p99(), bare.p99())]
    {
        println!(
            "{name:<22} {share:<6} with {:>10}  without {:>10}  adds {:>10}",
            micros(with),
            micros(without),
            micros(with.saturating_sub(without))
        );
    }
}

fn rows(directory: &Path) {
    let journal =
        Journal::start(&directory.join("state/journal.db"), Bounds::default(), |_| {}).expect("a journal");
    let mut taken = Sample::default();
    for _ in 0..ROWS {
        let entry = entry();
        let before = Instant::now();
        journal.append(entry, LIMIT).expect("written");
        taken.add(before.elapsed());
    }
    println!(
        "{:<22} median {:>10}  p99 {:>10}",
        "one row, committed",
        micros(taken.median()),
        micros(taken.p99())
    );
    journal.close(LIMIT).expect("closed");
}

fn entry() -> Entry {
    let params = json!({"target": "#login", "value": "secret"});
    Entry {
        time: SystemTime::now(),
        duration: Duration::from_millis(3),
        project: None,
        session: SessionName::default(),
        asker: Asker { pid: Some(4_711), program: Some("node".to_owned()), ..Asker::default() },
        action: "fill",
        effect: "act",
        tab: None,
        origin: None,
        ruling: Ruling::open(),
        outcome: Outcome::Done,
        parameters: Summary::of(&params, &[("target", Telling::Target), ("value", Telling::Hidden)]),
        changes: Summary::default(),
    }
}

fn main() {
    let directory = tempfile::tempdir().expect("a directory");
    rows(directory.path());
    let (with, without) = (Side::start("on"), Side::start("off"));
    // Refused before any browser is asked: what is left is HTTP and the journal.
    compare("a refused action", &with, &without, "nothing", "{}");
    compare("eval 1", &with, &without, "eval", r#"{"params": {"expression": "1"}}"#);
}
