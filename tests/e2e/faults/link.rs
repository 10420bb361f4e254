//! Clients that flood, stall, vanish or request too much: other clients and the daemon are not affected.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::clients::suite::Suite;
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::process::peak_memory;
use crate::support::wait::eventually;
use crate::support::world::{World, testkit_program};

/// The size of the largest requested result, in bytes.
const LARGE: u64 = 100 * 1024 * 1024;

/// Peak memory that the daemon may have while it forwards one large message, in MiB.
const MEMORY: u64 = 700;

/// Waits until a page has loaded the path.
fn await_load(client: &mut CdpClient, session: &str, path: &str) {
    let state = format!("document.readyState === 'complete' && location.pathname === '{path}'");
    eventually("the page loads", 10, || client.evaluate(&state, session) == true);
}

#[test]
fn f11_a_popup_of_one_client_is_never_held_by_another() {
    let (world, site) = (World::new(), FixtureSite::start());
    let address = world.cdp_url();
    let mut owner = CdpClient::connect(&address);
    let mut other = CdpClient::connect(&address);
    let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    for client in [&mut owner, &mut other] {
        client.call("Target.setAutoAttach", attach.clone(), None);
        client.call("Target.setDiscoverTargets", json!({"discover": true}), None);
    }
    let made =
        owner.call("Target.createTarget", json!({"url": site.page("/popup")}), None)["targetId"].clone();
    let attached =
        owner.event("Target.attachedToTarget", |event| event["params"]["targetInfo"]["targetId"] == made);
    let page = attached["params"]["sessionId"].as_str().expect("a session").to_owned();
    owner.call("Runtime.runIfWaitingForDebugger", json!({}), Some(&page));
    owner.call("Target.setAutoAttach", attach, Some(&page));
    await_load(&mut owner, &page, "/popup");
    // As on Chromium, `window.open` returns when the popup has been resumed.
    let opening = json!({"expression": "window.open('/popup/child'); 1"});
    let opened = owner.send("Runtime.evaluate", opening, Some(&page));
    let attached =
        owner.event("Target.attachedToTarget", |event| event["params"]["targetInfo"]["openerId"].is_string());
    let popup = attached["params"]["sessionId"].as_str().expect("a session").to_owned();
    owner.call("Runtime.runIfWaitingForDebugger", json!({}), Some(&popup));
    owner.response(opened);
    await_load(&mut owner, &popup, "/popup/child");
    other.call("Browser.getVersion", json!({}), None);
    let foreign: Vec<_> = other
        .unread_events()
        .filter(|event| event["params"]["targetInfo"]["url"].to_string().contains("/popup"))
        .collect();
    assert!(foreign.is_empty(), "another client's pages are seen: {foreign:?}");
}

#[test]
fn f13_a_client_that_stops_reading_delays_no_other_client() {
    let (world, site) = (World::new(), FixtureSite::start());
    let address = world.cdp_url();
    let mut slow = CdpClient::connect(&address);
    let mut quick = CdpClient::connect(&address);
    let flooded = slow.open_page(&site.page("/flood"));
    slow.call("Runtime.enable", json!({}), Some(&flooded.session));
    slow.call("Network.enable", json!({}), Some(&flooded.session));
    await_load(&mut slow, &flooded.session, "/flood");
    let page = quick.open_page("about:blank");
    // About 60 MB of unread events, more than sockets and queue can hold.
    let flood = "window.flood({lines: 60000, requests: 200, bytes: 1000}).then(() => 'flooded')";
    let params = json!({"expression": flood, "awaitPromise": true, "returnByValue": true});
    let command = slow.send("Runtime.evaluate", params, Some(&flooded.session));
    let mut worst = Duration::ZERO;
    eventually("events are dropped for the slow client", 60, || {
        let asked = Instant::now();
        assert_eq!(quick.evaluate("1", &page.session), 1);
        worst = worst.max(asked.elapsed());
        world.number("events_dropped") > 0
    });
    assert!(worst < Duration::from_secs(5), "the quick client waited {worst:?}");
    assert_eq!(slow.response(command)["result"]["result"]["value"], "flooded", "responses are never dropped");
    let notice = slow.event("Tabwire.eventsDropped", |_| true);
    assert!(notice["params"]["count"].as_u64() > Some(0), "{notice}");
    assert_eq!(slow.evaluate("2", &flooded.session), 2, "it is served again");
}

#[test]
fn f14_a_result_of_100_mb_passes_with_bounded_memory() {
    let world = World::new();
    let mut client = CdpClient::connect(&world.cdp_url());
    let page = client.open_page("about:blank");
    let daemon = world.daemon_pid();
    let text = client.evaluate(&format!("'x'.repeat({LARGE})"), &page.session);
    assert_eq!(text.as_str().map(str::len), usize::try_from(LARGE).ok());
    assert_eq!(client.evaluate("1", &page.session), 1);
    let peak = peak_memory(daemon);
    assert!(peak < MEMORY, "the daemon had {peak} MiB");
}

#[test]
fn f14_an_oversize_message_is_an_error_and_the_connection_lives() {
    let script = tempfile::NamedTempFile::new().expect("a file");
    let large = json!({"method": "Page.captureScreenshot", "do": "large", "bytes": 3 * LARGE});
    std::fs::write(script.path(), large.to_string()).expect("written");
    let world = World::new()
        .with("TABWIRE_BROWSER", testkit_program("fake-browser").display().to_string())
        .with("TABWIRE_FAKE_BROWSER_SCRIPT", script.path().display().to_string());
    let mut client = CdpClient::connect(&world.cdp_url());
    let page = client.open_page("about:blank");
    let response = client.ask("Page.captureScreenshot", json!({}), Some(&page.session));
    assert!(response["error"]["message"].is_string(), "{}", response["error"]);
    client.call("Page.enable", json!({}), Some(&page.session));
    assert_eq!(world.json(&["tabs"])["session"], "default", "the engine did not notice");
    let peak = peak_memory(world.daemon_pid());
    assert!(peak < MEMORY, "the daemon had {peak} MiB");
}

#[test]
fn f22_a_client_killed_mid_command_releases_its_resources() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    world.eval("window.x = 1");
    let mut other = CdpClient::connect(&world.cdp_url());
    let page = other.open_page(&site.page("/form"));
    let (held, clients) = (world.number("held"), world.number("clients"));
    let tabs = usize::try_from(world.number("tabs")).expect("a count");
    let mut suite = Suite::playwright(&world.cdp_url(), &site, &["--operations", "500", "--seed", "7"]);
    eventually("the suite holds something", 30, || {
        world.number("held") > held + 2 && world.number("pending") > 0
    });
    suite.kill();
    eventually("the client is gone", 10, || world.number("clients") == clients);
    eventually("its holds are released", 10, || world.number("held") == held);
    assert_eq!(other.evaluate("document.title", &page.session), "Form");
    let targets = other.call("Target.getTargets", json!({}), None);
    let pages = targets["targetInfos"].as_array().expect("targets").iter();
    let pages = pages.filter(|info| info["type"] == "page").count();
    assert_eq!(world.eval("window.x"), "1", "the engine's page is untouched");
    assert_eq!(pages, 1, "another client sees its own page only: {targets}");
    // Its pages in the shared context stay open and become the session's.
    for tab in world.json(&["tabs"])["result"]["tabs"].as_array().expect("tabs").iter().skip(tabs) {
        world.run(&["close", "--tab", tab["tab"].as_str().expect("an id")]).succeeded();
    }
}
