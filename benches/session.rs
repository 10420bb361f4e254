//! Sessions: `tabwire get url` compared with an empty process and a raw round trip, `session list` with fifty
//! sessions compared with an empty process, and the daemon's memory with fifty sessions as contexts in one
//! browser.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_api::CdpSessionId;
use tabwire_cdp::{CdpSession, Connection, TaskGroup, WebSocketUrl};
use tabwire_testkit::bench::{BareBrowser, Sample, TabwireWorld, empty_program, micros, timed};

const ROUNDS: usize = 200;
const SESSIONS: usize = 50;
const LIMIT: Duration = Duration::from_secs(10);

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let empty = empty_program(directory.path());
    let program =
        tabwire_browser::finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser").path;
    let bare = BareBrowser::start(&program);
    let tasks = TaskGroup::new();
    let (connection, page) = runtime.block_on(open_bare_page(&bare, &tasks));
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    for number in 0..SESSIONS {
        let name = format!("s{number}");
        world.run(&["--session", &name, "open", "--isolation", "context", "about:blank"]);
    }
    let names = ["empty process", "raw round trip", "tabwire get url", "tabwire session list"];
    let mut samples = names.map(|_| Sample::default());
    for _ in 0..ROUNDS {
        samples[0].add(timed(Command::new(&empty)));
        let before = Instant::now();
        runtime
            .block_on(page.send("Runtime.evaluate", &json!({"expression": "location.href"}), LIMIT))
            .expect("a response");
        samples[1].add(before.elapsed());
        samples[2].add(timed(world.command(&["--session", "s0", "get", "url"])));
        samples[3].add(timed(world.command(&["session", "list"])));
    }
    for (name, sample) in names.iter().zip(&samples) {
        let (median, p99) = (micros(sample.median()), micros(sample.p99()));
        println!("{name:<22} median {median:>10}  p99 {p99:>10}");
    }
    let over = |sample: &Sample, floor: Duration| micros(sample.median().saturating_sub(floor));
    let floor = samples[0].median() + samples[1].median();
    println!("get url over the floor: {} (aim: 1 ms)", over(&samples[2], floor));
    println!(
        "session list with {SESSIONS} sessions over an empty process: {} (aim: 2 ms)",
        over(&samples[3], samples[0].median())
    );
    let daemon = world.status()["pid"].as_u64().expect("a pid");
    println!("daemon with {SESSIONS} sessions in one browser: {} KiB PSS (aim: 24 MiB)", pss(daemon));
    drop(connection);
}

/// A page of a browser without Tabwire.
async fn open_bare_page(bare: &BareBrowser, tasks: &TaskGroup) -> (Connection, CdpSession) {
    let address = WebSocketUrl::parse(&bare.websocket()).expect("an address");
    let (source, sink) = address.connect().await.expect("connected");
    let connection = Connection::start(source, sink, tasks);
    let browser = connection.browser();
    let asked = browser.send("Target.createTarget", &json!({"url": "about:blank"}), LIMIT).await;
    let created: Value = asked.expect("a page").to().expect("an id");
    let params = json!({"targetId": created["targetId"], "flatten": true});
    let asked = browser.send("Target.attachToTarget", &params, LIMIT).await;
    let attached: Value = asked.expect("attached").to().expect("an id");
    let page = connection.session(&CdpSessionId::new(attached["sessionId"].as_str().expect("an id")));
    (connection, page)
}

/// Proportional set size in KiB.
fn pss(pid: u64) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("the process lives");
    let line = text.lines().find(|line| line.starts_with("Pss:")).expect("a size");
    line.split_whitespace().nth(1).and_then(|size| size.parse().ok()).expect("a number")
}
