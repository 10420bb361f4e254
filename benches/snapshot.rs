//! Snapshots of pages with 200, 2,000 and 10,000 rows compared with Chrome's own accessibility tree, in one
//! run; their length; and the daemon's memory afterwards.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_cdp::{CdpSession, Connection, EventFilter, TargetRegistry, TaskGroup, WebSocketUrl};
use tabwire_testkit::Site;
use tabwire_testkit::bench::{BareBrowser, Sample, TabwireWorld, micros};

const COUNTS: [usize; 3] = [200, 2_000, 10_000];
const DEADLINE: Duration = Duration::from_secs(120);
/// Size limit of a snapshot in characters: 4,000 tokens.
const BUDGET: usize = 16_000;

/// A page with the page agent in an isolated world.
struct Page {
    session: CdpSession,
    world: Value,
}

impl Page {
    async fn attach(connection: &Connection) -> Self {
        let registry = TargetRegistry::start(connection, DEADLINE).await.expect("targets");
        let target = registry.list().into_iter().find(|target| target.is_page()).expect("a page");
        let session = registry.attach(&target.target_id, DEADLINE).await.expect("attached");
        session.enable("Page").await.expect("Page");
        let page = Self { session, world: Value::Null };
        let agent = json!({"source": tabwire_engine::page_agent(), "worldName": "agent"});
        page.send("Page.addScriptToEvaluateOnNewDocument", &agent).await;
        let window = json!({"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": false});
        page.send("Emulation.setDeviceMetricsOverride", &window).await;
        page
    }

    async fn send(&self, method: &'static str, params: &Value) -> Value {
        self.session
            .send(method, params, DEADLINE)
            .await
            .and_then(|response| response.to())
            .expect("a response")
    }

    async fn open(&mut self, url: &str) {
        let mut loaded = self.session.events(EventFilter::methods(["Page.loadEventFired"]));
        self.send("Page.navigate", &json!({"url": url})).await;
        loaded.next_within(DEADLINE).await.expect("loads");
        let tree = self.send("Page.getFrameTree", &json!({})).await;
        let world = json!({"frameId": tree["frameTree"]["frame"]["id"], "worldName": "agent"});
        self.world = self.send("Page.createIsolatedWorld", &world).await["executionContextId"].clone();
    }

    /// A walk as the engine requests it, parsed completely.
    async fn walk(&self) -> Value {
        let params = json!({
            "expression": "tabwire.run('snapshot', {})", "contextId": self.world, "returnByValue": true,
        });
        let response = self.send("Runtime.evaluate", &params).await;
        serde_json::from_str(response["result"]["value"]["ok"].as_str().expect("a response")).expect("JSON")
    }

    /// The accessibility tree as received, not parsed.
    async fn tree(&self) -> usize {
        let response =
            self.session.send("Accessibility.getFullAXTree", &json!({}), DEADLINE).await.expect("a tree");
        response.bytes().len()
    }
}

async fn compare(site: &Site) {
    let browser = BareBrowser::start(&browser_program());
    let tasks = TaskGroup::new();
    let address = WebSocketUrl::parse(&browser.websocket()).expect("an address");
    let (source, sink) = address.connect().await.expect("connected");
    let connection = Connection::start(source, sink, &tasks);
    let mut page = Page::attach(&connection).await;
    let mut first = None;
    for count in COUNTS {
        page.open(&site.url("a", &format!("/rows?count={count}"))).await;
        let (mut walks, mut trees) = (Sample::default(), Sample::default());
        let cold = Instant::now();
        page.walk().await;
        let cold = cold.elapsed();
        for _ in 0..30 {
            let before = Instant::now();
            page.walk().await;
            walks.add(before.elapsed());
        }
        // Measured last: after the first request the browser keeps the tree up to date, which slows the page
        // down.
        let mut bytes = 0;
        for _ in 0..(4_000 / count).clamp(3, 10) {
            let before = Instant::now();
            bytes = page.tree().await;
            trees.add(before.elapsed());
        }
        let (walk, tree) = (walks.median(), trees.median());
        let growth = walk.as_secs_f64() / first.get_or_insert(walk).as_secs_f64();
        println!(
            "{count:>6} rows: snapshot {:>10} (first {:>10}, p99 {:>10})  tree {:>12} ({bytes} bytes)  {:>6.1}x faster, {growth:.2}x of 200 rows",
            micros(walk),
            micros(cold),
            micros(walks.p99()),
            micros(tree),
            tree.as_secs_f64() / walk.as_secs_f64(),
        );
    }
}

/// Proportional set size in KiB.
fn pss(pid: u64) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("the process lives");
    let line = text.lines().find(|line| line.starts_with("Pss:")).expect("a size");
    line.split_whitespace().nth(1).and_then(|size| size.parse().ok()).expect("a number")
}

/// Whole commands: the length of their output, and the daemon's memory after a few.
fn measure_commands(site: &Site) {
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    world.run(&["open", &site.url("a", "/bench")]);
    let text = world.text(&["snapshot"]);
    println!("/bench: {} bytes, {} refs", text.len(), text.matches("[e").count());
    assert!(text.len() <= 4_000, "the bench page takes {} bytes", text.len());
    let daemon = world.status()["pid"].as_u64().expect("a pid");
    let before = pss(daemon);
    for count in COUNTS {
        world.run(&["navigate", &site.url("a", &format!("/rows?count={count}"))]);
        let mut length = 0;
        for _ in 0..10 {
            length = world.text(&["snapshot"]).len();
        }
        assert!(length <= BUDGET, "{count} rows take {length} bytes");
        println!("{count:>6} rows: {length} bytes of text, daemon {} KiB ({before} before)", pss(daemon));
    }
}

fn browser_program() -> std::path::PathBuf {
    tabwire_browser::finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser").path
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let site = runtime.block_on(Site::start()).expect("a free port");
    runtime.block_on(compare(&site));
    measure_commands(&site);
}
