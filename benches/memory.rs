//! Memory: the daemon with one browser and five tabs, its keeper, and the daemon over 5,000 tabs opened and closed.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_cdp::{Connection, TaskGroup, WebSocketUrl};

use tabwire_testkit::bench::TabwireWorld;

const CHURN: usize = 5_000;
const AT_ONCE: usize = 10;

/// Proportional set size in KiB.
fn pss(pid: u64) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("the process lives");
    let line = text.lines().find(|line| line.starts_with("Pss:")).expect("a size");
    line.split_whitespace().nth(1).and_then(|size| size.parse().ok()).expect("a number")
}

fn main() {
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    world.run(&["open"]);
    for _ in 0..4 {
        world.run(&["open", "about:blank", "--new-tab"]);
    }
    let status = world.status();
    let daemon = status["pid"].as_u64().expect("a pid");
    let keeper = status["sessions"][0]["keeper_pid"].as_u64().expect("a pid");
    println!("daemon with one browser and five tabs: {:.1} MiB PSS", mib(pss(daemon)));
    println!("keeper: {:.2} MiB PSS", mib(pss(keeper)));

    let address = world.text(&["cdp-url", "--quiet"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut readings = Vec::new();
    runtime.block_on(async {
        let tasks = TaskGroup::new();
        let (source, sink) =
            WebSocketUrl::parse(&address).expect("an address").connect().await.expect("connected");
        let connection = Connection::start(source, sink, &tasks);
        let browser = connection.browser();
        let limit = Duration::from_secs(30);
        for round in 0..CHURN / AT_ONCE {
            let opened = futures_util::future::join_all((0..AT_ONCE).map(|_| async {
                let params = json!({"url": "about:blank"});
                let made: Value = browser
                    .send("Target.createTarget", &params, limit)
                    .await
                    .expect("a tab")
                    .to()
                    .expect("an id");
                made["targetId"].clone()
            }))
            .await;
            let browser = &browser;
            futures_util::future::join_all(opened.into_iter().map(|target| async move {
                let params = json!({"targetId": target});
                browser.send("Target.closeTarget", &params, limit).await.expect("closed");
            }))
            .await;
            if (round + 1) % (CHURN / AT_ONCE / 10) == 0 {
                readings.push(pss(daemon));
            }
        }
    });
    let warm = readings[1];
    let last = *readings.last().expect("a reading");
    #[expect(clippy::cast_precision_loss, reason = "KiB")]
    let growth = (last as f64 - warm as f64) / warm as f64 * 100.0;
    println!("{CHURN} tabs opened and closed: {readings:?} KiB, {growth:+.2} % since the second tenth");
}

#[expect(clippy::cast_precision_loss, reason = "KiB")]
fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}
