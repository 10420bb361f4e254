//! Attaches to a browser that the user started: by port, URL and profile. Tabwire never ends it.

use std::time::{Duration, Instant};

use tabwire_testkit::{ChaosPlan, ChaosProxy, Endpoint};

use crate::support::chromium::Chromium;
use crate::support::wait::eventually;
use crate::support::world::World;

#[test]
fn attaching_works_by_port_url_and_profile() {
    let (world, mut browser) = (World::new(), Chromium::with_port());
    let port = browser.port();
    for address in [
        port.to_string(),
        format!("http://127.0.0.1:{port}"),
        browser.websocket(),
        browser.profile().display().to_string(),
    ] {
        world.open(&["--cdp", &address, "data:text/html,<title>attached</title>"]);
        assert_eq!(world.eval("document.title"), "attached", "{address}");
        let status = world.json(&["status"]);
        assert_eq!(status["sessions"][0]["ownership"], "attached");
        assert_eq!(status["sessions"][0]["upstream"], "websocket");
        let closed = world.run(&["close"]).succeeded();
        assert!(closed.stdout.contains("left running"), "{closed:?}");
        assert!(browser.is_running(), "{address}");
    }
    world.open(&["--cdp", &port.to_string(), "about:blank"]);
    world.run(&["daemon", "stop"]).succeeded();
    assert!(browser.is_running(), "the browser outlives the daemon");
}

#[test]
fn b2_a_browser_with_a_port_of_its_own_is_found_by_its_profile() {
    let probe = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = probe.local_addr().expect("bound").port();
    drop(probe);
    let (world, mut browser) = (World::new().with_whole_chromium(), Chromium::on_port(port));
    let profile = browser.profile();
    assert!(!profile.join("DevToolsActivePort").exists(), "Chromium writes it for port 0 only");
    for option in ["--cdp", "--profile"] {
        world.open(&[option, &profile.display().to_string(), "data:text/html,<title>attached</title>"]);
        assert_eq!(world.json(&["status"])["sessions"][0]["ownership"], "attached", "{option}");
        world.run(&["close"]).succeeded();
        assert!(browser.is_running(), "{option}");
    }
}

#[test]
fn sessions_on_one_attached_browser_share_its_one_connection() {
    let (world, mut browser) = (World::new(), Chromium::with_port());
    for (session, address) in [("one", browser.port().to_string()), ("two", browser.websocket())] {
        world.run(&["open", "--session", session, "--cdp", &address, "--new-tab", "about:blank"]).succeeded();
    }
    let status = world.json(&["status"]);
    for session in status["sessions"].as_array().expect("sessions") {
        assert_eq!(session["clients"], 2, "both engines are clients of one connection: {status}");
    }
    let closed = world.run(&["close", "--session", "one"]).succeeded();
    assert!(closed.stdout.contains("another session uses it"), "{closed:?}");
    assert_eq!(world.run(&["eval", "--session", "two", "1"]).succeeded().text(), "1");
    assert!(browser.is_running());
}

#[test]
fn a_missing_browser_to_attach_to_is_reported() {
    let world = World::new();
    for (address, code) in [("9", "NO_BACKEND"), ("ws://127.0.0.1:9/x", "NO_BACKEND"), ("bogus", "BAD_ARGS")]
    {
        let outcome = world.run(&["--json", "open", "--cdp", address, "about:blank"]);
        assert_eq!(outcome.failure().0, code, "{address}: {outcome:?}");
        assert!(outcome.json()["error"]["hint"].is_string(), "{address}: {outcome:?}");
    }
    assert_eq!(world.json(&["status"])["sessions"].as_array().map(Vec::len), Some(0));
}

#[test]
fn an_attached_browser_that_was_killed_is_reported() {
    let (world, mut browser) = (World::new(), Chromium::with_port());
    world.open(&["--cdp", &browser.port().to_string(), "about:blank"]);
    browser.kill();
    eventually("the loss is noticed", 15, || world.json(&["status"])["sessions"][0]["state"] != "active");
    let outcome = world.run(&["--json", "eval", "1"]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    let code = outcome.failure().0;
    assert!(code == "NO_BACKEND" || code == "BROWSER_GONE", "{outcome:?}");
    assert!(outcome.json()["error"]["hint"].is_string(), "{outcome:?}");
    assert!(world.browser_processes().is_empty(), "a browser was launched in its place");
}

#[test]
fn f03_a_silent_link_is_detected_within_15_seconds() {
    let (world, browser) = (World::new(), Chromium::with_port());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let upstream = Endpoint::Tcp(([127, 0, 0, 1], browser.port()).into());
    let proxy = runtime.block_on(ChaosProxy::start(upstream, ChaosPlan::default())).expect("a proxy");
    let direct = browser.websocket();
    let path = direct.splitn(4, '/').nth(3).expect("a path");
    let through = format!("ws://127.0.0.1:{}/{path}", proxy.port().expect("a port"));
    world.open(&["--cdp", &through, "about:blank"]);
    assert_eq!(world.eval("window.x = 1"), "1");

    proxy.stall();
    let stalled = Instant::now();
    let outcome = world.run(&["--json", "eval", "window.x"]);
    assert!(stalled.elapsed() < Duration::from_secs(16), "{:?}", stalled.elapsed());
    let (code, exit) = outcome.failure();
    assert!(exit == 1 && ["BROWSER_GONE", "OUTCOME_UNKNOWN"].contains(&code.as_str()), "{outcome:?}");
    proxy.resume();
    let recovered = world.run(&["eval", "1 + 1"]).succeeded();
    assert_eq!(recovered.text(), "2");
    assert!(recovered.stderr.contains("sent nothing for"), "the reason is printed: {recovered:?}");
    world.run(&["close"]).succeeded();
}

#[test]
fn an_attached_session_is_attached_again_after_the_daemon_died() {
    let (world, mut browser) = (World::new(), Chromium::with_port());
    let tab = world.open(&["--cdp", &browser.port().to_string(), "about:blank"]);
    world.run(&["--as", "anna", "tab", "lease", &tab, "--for", "5m"]).succeeded();
    world.run(&["--as", "anna", "eval", "window.x = 7"]).succeeded();
    let secret = secret_of(&world.cdp_url());
    crate::support::process::kill(world.daemon_pid());
    let again = world.run(&["--as", "anna", "eval", "window.x", "--tab", &tab]).succeeded();
    assert_eq!(again.text(), "7", "the same browser, page and tab id");
    let leases = world.json(&["tab", "leases"])["result"]["leases"].clone();
    assert_eq!(leases[0]["owner"], "anna", "{leases}");
    assert_eq!(secret_of(&world.cdp_url()), secret);
    assert!(world.browser_processes().is_empty(), "a browser was launched in its place");
    world.run(&["close"]).succeeded();
    assert!(browser.is_running());
}

/// The secret of a CDP URL, which stays the same when the port changes.
pub(crate) fn secret_of(address: &str) -> String {
    address.splitn(4, '/').nth(3).expect("a path").to_owned()
}

#[test]
fn another_browser_on_the_same_port_is_reported_and_not_used() {
    let (world, mut first) = (World::new(), Chromium::with_port());
    let port = first.port();
    world.open(&["--cdp", &port.to_string(), "data:text/html,<title>first</title>"]);
    let refused = |arguments: &[&str], way: &str| {
        let outcome = world.run(&[&["--json"], arguments].concat());
        assert_eq!(outcome.failure(), ("BROWSER_GONE".to_owned(), 1), "{outcome:?}");
        let error = outcome.json()["error"].clone();
        let message = error["message"].as_str().expect("a sentence");
        assert!(message.contains("Another one (") && message.contains(&port.to_string()), "{error}");
        assert!(error["hint"].as_str().is_some_and(|hint| hint.contains(way)), "{error}");
    };
    let connect = format!("tabwire connect {port}");
    first.kill();
    eventually("the loss is noticed", 15, || world.json(&["status"])["sessions"][0]["state"] != "active");
    let mut second = Chromium::on_port(port);
    refused(&["eval", "document.title"], &connect);
    refused(&["open", "--cdp", &port.to_string(), "about:blank"], &connect);
    world.run(&["connect", &port.to_string()]).succeeded();
    assert_eq!(world.eval("location.href"), "about:blank", "its own tab");

    // The next daemon has the record of the attached browser.
    crate::support::process::kill(world.daemon_pid());
    assert_eq!(world.eval("1"), "1", "the next daemon attaches to it without a notice");
    crate::support::process::kill(world.daemon_pid());
    second.kill();
    let mut third = Chromium::on_port(port);
    refused(&["eval", "1"], &connect);
    assert_eq!(world.run(&["eval", "--restart", "1"]).succeeded().text(), "1");
    world.run(&["close"]).succeeded();
    assert!(third.is_running());
}
