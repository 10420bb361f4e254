//! Sessions on the user's own browser across a browser restart, a new daemon key and port, a second browser, and 35 idle
//! seconds.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::own_browser::driving::{await_connected, connected, daemon_port, install_into, own_browser};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::extension_pages::{ExtensionView, ExtensionWorker, reload_extension};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

const OWN: [&str; 4] = ["--upstream", "extension", "--policy", "open"];

fn install_of(browser: &Value) -> String {
    browser["install"].as_str().expect("an install").to_owned()
}

/// The number of accepted extension connections.
pub(crate) fn pairings(world: &World) -> usize {
    world.log().matches("an extension is connected").count()
}

#[test]
fn f06_two_browsers_connect_side_by_side() {
    let site = FixtureSite::start();
    let world = World::new();
    let (_one, _other) = (own_browser(&world), own_browser(&world));
    let both = find_eventually(40, || Some(connected(&world)).filter(|list| list.len() == 2));
    let both: Vec<String> = both.expect("both connect").iter().map(install_of).collect();
    let (paired, page) = (pairings(&world), site.page("/plain"));
    for (session, install) in ["one", "two"].into_iter().zip(&both) {
        let way = format!("extension:{}", &install[..8]);
        let open = ["--session", session, "open", "--upstream", &way, "--policy", "open", &page];
        world.run(&open).succeeded();
        world.run(&["--session", session, "eval", &format!("window.whose = {install:?}")]).succeeded();
    }
    for (session, install) in ["one", "two"].into_iter().zip(&both) {
        let whose = world.run(&["--session", session, "eval", "window.whose"]).succeeded();
        assert_eq!(whose.text().trim_matches('"'), install);
        let tabs = world.json(&["--session", session, "tabs"])["result"]["tabs"].clone();
        assert_eq!(tabs.as_array().map(Vec::len), Some(1), "{tabs}");
    }
    assert_eq!(pairings(&world), paired, "no extension had to reconnect");
    for session in ["one", "two"] {
        world.run(&["--session", session, "close"]).succeeded();
    }
}

#[test]
fn a_restarted_browser_or_daemon_reconnects() {
    let site = FixtureSite::start();
    let world = World::new();
    let mut browser = own_browser(&world);
    let before = install_of(&await_connected(&world));
    let page = site.page("/plain");
    let tab = world.open(&[&OWN[..], &[&page]].concat());

    // A new port and a new key while the browser runs: the extension reads both again without the user.
    let port = daemon_port(&world);
    world.run(&["daemon", "stop"]).succeeded();
    let key = world.home().join("state/extension-key");
    let old = fs::read_to_string(&key).expect("a key");
    fs::remove_file(&key).expect("it was there");
    world.run(&["daemon", "start"]).succeeded();
    assert_eq!(install_of(&await_connected(&world)), before);
    assert_ne!((daemon_port(&world), fs::read_to_string(&key).expect("a key")), (port, old));

    // The browser restarts on the same profile: the same install, without its old tabs.
    browser.restart();
    assert_eq!(install_of(&await_connected(&world)), before);
    let lost = world.run(&["--json", "eval", "1", "--tab", &tab]);
    assert_ne!(lost.code, 0, "{lost:?}");
    let anew = world.open(&[&OWN[..], &["--restart", &page]].concat());
    assert_ne!(anew, tab);
    world.run(&["close"]).succeeded();
}

#[test]
fn f05_a_reloaded_extension_reconnects_and_losses_are_reported() {
    let site = FixtureSite::start();
    let world = World::new();
    let mut browser = own_browser(&world);
    let before = install_of(&await_connected(&world));
    let page = site.page("/plain");
    let tab = world.open(&[&OWN[..], &[&page]].concat());
    let paired = pairings(&world);
    reload_extension(&browser);
    eventually("the extension is back", 40, || pairings(&world) > paired);
    assert_eq!(install_of(&await_connected(&world)), before, "the same install");
    // Chrome forgets shared tabs with the extension; no other tab replaces one silently.
    let lost = world.run(&["--json", "eval", "1", "--tab", &tab]);
    assert_ne!(lost.code, 0, "{lost:?}");
    let anew = world.open(&[&OWN[..], &["--restart", &page]].concat());
    assert_ne!(anew, tab);
    assert_eq!(world.eval("1 + 1"), "2");
    assert!(browser.is_running());
    world.run(&["close"]).succeeded();
}

#[test]
fn t14_t16_other_extensions_and_internal_pages_are_refused() {
    let world = World::new();
    let hostile = hostile_extension(&world);
    let browser = Chromium::with_extensions(|profile| install_into(&world, profile), &[hostile]);
    await_connected(&world);
    let mut stranger = ExtensionWorker::other_in(&browser);
    let output = stranger.evaluate(
        "chrome.runtime.sendMessage('pimdfmoiaojahepkopikadchpocaecik', {ask: 'mode', mode: 'all'}).then(String, String)",
    );
    assert!(output.as_str().is_some_and(|text| text.contains("Could not establish connection")), "{output}");
    let dialled = format!(
        "new Promise((done) => {{ const socket = new WebSocket('ws://127.0.0.1:{}/extension');\
         socket.onopen = () => done('open'); socket.onerror = () => done('refused'); }})",
        daemon_port(&world)
    );
    assert_eq!(stranger.evaluate(&dialled), "refused");

    // Every ordinary tab is shared, and still no internal page.
    let mut options = ExtensionView::options(&browser);
    options.shows("Connected to Tabwire");
    options.press("Every ordinary tab");
    let mut client = CdpClient::connect(&browser.websocket());
    for url in ["chrome://version/", "view-source:about:blank"] {
        client.call("Target.createTarget", json!({"url": url}), None);
    }
    world.open(&[&OWN[..], &["about:blank"]].concat());
    let standing = find_eventually(20, || {
        let standing = connected(&world).first()?["standing"].clone();
        (standing["mode"] == "all").then_some(standing)
    });
    assert!(standing.is_some(), "{:?}", connected(&world));
    let tabs = world.json(&["tabs"])["result"]["tabs"].to_string();
    assert!(!tabs.contains("chrome"), "{tabs}");
    let mut driver = CdpClient::connect(&world.cdp_url());
    let targets = driver.call("Target.getTargets", json!({}), None).to_string();
    assert!(!targets.contains("chrome-extension:") && !targets.contains("chrome://"), "{targets}");
    drop(driver);
    let refused = world.run(&["--json", "open", "chrome://settings"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    world.run(&["close"]).succeeded();
}

/// Another extension with many permissions.
pub(crate) fn hostile_extension(world: &World) -> std::path::PathBuf {
    let folder = world.home().join("hostile");
    fs::create_dir(&folder).expect("a folder");
    let manifest = json!({
        "manifest_version": 3, "name": "Stranger", "version": "1", "permissions": ["debugger", "management", "tabs"],
        "host_permissions": ["<all_urls>"], "background": {"service_worker": "stranger.js"},
    });
    fs::write(folder.join("manifest.json"), manifest.to_string()).expect("written");
    fs::write(folder.join("stranger.js"), "self.stranger = true;\n").expect("written");
    folder
}

#[test]
fn f04_an_idle_extension_stays_connected_for_35_s() {
    let world = World::new();
    let _browser = own_browser(&world);
    await_connected(&world);
    let paired = pairings(&world);
    // Chrome ends a service worker after 30 s without an event; only the extension itself causes events here.
    let start = Instant::now();
    eventually("35 s have passed", 60, || start.elapsed() >= Duration::from_secs(35));
    let standing = connected(&world)[0]["standing"].clone();
    assert_eq!(standing["awake"], true, "{standing}");
    assert_eq!(pairings(&world), paired, "it never disconnected");
}
