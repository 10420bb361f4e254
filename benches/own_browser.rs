//! The user's own browser through its extension: round trips compared with the same call inside the extension
//! and over a bare websocket to it, Playwright connecting to sixty tabs, a tab attached on use compared with
//! one attached at once, and clicks in a page that floods.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::process::Command;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::CdpSessionId;
use tabwire_cdp::limits::BROWSER_MESSAGE_CEILING;
use tabwire_cdp::websocket::{handshake_accept, serve};
use tabwire_cdp::{CdpSession, Connection, FrameSink, FrameSource, TaskGroup, WebSocketUrl};
use tabwire_testkit::bench::{BareBrowser, Sample, TabwireWorld, micros, ratio};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const BLOCKS: usize = 20;
const BLOCK: usize = 100;
const ROUNDS: usize = 15;
const TABS: usize = 60;
const CLICKS: usize = 100;
const EVENTS_A_SECOND: usize = 5_000;
const DEADLINE: Duration = Duration::from_secs(30);
const OWN: [&str; 4] = ["--upstream", "extension", "--policy", "open"];

/// Typical commands that a client sends to a page first.
const SETTING_UP: [(&str, &str); 7] = [
    ("Page.enable", "{}"),
    ("Page.getFrameTree", "{}"),
    ("Log.enable", "{}"),
    ("Page.setLifecycleEventsEnabled", r#"{"enabled":true}"#),
    ("Runtime.enable", "{}"),
    ("Network.enable", "{}"),
    ("Target.setAutoAttach", r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}"#),
];

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(runtime.spawn(run())).expect("the bench ends");
}

async fn run() {
    let tasks = TaskGroup::new();
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    let browser = BareBrowser::start_with(&browser_program(), |profile| {
        let profile = format!("{}/", profile.display());
        let install = ["--json", "extension", "install", "--browser", &profile, "--wait", "0s"];
        let installed: Value = serde_json::from_str(&world.text(&install)).expect("JSON");
        vec![format!("--load-extension={}", installed["path"].as_str().expect("a folder"))]
    });
    let user = over_websocket(&browser.websocket(), &tasks).await;
    await_extension(&world);
    world.run(&[&["open"], &OWN[..], &["about:blank"]].concat());
    let client = over_websocket(&world.text(&["cdp-url", "--quiet"]), &tasks).await;
    let worker = worker_of(&user).await;
    round_trips(&client, &worker).await;
    floods("through the daemon", &client, &user).await;
    floods("over a bare websocket", &user, &user).await;
    lazy_and_eager(&client, &worker).await;
    sixty_tabs(&world, &user).await;
}

async fn over_websocket(address: &str, tasks: &TaskGroup) -> Connection {
    let (source, sink) =
        WebSocketUrl::parse(address).expect("an address").connect().await.expect("connected");
    Connection::start(source, sink, tasks)
}

fn standing(world: &TabwireWorld) -> Value {
    let status: Value =
        serde_json::from_str(&world.text(&["--json", "extension", "status"])).expect("a status");
    status["connected"][0].clone()
}

fn await_extension(world: &TabwireWorld) {
    let until = Instant::now() + DEADLINE;
    while standing(world).is_null() {
        assert!(Instant::now() < until, "the extension does not connect");
    }
}

async fn ask(session: &CdpSession, method: &'static str, params: Value) -> Value {
    session.send(method, &params, DEADLINE).await.and_then(|response| response.to()).expect("a response")
}

async fn evaluate(session: &CdpSession, expression: &str) -> Value {
    let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
    let response = ask(session, "Runtime.evaluate", params).await;
    assert!(response.get("exceptionDetails").is_none(), "{expression}: {response}");
    response["result"]["value"].clone()
}

async fn attach(connection: &Connection, target: &str) -> CdpSession {
    let params = json!({"targetId": target, "flatten": true});
    let attached = ask(&connection.browser(), "Target.attachToTarget", params).await;
    connection.session(&CdpSessionId::new(attached["sessionId"].as_str().expect("an id")))
}

async fn open(connection: &Connection, url: &str) -> String {
    let created = ask(&connection.browser(), "Target.createTarget", json!({"url": url})).await;
    created["targetId"].as_str().expect("an id").to_owned()
}

/// The extension's worker, as the user's own tools see it.
async fn worker_of(user: &Connection) -> CdpSession {
    let targets = ask(&user.browser(), "Target.getTargets", json!({})).await;
    let is_it = |target: &&Value| {
        target["type"] == "service_worker"
            && target["url"].as_str().is_some_and(|url| url.ends_with("/worker.js"))
    };
    let all = targets["targetInfos"].as_array().expect("a list");
    let target = all.iter().find(is_it).expect("the extension's worker");
    attach(user, target["targetId"].as_str().expect("an id")).await
}

/// Chrome's id of a tab.
async fn tab_of(worker: &CdpSession, target: &str) -> i64 {
    let find =
        format!("chrome.debugger.getTargets().then((all) => all.find((one) => one.id === {target:?}).tabId)");
    evaluate(worker, &find).await.as_i64().expect("a tab")
}

fn milliseconds(value: &Value) -> Duration {
    Duration::from_secs_f64(value.as_f64().expect("a number") / 1e3)
}

/// A websocket to the extension's worker that only makes the call: the minimum for any extension that is
/// called from outside.
struct BareLine {
    source: FrameSource,
    sink: FrameSink,
    question: String,
}

impl BareLine {
    async fn open(worker: &CdpSession, tab: i64) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let script = format!(
            "globalThis.bare = new WebSocket('ws://127.0.0.1:{port}');\
             bare.onmessage = ({{ data }}) => {{ const {{ id, with: {{ tab, method, params }} }} = JSON.parse(data);\
             chrome.debugger.sendCommand({{tabId: tab}}, method, params).then((ok) => bare.send(JSON.stringify({{id, ok}}))); }}; 0"
        );
        evaluate(worker, &script).await;
        let (mut stream, _) = listener.accept().await.expect("a visitor");
        stream.set_nodelay(true).expect("a socket");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("a request"));
        }
        let head = String::from_utf8(head).expect("text");
        let header = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.into_iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        let accept = handshake_accept(header).expect("a handshake");
        let switch = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        stream.write_all(switch.as_bytes()).await.expect("written");
        let (source, sink) = serve(Box::new(stream), BROWSER_MESSAGE_CEILING);
        let with = json!({"tab": tab, "method": "Runtime.evaluate", "params": {"expression": "1"}});
        Self { source, sink, question: json!({"id": 1, "command": "send", "params": with}).to_string() }
    }

    async fn call(&mut self) {
        self.sink.enqueue(BytesMut::from(self.question.as_bytes()));
        self.sink.flush().await.expect("sent");
        self.source.next().await.expect("a line").expect("a response");
    }
}

async fn round_trips(client: &Connection, worker: &CdpSession) {
    let target = open(client, "about:blank").await;
    let page = attach(client, &target).await;
    evaluate(&page, "1").await;
    let tab = tab_of(worker, &target).await;
    // A worker's clock is coarse, so a whole block is timed.
    let inside = format!(
        "(async () => {{ const before = performance.now(); for (let count = 0; count < {BLOCK}; count += 1)\
         await chrome.debugger.sendCommand({{tabId: {tab}}}, 'Runtime.evaluate', {{expression: '1'}});\
         return (performance.now() - before) / {BLOCK}; }})()"
    );
    let mut line = BareLine::open(worker, tab).await;
    let (mut alone, mut bare, mut through) = (Sample::default(), Sample::default(), Sample::default());
    for block in 0..=BLOCKS {
        let taken = milliseconds(&evaluate(worker, &inside).await);
        let before = Instant::now();
        for _ in 0..BLOCK {
            line.call().await;
        }
        let on_bare_line = before.elapsed() / u32::try_from(BLOCK).expect("small");
        let before = Instant::now();
        for _ in 0..BLOCK {
            ask(&page, "Runtime.evaluate", json!({"expression": "1"})).await;
        }
        let timed = before.elapsed() / u32::try_from(BLOCK).expect("small");
        // The first block warms up both.
        if block > 0 {
            alone.add(taken);
            bare.add(on_bare_line);
            through.add(timed);
        }
    }
    println!(
        "Runtime.evaluate       inside the extension {}  through the daemon {}  {}",
        micros(alone.median()),
        micros(through.median()),
        ratio(through.median(), alone.median()),
    );
    println!(
        "                       over a bare websocket into the extension {}, {} of inside; through the daemon {} of that",
        micros(bare.median()),
        ratio(bare.median(), alone.median()),
        ratio(through.median(), bare.median()),
    );
    ask(&client.browser(), "Target.closeTarget", json!({"targetId": target})).await;
}

async fn click(page: &CdpSession) -> Duration {
    let before = Instant::now();
    for kind in ["mousePressed", "mouseReleased"] {
        let event = json!({"type": kind, "x": 50, "y": 50, "button": "left", "clickCount": 1});
        ask(page, "Input.dispatchMouseEvent", event).await;
    }
    before.elapsed()
}

async fn clicks(page: &CdpSession) -> Sample {
    let mut sample = Sample::default();
    for _ in 0..CLICKS {
        sample.add(click(page).await);
    }
    sample
}

/// The cost of a flood for a click: through the daemon, and over the browser's own websocket, where all of it
/// is the browser's. The tab is in front: a background tab lags seconds behind its own flood with any client.
async fn floods(line: &str, client: &Connection, user: &Connection) {
    let target = open(client, "about:blank").await;
    ask(&user.browser(), "Target.activateTarget", json!({"targetId": target})).await;
    let page = attach(client, &target).await;
    ask(&page, "Runtime.enable", json!({})).await;
    let button = "document.body.innerHTML = '<button style=\"position: fixed; inset: 0\">Press</button>'; onclick = () => { window.count = (window.count ?? 0) + 1; }; 0";
    evaluate(&page, button).await;
    clicks(&page).await;
    let quiet = clicks(&page).await;
    let each = EVENTS_A_SECOND / 100;
    let flood = format!(
        "window.logged = 0; window.ticks = new Worker('data:text/javascript,setInterval(() => postMessage(0), 10)');\
         ticks.onmessage = () => {{ for (let count = 0; count < {each}; count += 1) console.log(logged += 1); }}; 0"
    );
    evaluate(&page, &flood).await;
    evaluate(&page, "new Promise((done) => setTimeout(done, 1000, 0))").await;
    let (before, since) = (evaluate(&page, "logged").await, Instant::now());
    let flooded = clicks(&page).await;
    let (after, taken) = (evaluate(&page, "logged").await, since.elapsed());
    let rate =
        after.as_f64().zip(before.as_f64()).map(|(after, before)| (after - before) / taken.as_secs_f64());
    let added =
        |share: f64| (flooded.quantile(share).as_secs_f64() - quiet.quantile(share).as_secs_f64()) * 1e3;
    println!(
        "click                  {line}: quiet {}  with {:.0} of {EVENTS_A_SECOND} events a second {}  adds {:.1} ms at the median, {:.1} ms at p90, {:.1} ms at p99",
        micros(quiet.median()),
        rate.expect("numbers"),
        micros(flooded.median()),
        added(0.5),
        added(0.9),
        added(0.99),
    );
    ask(&client.browser(), "Target.closeTarget", json!({"targetId": target})).await;
}

/// The time from the announcement of a tab to its first response.
async fn lazy_and_eager(client: &Connection, worker: &CdpSession) {
    let list: Vec<String> =
        SETTING_UP.iter().map(|(method, params)| format!("[{method:?}, {params}]")).collect();
    let (mut eager, mut lazy) = (Sample::default(), Sample::default());
    for round in 0..=ROUNDS {
        let (target, other) = (open(client, "about:blank").await, open(client, "about:blank").await);
        let tab = tab_of(worker, &other).await;
        let at_once = format!(
            "(async () => {{ const before = performance.now(); const tab = {{tabId: {tab}}};\
             await chrome.debugger.attach(tab, '1.3');\
             await Promise.all([{}].map(([method, params]) => chrome.debugger.sendCommand(tab, method, params)));\
             await chrome.debugger.sendCommand(tab, 'Runtime.evaluate', {{expression: '1'}});\
             const taken = performance.now() - before; await chrome.debugger.detach(tab); return taken; }})()",
            list.join(", ")
        );
        let taken = milliseconds(&evaluate(worker, &at_once).await);
        let before = Instant::now();
        let page = attach(client, &target).await;
        let begun: Vec<_> = SETTING_UP
            .iter()
            .map(|(method, params)| {
                let params: Value = serde_json::from_str(params).expect("JSON");
                page.begin(*method, &params, DEADLINE).expect("sent")
            })
            .collect();
        for one in begun {
            one.response().await.expect("a response");
        }
        ask(&page, "Runtime.evaluate", json!({"expression": "1"})).await;
        if round > 0 {
            eager.add(taken);
            lazy.add(before.elapsed());
        }
        for target in [target, other] {
            ask(&client.browser(), "Target.closeTarget", json!({"targetId": target})).await;
        }
    }
    println!(
        "first response of a tab  entered at once, inside the extension {}  when it is used {}  {}",
        micros(eager.median()),
        micros(lazy.median()),
        ratio(lazy.median(), eager.median()),
    );
}

async fn sixty_tabs(world: &TabwireWorld, user: &Connection) {
    for _ in 0..TABS {
        ask(&user.browser(), "Target.createTarget", json!({"url": "about:blank", "background": true})).await;
    }
    let options = "chrome-extension://pimdfmoiaojahepkopikadchpocaecik/options/options.html";
    let page = attach(user, &open(user, options).await).await;
    let share = "chrome.runtime?.sendMessage?.({ask: 'mode', mode: 'all'}).then((now) => now.mode)";
    let until = Instant::now() + DEADLINE;
    while evaluate(&page, share).await != "all" || standing(world)["tabs"].as_u64() < Some(TABS as u64) {
        assert!(Instant::now() < until, "the tabs are not listed");
    }
    let before = standing(world)["attaches"].clone();
    let address = world.text(&["cdp-url", "--quiet"]);
    let script = format!(
        "import {{ chromium }} from 'playwright-core'; const before = performance.now();\
         const browser = await chromium.connectOverCDP({address:?});\
         console.log(JSON.stringify([performance.now() - before, browser.contexts()[0].pages().length]));\
         await browser.close();"
    );
    let mut sample = Sample::default();
    let mut pages = Value::Null;
    for _ in 0..5 {
        let clients = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients");
        let output = Command::new("node")
            .args(["--input-type=module", "-e", &script])
            .current_dir(clients)
            .output()
            .expect("node runs: `cargo xtask setup` says what is needed");
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        sample.add(milliseconds(&report[0]));
        pages = report[1].clone();
    }
    let attaches = standing(world)["attaches"].as_u64().zip(before.as_u64()).map(|(now, then)| now - then);
    println!(
        "Playwright connects    to {pages} tabs in {:.0} ms at the median, {} attaches",
        sample.median().as_secs_f64() * 1e3,
        attaches.expect("numbers"),
    );
}

fn browser_program() -> std::path::PathBuf {
    tabwire_browser::finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser").path
}
