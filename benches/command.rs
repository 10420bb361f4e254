//! Whole commands as processes: `tabwire eval 1` and `status`, compared with an empty process, a raw round
//! trip, and agent-browser where it is installed (`npm ci` in `benches/peers`).
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_api::CdpSessionId;
use tabwire_cdp::{Connection, TaskGroup, WebSocketUrl};
use tabwire_testkit::bench::{BareBrowser, Peer, Sample, TabwireWorld, empty_program, micros, timed};

const ROUNDS: usize = 200;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let empty = empty_program(directory.path());
    let bare = BareBrowser::start(&browser_program());
    let tasks = TaskGroup::new();
    let (connection, page) = runtime.block_on(async {
        let address = WebSocketUrl::parse(&bare.websocket()).expect("an address");
        let (source, sink) = address.connect().await.expect("connected");
        let connection = Connection::start(source, sink, &tasks);
        let browser = connection.browser();
        let limit = Duration::from_secs(10);
        let created: Value = browser
            .send("Target.createTarget", &json!({"url": "about:blank"}), limit)
            .await
            .expect("a page")
            .to()
            .expect("an id");
        let params = json!({"targetId": created["targetId"], "flatten": true});
        let attached: Value = browser
            .send("Target.attachToTarget", &params, limit)
            .await
            .expect("attached")
            .to()
            .expect("an id");
        let page = connection.session(&CdpSessionId::new(attached["sessionId"].as_str().expect("an id")));
        (connection, page)
    });
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    world.run(&["open", "about:blank"]);
    let benches = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benches");
    let peer = Peer::find(&benches, &browser_program());
    if let Some(peer) = &peer {
        assert!(peer.command(&["open", "about:blank"]).output().expect("the peer runs").status.success());
    }
    let mut samples: Vec<(&str, Sample)> =
        ["empty process", "raw round trip", "tabwire eval 1", "tabwire status", "agent-browser eval 1"]
            .map(|name| (name, Sample::default()))
            .into();
    for _ in 0..ROUNDS {
        samples[0].1.add(timed(Command::new(&empty)));
        let before = Instant::now();
        runtime
            .block_on(page.send("Runtime.evaluate", &json!({"expression": "1"}), Duration::from_secs(10)))
            .expect("a response");
        samples[1].1.add(before.elapsed());
        samples[2].1.add(timed(world.command(&["eval", "1"])));
        samples[3].1.add(timed(world.command(&["status"])));
        if let Some(peer) = &peer {
            samples[4].1.add(timed(peer.command(&["eval", "1"])));
        }
    }
    for (name, sample) in &samples {
        println!(
            "{name:<22} median {:>10}  p99 {:>10}  min {:>10}",
            micros(sample.median()),
            micros(sample.p99()),
            micros(sample.minimum())
        );
    }
    let floor = samples[0].1.median() + samples[1].1.median();
    println!("eval over the floor: {}", micros(samples[2].1.median().saturating_sub(floor)));
    println!(
        "status over an empty process: {}",
        micros(samples[3].1.median().saturating_sub(samples[0].1.median()))
    );
    if peer.is_some() {
        println!(
            "agent-browser eval over the floor: {}",
            micros(samples[4].1.median().saturating_sub(floor))
        );
    } else {
        println!("agent-browser is not installed: run `npm ci --ignore-scripts` in benches/peers");
    }
    drop(connection);
}

fn browser_program() -> PathBuf {
    tabwire_browser::finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser").path
}
