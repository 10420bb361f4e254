//! A page that sends more events than the connection takes. A fake daemon with the key reads at its own pace.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::own_browser::driving::{await_connected, own_browser};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::extension_pages::ExtensionWorker;
use crate::support::fake_daemon::{FakeDaemon, command};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

/// Number and length of logged lines: together more than the sockets and the first queue limit hold.
const LINES: u64 = 160;
const LINE_BYTES: u64 = 100_000;

/// So many lines of that length exceed what the extension queues for one connection.
const TOO_MANY_LINES: u64 = 500;

/// Short lines that are logged at once.
const SHORT_LINES: u64 = 2_000;

/// Requests during the flood.
const REQUESTS: usize = 100;

/// The user's own CDP session on the page.
fn attach_as_user(browser: &Chromium, url: &str) -> (CdpClient, String) {
    let mut user = CdpClient::connect(&browser.websocket());
    let found = find_eventually(10, || {
        let targets = user.call("Target.getTargets", json!({}), None);
        let target = targets["targetInfos"].as_array()?.iter().find(|target| target["url"] == url)?;
        target["targetId"].as_str().map(str::to_owned)
    });
    let session = user.attach(&found.expect("the page is there"));
    (user, session)
}

fn count(read: &[Value], method: &str) -> usize {
    read.iter().filter(|message| message["method"] == method).count()
}

/// The number of a logged line.
fn line_of(message: &Value) -> Option<u64> {
    let text = message.pointer("/params/args/0/value")?.as_str()?;
    text.strip_prefix("flood ")?.parse().ok()
}

/// The user's browser with a page that floods, and a fake daemon.
struct Flooding {
    reader: FakeDaemon,
    tab: Value,
    user: CdpClient,
    page: String,
    stale: PathBuf,
    browser: Chromium,
    _world: World,
    _site: FixtureSite,
}

impl Flooding {
    fn begin() -> Self {
        let (world, site) = (World::new(), FixtureSite::start());
        let browser = own_browser(&world);
        await_connected(&world);
        let url = site.page("/flood");
        world.open(&["--upstream", "extension", "--policy", "open", &url]);
        let (mut reader, present, stale) = FakeDaemon::replace(&world);
        let tabs = present["tabs"].as_array().expect("a list");
        let tab = tabs.iter().find(|tab| tab["url"] == url.as_str()).expect("the page")["tab"].clone();
        let (user, page) = attach_as_user(&browser, &url);
        reader.call("attach", &json!({"tab": tab}));
        for method in ["Runtime.enable", "Network.enable"] {
            reader.call("send", &command(&tab, method, &json!({})));
        }
        Self { reader, tab, user, page, stale, browser, _world: world, _site: site }
    }
}

impl Drop for Flooding {
    fn drop(&mut self) {
        // The native host of a later world must not find it.
        let _ = fs::remove_file(&self.stale);
    }
}

#[test]
fn f13_responses_overtake_queued_events_and_only_safe_events_drop() {
    let mut flooding = Flooding::begin();
    let Flooding { reader, tab, user, page, .. } = &mut flooding;
    // From here on the connection is not read, and the page keeps sending.
    let flood = format!(
        "(async () => {{
            await window.flood({{lines: {LINES}, bytes: {LINE_BYTES}}});
            for (let sent = 0; sent < {REQUESTS}; sent += 1) await (await fetch(`/api/echo?value=${{sent}}`)).text();
        }})()"
    );
    user.evaluate(&flood, page);
    let asked = reader.ask("send", &command(tab, "Runtime.evaluate", &json!({"expression": "6 * 7"})));
    let settled = reader.ask("settle", &json!({"tab": tab}));
    let read = reader.read_to(settled);
    let response = read.iter().position(|message| message["id"] == asked).expect("a response");
    assert_eq!(read[response]["result"]["result"]["value"], 42);
    let lines: Vec<u64> = read.iter().filter_map(line_of).collect();
    assert_eq!(lines, (0..LINES).collect::<Vec<_>>(), "every event arrives, in order");
    let behind = read[response..].iter().filter_map(line_of).count();
    assert!(behind > 20, "the response overtook {behind} older events");
    for method in ["Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished"] {
        assert_eq!(count(&read, method), REQUESTS, "{method}");
    }
    // Each request has one or more of these events.
    let received = count(&read, "Network.dataReceived");
    let left_out = find_eventually(10, || reader.line.next()?["data"]["dropped_events"].as_u64());
    assert!(received < REQUESTS, "no event was dropped");
    assert!(left_out >= Some((REQUESTS - received) as u64), "{left_out:?} dropped, {received} received");
}

#[test]
fn f13_events_of_a_flood_are_batched_in_order() {
    let mut flooding = Flooding::begin();
    let Flooding { reader, tab, user, page, .. } = &mut flooding;
    let before = reader.line.deliveries;
    user.evaluate(&format!("window.flood({{lines: {SHORT_LINES}, bytes: 10}})"), page);
    let settled = reader.ask("settle", &json!({"tab": tab}));
    let lines: Vec<u64> = reader.read_to(settled).iter().filter_map(line_of).collect();
    assert_eq!(lines, (0..SHORT_LINES).collect::<Vec<_>>(), "every event arrives, in order");
    let deliveries = reader.line.deliveries - before;
    assert!(deliveries < lines.len() / 2, "{deliveries} messages for {SHORT_LINES} events");
}

#[test]
fn f13_a_tab_that_floods_the_connection_is_detached() {
    let mut flooding = Flooding::begin();
    let Flooding { reader, tab, user, page, browser, .. } = &mut flooding;
    // From here on the connection is not read, until the extension exceeds its limit.
    user.evaluate(&format!("window.flood({{lines: {TOO_MANY_LINES}, bytes: {LINE_BYTES}}})"), page);
    let mut worker = ExtensionWorker::of(browser);
    let is_driven = format!(
        "chrome.debugger.sendCommand({{tabId: {tab}}}, 'Runtime.evaluate', {{expression: '1'}}).then(() => true, () => false)"
    );
    eventually("the debugger goes off the tab", 30, || worker.evaluate(&is_driven) == false);
    let (mut lines, mut reason) = (Vec::new(), None);
    while reason.is_none() {
        let message = reader.line.next().expect("the extension stays");
        lines.extend(line_of(&message));
        if message["event"] == "detached" {
            assert_eq!(message["data"]["tab"], *tab);
            reason = message["data"]["reason"].as_str().map(str::to_owned);
        }
    }
    assert_eq!(reason.as_deref(), Some("flood"));
    let received = u64::try_from(lines.len()).expect("small");
    assert_eq!(lines, (0..received).collect::<Vec<_>>(), "the received events have no gap");
    assert!(received < TOO_MANY_LINES, "the rest is dropped");
    // Connection and tab stay usable: the next client can attach again.
    let refused = reader.ask("send", &command(tab, "Runtime.evaluate", &json!({"expression": "1"})));
    let refused = reader.read_to(refused).pop().expect("a response");
    assert_eq!(refused["error"]["code"], "DETACHED", "{refused}");
    reader.call("attach", &json!({"tab": tab}));
    let response = reader.call("send", &command(tab, "Runtime.evaluate", &json!({"expression": "6 * 7"})));
    assert_eq!(response["result"]["value"], 42);
}
