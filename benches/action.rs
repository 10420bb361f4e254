//! Whole warm commands on a page: `tabwire snapshot`, `click` and `fill`, compared with an empty process and
//! a loop in this process that does the same work over raw CDP, and with agent-browser where it is installed.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_api::CdpSessionId;
use tabwire_cdp::{CdpSession, Connection, TaskGroup, WebSocketUrl};
use tabwire_engine::page_agent;
use tabwire_testkit::Site;
use tabwire_testkit::bench::{BareBrowser, Peer, Sample, TabwireWorld, empty_program, micros, ratio, timed};

const ROUNDS: usize = 100;
const LIMIT: Duration = Duration::from_secs(20);

/// A page without Tabwire, with the page agent in an isolated world.
struct RawPage {
    session: CdpSession,
    world: i64,
    /// The document's remote object, for its event listeners: snapshots list them too.
    document: String,
}

impl RawPage {
    async fn open(connection: &Connection, url: &str) -> Self {
        let browser = connection.browser();
        let created = browser.send("Target.createTarget", &json!({"url": url}), LIMIT).await.expect("a page");
        let created: Value = created.to().expect("an id");
        let params = json!({"targetId": created["targetId"], "flatten": true});
        let attached = browser.send("Target.attachToTarget", &params, LIMIT).await.expect("attached");
        let attached: Value = attached.to().expect("an id");
        let id = CdpSessionId::new(attached["sessionId"].as_str().expect("an id"));
        let mut page = Self { session: connection.session(&id), world: 0, document: String::new() };
        // The previous page responds at first.
        while page.evaluate("document.readyState + ' ' + location.href", None).await
            != format!("complete {url}")
        {}
        let focus = json!({"enabled": true});
        page.session.send("Emulation.setFocusEmulationEnabled", &focus, LIMIT).await.expect("focused");
        let params = json!({"frameId": created["targetId"], "worldName": "raw"});
        let world = page.session.send("Page.createIsolatedWorld", &params, LIMIT).await.expect("a world");
        page.world = world.to::<Value>().expect("an id")["executionContextId"].as_i64().expect("a number");
        page.evaluate(page_agent(), Some(page.world)).await;
        let held = page.session.send("Runtime.evaluate", &json!({"expression": "document"}), LIMIT).await;
        let held: Value = held.expect("a response").to().expect("JSON");
        held["result"]["objectId"].as_str().expect("an object").clone_into(&mut page.document);
        page
    }

    async fn evaluate(&self, expression: &str, world: Option<i64>) -> Value {
        let mut params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        if let Some(world) = world {
            params["contextId"] = json!(world);
        }
        let response = self.session.send("Runtime.evaluate", &params, LIMIT).await.expect("a response");
        response.to::<Value>().expect("JSON")["result"]["value"].clone()
    }

    async fn call(&self, function: &str, argument: &Value) -> Value {
        let response =
            self.evaluate(&format!("tabwire.run(\"{function}\", {argument})"), Some(self.world)).await;
        assert!(response["failure"].is_null(), "{function}: {response}");
        response["ok"].clone()
    }

    async fn snapshot(&self) {
        let listening = json!({"objectId": self.document, "depth": -1, "pierce": true});
        let budget = json!({"budget": 16_000});
        let (_, listeners) = tokio::join!(
            self.call("snapshot", &budget),
            self.session.send("DOMDebugger.getEventListeners", &listening, LIMIT),
        );
        listeners.expect("listeners");
    }

    async fn click(&self, target: &str) {
        let request =
            json!({"spec": {"css": target}, "for": "click", "timeout": 9_000, "guard": true, "mark": true});
        let ready = self.call("prepare", &request).await;
        let event = |kind: &str, buttons: u8| json!({"type": kind, "x": ready["point"]["x"], "y": ready["point"]["y"], "button": "left", "buttons": buttons, "clickCount": 1});
        let (moved, pressed, released) =
            (event("mouseMoved", 0), event("mousePressed", 1), event("mouseReleased", 0));
        let settle = json!({"since": ready["mark"], "key": ready["key"], "after": "mouseup", "quiet": 500});
        let settled = self.call("settle", &settle);
        let (first, second, third, _) = tokio::join!(
            self.session.send("Input.dispatchMouseEvent", &moved, LIMIT),
            self.session.send("Input.dispatchMouseEvent", &pressed, LIMIT),
            self.session.send("Input.dispatchMouseEvent", &released, LIMIT),
            settled,
        );
        first.and(second).and(third).expect("clicked");
    }

    async fn fill(&self, target: &str, value: &str) {
        let request = json!({
            "spec": {"css": target}, "for": "fill", "value": value, "timeout": 9_000, "mark": true, "pair": value,
        });
        let settle = json!({"pair": value, "enter": value, "expected": value, "quiet": 500});
        let (_, settled) = tokio::join!(biased; self.call("prepare", &request), self.call("settle", &settle));
        assert_eq!(settled["matches"], true, "{settled}");
    }
}

/// One operation, measured three ways.
struct Row {
    name: &'static str,
    raw: Sample,
    ours: Sample,
    peer: Sample,
}

impl Row {
    /// Measures both, in alternating order: the browser paints the change of one while the other runs.
    fn take_turns(&mut self, round: usize, raw: impl FnOnce(), ours: impl FnOnce() -> Command) {
        if round.is_multiple_of(2) {
            self.raw.add(clock(raw));
            self.ours.add(timed(ours()));
        } else {
            self.ours.add(timed(ours()));
            self.raw.add(clock(raw));
        }
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let empty = empty_program(directory.path());
    let site = runtime.block_on(Site::start()).expect("a port");
    let (list, form) = (site.url("a", "/bench"), site.url("a", "/inputs"));
    let bare = BareBrowser::start(&browser_program());
    let tasks = TaskGroup::new();
    let connection = runtime.block_on(async {
        let address = WebSocketUrl::parse(&bare.websocket()).expect("an address");
        let (source, sink) = address.connect().await.expect("connected");
        Connection::start(source, sink, &tasks)
    });
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    let benches = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benches");
    let peer = Peer::find(&benches, &browser_program());
    let mut floor = Sample::default();
    let mut rows: Vec<Row> = ["snapshot", "click", "fill"]
        .map(|name| Row { name, raw: Sample::default(), ours: Sample::default(), peer: Sample::default() })
        .into();

    let raw = runtime.block_on(RawPage::open(&connection, &list));
    world.run(&["open", &list]);
    let seen = world.text(&["snapshot"]);
    let button = find_ref(&seen, "button");
    let peer_button = peer.as_ref().map(|peer| {
        let _ = peer.text(&["open", &list]);
        let seen = peer.text(&["snapshot", "-i"]);
        println!(
            "snapshot of /bench: ours {} bytes, agent-browser -i {} bytes",
            world.text(&["snapshot"]).len(),
            seen.len()
        );
        peer_ref(&seen, "button")
    });
    for round in 0..ROUNDS {
        floor.add(timed(Command::new(&empty)));
        rows[0].take_turns(round, || runtime.block_on(raw.snapshot()), || world.command(&["snapshot"]));
        rows[1].take_turns(
            round,
            || runtime.block_on(raw.click("#b1")),
            || world.command(&["click", &button]),
        );
        if let (Some(peer), Some(target)) = (&peer, &peer_button) {
            rows[0].peer.add(timed(peer.command(&["snapshot", "-i"])));
            rows[1].peer.add(timed(peer.command(&["click", target])));
        }
    }

    let raw = runtime.block_on(RawPage::open(&connection, &form));
    world.run(&["open", &form]);
    if let Some(peer) = &peer {
        let _ = peer.text(&["open", &form]);
    }
    for round in 0..ROUNDS {
        let value = format!("value {round}");
        let ours = || world.command(&["fill", "#text", &value]);
        rows[2].take_turns(round, || runtime.block_on(raw.fill("#text", &value)), ours);
        if let Some(peer) = &peer {
            rows[2].peer.add(timed(peer.command(&["fill", "#text", &value])));
        }
    }
    println!("empty process          median {}", micros(floor.median()));
    for row in &rows {
        let base = floor.median() + row.raw.median();
        println!(
            "{:<10} raw loop {:>10}  tabwire {:>10}  over raw and an empty process {:>10}",
            row.name,
            micros(row.raw.median()),
            micros(row.ours.median()),
            micros(row.ours.median().saturating_sub(base)),
        );
        if peer.is_some() {
            println!(
                "{:<10} agent-browser {:>10}  ours / its {}",
                "",
                micros(row.peer.median()),
                ratio(row.ours.median(), row.peer.median())
            );
        }
    }
    if peer.is_none() {
        println!("agent-browser is not installed: run `npm ci --ignore-scripts` in benches/peers");
    }
    drop(connection);
}

fn clock(work: impl FnOnce()) -> Duration {
    let before = Instant::now();
    work();
    before.elapsed()
}

/// The first ref on a line with this word, in our snapshots.
fn find_ref(text: &str, word: &str) -> String {
    let from = text.find(word).expect("there is one");
    let rest = &text[from..];
    let (start, end) = (rest.find("[e").expect("a ref") + 1, rest.find(']').expect("closed"));
    rest[start..end].to_owned()
}

/// The first ref on a line with this word, in the peer's snapshots.
fn peer_ref(text: &str, word: &str) -> String {
    let line = text.lines().find(|line| line.contains(word)).expect("there is one");
    let start = line.find("ref=").expect("a ref") + 4;
    let end = line[start..].find([']', ',']).map_or(line.len(), |end| start + end);
    format!("@{}", &line[start..end])
}

fn browser_program() -> PathBuf {
    tabwire_browser::finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser").path
}
