//! Clients that flood, stall, vanish or ask for too much: the others and the daemon do not notice.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::cdp_client::CdpClient;
use crate::fixture_site::FixtureSite;
use crate::process::peak_memory;
use crate::suite::Suite;
use crate::waiting::eventually;
use crate::world::World;

/// The largest result asked for through the endpoint, in bytes.
const LARGE: u64 = 100 * 1024 * 1024;

/// Memory the daemon may have had at most while it passed one large message on, in MiB.
const MEMORY: u64 = 700;

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
    let page = owner.open_page(&site.page("/popup"));
    owner.call("Runtime.runIfWaitingForDebugger", json!({}), Some(&page.session));
    owner.call("Target.setAutoAttach", attach, Some(&page.session));
    let loaded = |session: &str, owner: &mut CdpClient| {
        eventually("the page loads", 10, || owner.evaluate("document.readyState", session) == "complete");
    };
    loaded(&page.session, &mut owner);
    owner.evaluate("window.popup = window.open('/popup/child'); 1", &page.session);
    let attached = owner.event("Target.attachedToTarget", |event| {
        event["params"]["targetInfo"]["url"]
            .as_str()
            .is_some_and(|url| url.contains("popup/child") || url.is_empty())
            || event["params"]["targetInfo"]["openerId"] == page.target.as_str()
    });
    let popup = attached["params"]["sessionId"].as_str().expect("a session").to_owned();
    owner.call("Runtime.runIfWaitingForDebugger", json!({}), Some(&popup));
    loaded(&popup, &mut owner);
    other.call("Browser.getVersion", json!({}), None);
    let foreign: Vec<_> = other
        .unread_events()
        .filter(|event| event["params"]["targetInfo"]["url"].to_string().contains("/popup"))
        .collect();
    assert!(foreign.is_empty(), "another client's pages are seen: {foreign:?}");
    assert_eq!(world.number("astray"), 0);
}

#[test]
fn f13_a_client_that_does_not_read_hurts_nobody_and_is_told() {
    let (world, site) = (World::new(), FixtureSite::start());
    let address = world.cdp_url();
    let mut slow = CdpClient::connect(&address);
    let mut quick = CdpClient::connect(&address);
    let flooded = slow.open_page(&site.page("/flood"));
    slow.call("Runtime.enable", json!({}), Some(&flooded.session));
    slow.call("Network.enable", json!({}), Some(&flooded.session));
    eventually("the page loads", 10, || slow.evaluate("typeof window.flood", &flooded.session) == "function");
    let page = quick.open_page("about:blank");
    // About 60 MB of events, more than sockets and queue take; nothing of it is read for now.
    let flood = "window.flood({lines: 60000, requests: 200, bytes: 1000}).then(() => 'flooded')";
    let params = json!({"expression": flood, "awaitPromise": true, "returnByValue": true});
    let answer = slow.send("Runtime.evaluate", params, Some(&flooded.session));
    let mut worst = Duration::ZERO;
    eventually("events are dropped for the slow client", 60, || {
        let asked = Instant::now();
        assert_eq!(quick.evaluate("1", &page.session), 1);
        worst = worst.max(asked.elapsed());
        world.number("events_dropped") > 0
    });
    assert!(worst < Duration::from_secs(2), "the quick client waited {worst:?}");
    assert_eq!(slow.answer(answer)["result"]["result"]["value"], "flooded", "answers are never dropped");
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
fn f14_a_result_above_the_ceiling_is_an_error_and_the_connection_lives() {
    let world = World::new();
    world.open(&["about:blank"]);
    let mut client = CdpClient::connect(&world.cdp_url());
    let page = client.open_page("about:blank");
    let params = json!({"expression": format!("'x'.repeat({})", 300 * 1024 * 1024), "returnByValue": true});
    let answer = client.ask("Runtime.evaluate", params, Some(&page.session));
    assert!(answer["error"]["message"].is_string(), "{}", answer["error"]);
    assert_eq!(client.evaluate("1", &page.session), 1);
    assert_eq!(world.eval("1"), "1", "the engine did not notice");
    let peak = peak_memory(world.daemon_pid());
    assert!(peak < MEMORY, "the daemon had {peak} MiB");
}

#[test]
fn f22_a_client_killed_mid_command_releases_what_it_held() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    world.eval("window.x = 1");
    let mut other = CdpClient::connect(&world.cdp_url());
    let page = other.open_page(&site.page("/form"));
    let (held, clients, tabs) = (world.number("held"), world.number("clients"), world.number("tabs"));
    let mut suite = Suite::playwright(&world.cdp_url(), &site, &["--operations", "500", "--seed", "7"]);
    eventually("the suite holds something", 30, || {
        world.number("held") > held + 2 && world.number("pending") > 0
    });
    suite.kill();
    eventually("the client is gone", 10, || world.number("clients") == clients);
    eventually("what it held is released", 10, || world.number("held") == held);
    assert_eq!(other.evaluate("document.title", &page.session), "Form");
    let targets = other.call("Target.getTargets", json!({}), None);
    let pages = targets["targetInfos"].as_array().expect("targets").len();
    assert_eq!(world.eval("window.x"), "1", "the engine's page is untouched");
    assert!(world.number("tabs") <= tabs + 3 && pages <= 2, "its contexts are gone: {targets}");
    assert_eq!(world.number("astray"), 0);
}
