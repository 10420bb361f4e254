//! Round trips of `Runtime.evaluate('1')`: through Tabwire and on a bare browser, in one run, in turns.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_api::TargetId;
use tabwire_browser::{KeepRequest, LaunchSpec, keeper_client, new_browser_id, new_instance_id};
use tabwire_cdp::{
    CdpSession, Connection, PipeSink, PipeSource, TaskGroup, WebSocketUrl, channel_pair,
    limits::BROWSER_MESSAGE_CEILING,
};
use tabwire_daemon::{BrowserLink, Hub};
use tabwire_mux::ClientOptions;
use tabwire_testkit::bench::{BareBrowser, Sample, TabwireWorld, micros, ratio};

const BLOCKS: usize = 20;
const BLOCK: usize = 100;
const WINDOW: usize = 64;
const PIPELINED: usize = 4_000;
const DEADLINE: Duration = Duration::from_secs(30);

async fn page_of(connection: &Connection) -> CdpSession {
    let browser = connection.browser();
    let created: Value = browser
        .send("Target.createTarget", &json!({"url": "about:blank"}), DEADLINE)
        .await
        .and_then(|response| response.to())
        .expect("a page");
    let target = TargetId::new(created["targetId"].as_str().expect("an id"));
    let attached: Value = browser
        .send("Target.attachToTarget", &json!({"targetId": target, "flatten": true}), DEADLINE)
        .await
        .and_then(|response| response.to())
        .expect("a session");
    connection.session(&tabwire_api::CdpSessionId::new(attached["sessionId"].as_str().expect("an id")))
}

async fn evaluate(page: &CdpSession) {
    page.send("Runtime.evaluate", &json!({"expression": "1"}), DEADLINE).await.expect("a response");
}

async fn sequential(pages: &[(&str, &CdpSession)]) -> Vec<Sample> {
    let mut samples: Vec<Sample> = pages.iter().map(|_| Sample::default()).collect();
    for _ in 0..BLOCKS {
        for (sample, (_, page)) in samples.iter_mut().zip(pages) {
            for _ in 0..BLOCK {
                let before = Instant::now();
                evaluate(page).await;
                sample.add(before.elapsed());
            }
        }
    }
    samples
}

/// Operations per second with a window of pending commands.
async fn pipelined(page: &CdpSession, count: usize) -> f64 {
    let before = Instant::now();
    let mut flying = std::collections::VecDeque::with_capacity(WINDOW);
    for _ in 0..count {
        if flying.len() == WINDOW {
            let oldest: tabwire_cdp::PendingResponse = flying.pop_front().expect("one in flight");
            oldest.response().await.expect("a response");
        }
        flying
            .push_back(page.begin("Runtime.evaluate", &json!({"expression": "1"}), DEADLINE).expect("sent"));
    }
    for waiting in flying {
        waiting.response().await.expect("a response");
    }
    #[expect(clippy::cast_precision_loss, reason = "a count of thousands")]
    let operations = count as f64;
    operations / before.elapsed().as_secs_f64()
}

async fn over_websocket(address: &str, tasks: &TaskGroup) -> Connection {
    let (source, sink) =
        WebSocketUrl::parse(address).expect("an address").connect().await.expect("connected");
    Connection::start(source, sink, tasks)
}

struct Kept {
    descriptor: tabwire_browser::BrowserDescriptor,
}

impl Kept {
    fn start(world: &TabwireWorld) -> Self {
        let found =
            tabwire_browser::finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser");
        let id = new_browser_id().expect("an id");
        let runtime_dir = world.home().join("runtime");
        let profile = runtime_dir.join("profiles").join(id.as_str());
        let mut spec = LaunchSpec::new(id, found.path, profile);
        spec.temporary = true;
        let instance = new_instance_id().expect("an id");
        let request = KeepRequest { spec, runtime_dir, instance, labels: Default::default() };
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_tabwire"));
        let until = Instant::now() + DEADLINE;
        let descriptor = keeper_client::spawn_keeper(program, &["keep"], &request, until).expect("kept");
        Self { descriptor }
    }

    fn claim(&self) -> tabwire_browser::Claim {
        let holder = new_instance_id().expect("an id");
        keeper_client::claim(&self.descriptor.socket, &holder, Instant::now() + DEADLINE).expect("claimed")
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = keeper_client::stop(&self.descriptor.socket, None, Instant::now() + DEADLINE);
    }
}

fn report(title: &str, names: &[&str], samples: &[Sample]) {
    println!("\n{title}");
    for (name, sample) in names.iter().zip(samples) {
        let base = &samples[0];
        println!(
            "  {name:<34} median {:>10} ({})  p99 {:>11} ({})  min {:>10}",
            micros(sample.median()),
            ratio(sample.median(), base.median()),
            micros(sample.p99()),
            ratio(sample.p99(), base.p99()),
            micros(sample.minimum()),
        );
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    // As a task, as in the daemon: the main thread would add a wake-up of its own.
    runtime.block_on(runtime.spawn(run())).expect("the bench ends");
}

async fn run() {
    let tasks = TaskGroup::new();
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    let bare = BareBrowser::start(&browser_program());
    let raw = over_websocket(&bare.websocket(), &tasks).await;
    let through = over_websocket(&world.text(&["cdp-url", "--quiet"]), &tasks).await;
    let (raw_page, through_page) = (page_of(&raw).await, page_of(&through).await);
    for page in [&raw_page, &through_page] {
        for _ in 0..200 {
            evaluate(page).await;
        }
    }
    let samples = sequential(&[("raw websocket", &raw_page), ("tabwire /cdp", &through_page)]).await;
    report("websocket, one at a time", &["raw websocket", "tabwire /cdp"], &samples);

    let mut best = [0.0_f64; 2];
    for _ in 0..3 {
        for (slot, page) in best.iter_mut().zip([&raw_page, &through_page]) {
            *slot = slot.max(pipelined(page, PIPELINED).await);
        }
    }
    println!(
        "\nwebsocket, window {WINDOW}: raw {:.0}/s, tabwire {:.0}/s: {:.2} of raw",
        best[0],
        best[1],
        best[1] / best[0]
    );

    let address = world.text(&["cdp-url", "--quiet"]);
    let mut clients = Vec::new();
    for _ in 0..10 {
        let connection = over_websocket(&address, &tasks).await;
        let page = page_of(&connection).await;
        clients.push((connection, page));
    }
    let before = Instant::now();
    futures_util::future::join_all(clients.iter().map(|(_, page)| pipelined(page, PIPELINED / 4))).await;
    #[expect(clippy::cast_precision_loss, reason = "a count of thousands")]
    let sum = (10 * PIPELINED / 4) as f64 / before.elapsed().as_secs_f64();
    println!("ten clients at once: {sum:.0}/s in sum: {:.2} of raw single", sum / best[0]);
    drop(clients);

    let (raw_kept, hub_kept) = (Kept::start(&world), Kept::start(&world));
    let claim = raw_kept.claim();
    let source = PipeSource::new(claim.from_browser, BROWSER_MESSAGE_CEILING).expect("a source");
    let raw_pipe = Connection::start(source, PipeSink::new(claim.to_browser).expect("a sink"), &tasks);
    let hub = Hub::start(BrowserLink::from_claim(hub_kept.claim()).expect("a link"), &tasks);
    hub.ready(DEADLINE).await.expect("a hub");
    let (ours, theirs) = channel_pair();
    hub.join(theirs.0, theirs.1, ClientOptions::default()).await.expect("joined");
    let in_process = Connection::start(ours.0, ours.1, &tasks);
    let (raw_page, hub_page) = (page_of(&raw_pipe).await, page_of(&in_process).await);
    for page in [&raw_page, &hub_page] {
        for _ in 0..200 {
            evaluate(page).await;
        }
    }
    let samples = sequential(&[("raw pipe", &raw_page), ("in-process client", &hub_page)]).await;
    report("pipe, one at a time", &["raw pipe", "tabwire in process"], &samples);
    let (raw_rate, hub_rate) = (pipelined(&raw_page, PIPELINED).await, pipelined(&hub_page, PIPELINED).await);
    println!(
        "pipe, window {WINDOW}: raw {raw_rate:.0}/s, tabwire {hub_rate:.0}/s: {:.2} of raw",
        hub_rate / raw_rate
    );
    drop(claim.control);
}

fn browser_program() -> std::path::PathBuf {
    tabwire_browser::finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser").path
}
