//! The Chrome shim on a port: discovery, clients, and a browser that is lost and returns.

use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::chrome_shim::launcher::{Launcher, ORPHAN_SECONDS, browser, shims};
use crate::chrome_shim::port_process::{PortChrome, ask_port};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::fixture_site::FixtureSite;
use crate::support::process::{Process, is_running, kill, signal};
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::{World, await_end};

/// The shim numbers its own requests from here; no client may see such an id.
const OWN_IDS: u64 = 9_000_000_000_000;

/// A profile directory in a world.
fn profile(world: &World) -> String {
    world.home().join("profile").to_string_lossy().into_owned()
}

#[test]
fn a_port_serves_discovery_and_closing_like_chrome() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let directory = profile(&world);
    let mut chrome = PortChrome::start(&world, &["--user-data-dir", &directory]);
    let active =
        fs::read_to_string(PathBuf::from(&directory).join("DevToolsActivePort")).expect("it is written");
    assert_eq!(active, format!("{}\n{}", chrome.port(), chrome.path()));
    let version = chrome.json("/json/version");
    assert!(version["Browser"].as_str().is_some_and(|name| name.contains("Chrome/")), "{version}");
    assert_eq!(version["webSocketDebuggerUrl"], chrome.address);
    // A page of a client, and its entry in the list.
    let mut client = CdpClient::connect(&chrome.address);
    let page = client.open_page(&site.page("/plain"));
    assert_eq!(client.evaluate("6 * 7", &page.session), 42);
    let has_page = |list: &Value| {
        list.as_array().expect("a list").iter().any(|entry| entry["url"] == site.page("/plain"))
    };
    eventually("the page is listed", 10, || {
        has_page(&chrome.json("/json/list")) && has_page(&chrome.json("/json"))
    });
    let (status, made) = chrome.http("PUT", "/json/new?about:blank", "Host: 127.0.0.1\r\n");
    assert_eq!(status, 200, "{made}");
    let made: Value = serde_json::from_str(&made).expect("JSON");
    let close = format!("/json/close/{}", made["id"].as_str().expect("an id"));
    assert_eq!(chrome.http("PUT", &close, "Host: 127.0.0.1\r\n"), (200, "Target is closing".to_owned()));
    // Requests that a web page could send are refused.
    assert_eq!(chrome.http("GET", "/json/version", "Host: evil.test\r\n").0, 403);
    assert_eq!(chrome.http("GET", "/json/new?about:blank", "Host: localhost\r\n").0, 405);
    let handshake = "Host: localhost\r\nOrigin: http://evil.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                     Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    assert_eq!(chrome.http("GET", chrome.path(), handshake).0, 403);
    assert_eq!(chrome.http("GET", "/devtools/browser/other", handshake).0, 404);
    // `status` lists the browser, and `doctor` has nothing to fix.
    let browser = browser(&world);
    let status = world.json(&["status"]);
    let held = &status["shim_browsers"][0];
    assert_eq!(
        (&held["ownership"], &held["headless"], &held["pid"]),
        (&json!("launched"), &json!(true), &json!(browser.pid)),
        "{status}"
    );
    assert!(
        held["lines"].as_u64().is_some_and(|lines| lines >= 2),
        "one session of the shim and one of its client: {held}"
    );
    assert!(world.run(&["status"]).succeeded().stdout.contains(&directory));
    let doctor = world.run(&["doctor"]);
    assert!(!doctor.stdout.contains("runs without its keeper"), "{doctor:?}");
    assert!(doctor.stdout.contains("One browser runs; dead ones left nothing"), "{doctor:?}");
    // `Browser.close` ends browser and shim.
    assert_eq!(client.call("Browser.close", json!({}), None), json!({}));
    assert_eq!(chrome.end(), Some(0));
    await_end("the browser", 5, &[browser]);
    assert!(!PathBuf::from(&directory).join("DevToolsActivePort").exists());
    let log = chrome.log();
    for field in ["transportMode=\"ws\"", "runtimeState=\"connected\"", "ownership=launched", "userDataDir="]
    {
        assert!(log.contains(field), "{field} in {log}");
    }
}

/// Removes ids and ports from a listing, so that two browsers can be compared.
fn compared(value: Value, port: u16) -> Value {
    let mut ids = Vec::new();
    let entries = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    for entry in &entries {
        ids.extend(entry["id"].as_str().map(str::to_owned));
        let socket = entry["webSocketDebuggerUrl"].as_str().unwrap_or_default();
        ids.extend(socket.split_once("/devtools/browser/").map(|(_, id)| id.to_owned()));
    }
    let mut text = value.to_string().replace(&format!(":{port}"), ":PORT");
    for id in ids {
        text = text.replace(&id, "ID");
    }
    serde_json::from_str(&text).expect("JSON")
}

/// Sends a request to a debugging port as its own clients do.
fn ask(port: u16, method: &str, path: &str, headers: &str) -> (u16, String) {
    ask_port(port, method, path, &format!("Host: 127.0.0.1:{port}\r\n{headers}"))
}

/// What a port lists, without ids and ports.
fn listing(port: u16, path: &str) -> Value {
    let (status, body) = ask(port, "GET", path, "");
    assert_eq!(status, 200, "{path}: {body}");
    match compared(serde_json::from_str(&body).expect("JSON"), port) {
        Value::Array(entries) => entries.into_iter().filter(|entry| entry["type"] == "page").collect(),
        other => other,
    }
}

/// The directory of saved protocol descriptions.
fn protocols(world: &World) -> PathBuf {
    world.home().join("state/protocols")
}

#[test]
fn the_protocol_description_is_fetched_once_for_every_shim() {
    let world = World::new().with_whole_chromium();
    let chrome = PortChrome::start(&world, &["--user-data-dir", &profile(&world)]);
    let only = browser(&world);
    // Concurrent requests are served by one extra browser, which ends afterwards.
    let port = chrome.port();
    let asking: Vec<_> =
        (0..8).map(|_| std::thread::spawn(move || ask(port, "GET", "/json/protocol", ""))).collect();
    let responses: Vec<_> = asking.into_iter().map(|asking| asking.join().expect("a response")).collect();
    assert!(
        responses.iter().all(|one| *one == responses[0])
            && responses[0].0 == 200
            && responses[0].1.len() > 100_000
    );
    let kept = || fs::read_dir(protocols(&world)).expect("it is there").flatten().map(|entry| entry.path());
    let files: Vec<PathBuf> = kept().filter(|path| path.extension().is_some()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let has_port = |process: &Process| process.command.contains("--remote-debugging-port=0");
    assert!(!world.browser_processes().iter().any(has_port), "the extra browser is gone");
    assert!(world.files("runtime/profiles").is_empty(), "and its profile");
    assert_eq!(browser(&world).pid, only.pid);
    // The saved description also serves other shims; a damaged one is fetched again.
    fs::write(&files[0], "{\"kept\": true}").expect("ours");
    assert_eq!(chrome.json("/json/protocol"), json!({"kept": true}));
    let second = PortChrome::start(&world, &["--user-data-dir", &profile(&world)]);
    assert_eq!(second.json("/json/protocol"), json!({"kept": true}));
    fs::write(&files[0], "{\"kept\": tr").expect("ours");
    assert_eq!(ask(port, "GET", "/json/protocol", ""), responses[0]);
}

#[test]
fn a_port_responds_as_chromiums_own() {
    let (world, chromium) = (World::new().with_whole_chromium(), Chromium::whole_with_port());
    let chrome = PortChrome::start(&world, &["--user-data-dir", &profile(&world), "about:blank"]);
    let (ours, theirs) = (chrome.port(), chromium.port());
    let handshake = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                     Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    for (method, path, headers) in [
        ("GET", "/json/new", ""),
        ("POST", "/json/new?about:blank", ""),
        ("GET", "/json/activate/XX", ""),
        ("GET", "/json/close/XX", ""),
        ("PUT", "/json/close/XX", ""),
        ("GET", "/json/close", ""),
        ("GET", "/json/activate/XX/YY", ""),
        ("GET", "/json/nothing", ""),
        ("GET", "/json/", ""),
        ("GET", "/jsonx?a=b", ""),
        ("GET", "/nothing", ""),
        ("GET", "/json/protocol", ""),
        ("POST", "/json/protocol/more?a=b", ""),
        ("GET", "/devtools/page/XX", handshake),
    ] {
        let (one, other) = (ask(ours, method, path, headers), ask(theirs, method, path, headers));
        // Some bodies are a megabyte long: their beginnings are enough.
        let start = |(status, body): &(u16, String)| (*status, body.chars().take(400).collect::<String>());
        assert!(one == other, "{method} {path}: {:?} {:?}", start(&one), start(&other));
    }
    // The `Host` header decides which host name the listed URLs have.
    let named = |port| ask_port(port, "GET", "/json/version", &format!("Host: localhost:{port}\r\n")).1;
    for port in [ours, theirs] {
        assert!(
            named(port).contains(&format!("\"ws://localhost:{port}/devtools/browser/")),
            "{}",
            named(port)
        );
    }
    for path in ["/json/version", "/json", "/json/list", "/json/version/more", "/json/list?a=b"] {
        // Both may still be loading their first page.
        let (mut one, mut other) = (Value::Null, Value::Null);
        let is_same = find_eventually(10, || {
            (one, other) = (listing(ours, path), listing(theirs, path));
            (one == other).then_some(())
        });
        assert!(is_same.is_some(), "{path}: {one:#} {other:#}");
    }
}

/// Opens a page over HTTP and uses its websocket: messages have no `sessionId`, and it closes with its page.
fn use_page_socket(port: u16, name: &str, site: &FixtureSite) {
    let (status, made) = ask(port, "PUT", &format!("/json/new?{}", site.page("/plain")), "");
    assert_eq!(status, 200, "{name}: {made}");
    let made: Value = serde_json::from_str(&made).expect("JSON");
    let mut page = CdpClient::connect(made["webSocketDebuggerUrl"].as_str().expect("an address"));
    // Wait for the first load. Otherwise its end could be taken for that of the next load, and the page would
    // close during it.
    let state = json!({"expression": "document.readyState + location.pathname"});
    eventually("the page has loaded", 10, || {
        page.ask("Runtime.evaluate", state.clone(), None)["result"]["result"]["value"] == "complete/plain"
    });
    page.call("Page.enable", json!({}), None);
    let response = page.ask("Runtime.evaluate", json!({"expression": "6 * 7"}), None);
    let value = &response["result"]["result"]["value"];
    assert_eq!((value, response.get("sessionId")), (&json!(42), None), "{name}: {response}");
    page.call("Page.navigate", json!({"url": site.page("/form")}), None);
    let event = page.event("Page.loadEventFired", |_| true);
    assert_eq!(event.get("sessionId"), None, "{name}: {event}");
    let target = made["id"].as_str().expect("an id");
    for (verb, done) in [("activate", "Target activated"), ("close", "Target is closing")] {
        let response = ask(port, "GET", &format!("/json/{verb}/{target}"), "");
        assert_eq!(response, (200, done.to_owned()), "{name}");
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    while let Ok(Some(_)) = page.read_message(deadline) {}
    assert!(Instant::now() < deadline, "{name}: the websocket ends with its page");
}

#[test]
fn a_port_has_a_websocket_for_each_page_as_chromiums_own() {
    let (world, site, chromium) =
        (World::new().with_whole_chromium(), FixtureSite::start(), Chromium::whole_with_port());
    let chrome = PortChrome::start(&world, &["--user-data-dir", &profile(&world)]);
    use_page_socket(chromium.port(), "Chromium", &site);
    use_page_socket(chrome.port(), "the shim", &site);
}

#[test]
fn puppeteer_launches_it_by_port_and_by_both_at_once() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let both = ["--arguments", "--remote-debugging-pipe --remote-debugging-port=0"];
    for (tool, more) in [("puppeteer-port", &[][..]), ("puppeteer-pipe", &both[..])] {
        let mut launcher = Launcher::start(&world, tool, more);
        assert!(!launcher.title(&site.page("/plain")).is_empty(), "{tool}");
        let (browser, shims) = (browser(&world), shims(&world));
        launcher.close();
        await_end("the shim", 1, &shims);
        await_end("the browser", 5, &[browser]);
    }
}

/// Connects with auto-attach, as Playwright does.
fn attached_client(chrome: &PortChrome) -> CdpClient {
    let mut client = CdpClient::connect(&chrome.address);
    let auto_attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    client.call("Target.setAutoAttach", auto_attach, None);
    client
}

#[test]
fn the_next_request_restarts_a_lost_browser() {
    let world = World::new().with_whole_chromium();
    world.expect_litter();
    let mut chrome = PortChrome::start(&world, &["--user-data-dir", &profile(&world)]);
    let mut client = attached_client(&chrome);
    let target = client.call("Target.createTarget", json!({"url": "about:blank"}), None)["targetId"].clone();
    let attached =
        client.event("Target.attachedToTarget", |event| event["params"]["targetInfo"]["targetId"] == target);
    let session = attached["params"]["sessionId"].clone();
    client.call("Runtime.runIfWaitingForDebugger", json!({}), session.as_str());
    let pending = client.send(
        "Runtime.evaluate",
        json!({"expression": "new Promise(() => {})", "awaitPromise": true}),
        session.as_str(),
    );
    let first = browser(&world);
    kill(first.pid);
    // The pending command gets an error, and attached sessions are detached.
    let response = client.response(pending);
    assert!(
        response["error"]["message"].as_str().is_some_and(|text| text.contains("BROWSER_GONE")),
        "{response}"
    );
    client.event("Target.detachedFromTarget", |event| event["params"]["sessionId"] == session);
    chrome.degrades(1);
    // `Browser.close` without a browser gets a response from the shim, and starts none.
    assert_eq!(client.call("Browser.close", json!({}), None), json!({}));
    // A started browser would keep running.
    eventually("no browser is there", 5, || world.browser_processes().is_empty());
    assert!(is_running(chrome.pid()));
    // The next request restarts the browser. The shim replays the client's auto-attach before it sends the
    // request.
    let target = client.call("Target.createTarget", json!({"url": "about:blank"}), None)["targetId"].clone();
    let attached =
        client.event("Target.attachedToTarget", |event| event["params"]["targetInfo"]["targetId"] == target);
    assert_eq!(attached["params"]["waitingForDebugger"], true, "{attached}");
    assert_ne!(browser(&world).pid, first.pid);
    assert!(client.unread_events().all(|event| event["id"].as_u64().is_none_or(|id| id < OWN_IDS)));
    let log = chrome.log();
    for field in [
        "runtimeState=\"degraded\"",
        "shortCircuitBrowserClose=true",
        "recoveryAttempt=1",
        "recoveryResult=\"relaunched\"",
        "recoveryBootstrap=\"acknowledged\"",
        "disconnectSignals=",
    ] {
        assert!(log.contains(field), "{field} in {log}");
    }
    // A signal ends the browser first, then the shim.
    let second = browser(&world);
    signal(chrome.pid(), rustix::process::Signal::TERM);
    assert_eq!(chrome.end(), Some(0));
    await_end("the browser", 5, &[second]);
}

#[test]
fn a_shim_survives_a_killed_daemon_and_ends_with_a_lost_browser() {
    let world = World::new().with_whole_chromium();
    world.expect_litter();
    let program = world.home().join("browser");
    std::os::unix::fs::symlink("/usr/bin/chromium", &program).expect("a link");
    let world = world.with("TABWIRE_CHROME_EXECUTABLE", program.to_string_lossy());
    let mut chrome = PortChrome::start(&world, &["--user-data-dir", &profile(&world)]);
    let mut client = attached_client(&chrome);
    kill(world.daemon_pid());
    chrome.degrades(1);
    let found = client.call("Browser.getVersion", json!({}), None);
    assert!(found["product"].as_str().is_some_and(|product| product.contains("Chrome/")), "{found}");
    // Without its program the protocol cannot be fetched. The error says so, and nothing else fails.
    fs::remove_file(&program).expect("ours");
    let (status, body) = ask(chrome.port(), "GET", "/json/protocol", "");
    let failure: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!((status, failure["error"]["message"].is_string()), (500, true), "{failure}");
    client.call("Browser.getVersion", json!({}), None);
    // Another browser cannot be started either.
    kill(browser(&world).pid);
    chrome.degrades(2);
    client.send("Browser.getVersion", json!({}), None);
    assert_eq!(chrome.end(), Some(1));
    let log = chrome.log();
    assert!(log.contains("recoveryResult=\"failed\""), "{log}");
}

#[test]
fn nothing_is_orphaned_on_a_port() {
    let world = World::new().with_whole_chromium();
    world.expect_litter();
    for victim in ["shim", "launcher"] {
        let launcher = Launcher::start(&world, "puppeteer-port", &[]);
        let (browser, shims) = (browser(&world), shims(&world));
        kill(if victim == "launcher" { launcher.pid() } else { shims[0].pid });
        await_end(&format!("the shim after its {victim}"), ORPHAN_SECONDS, &shims);
        await_end(&format!("the browser after its {victim}"), ORPHAN_SECONDS, &[browser]);
    }
}

#[test]
fn launchers_on_one_profile_share_one_browser() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let directory = profile(&world);
    let mut first = Launcher::start(&world, "playwright-persistent", &["--profile", &directory]);
    first.title(&site.page("/plain"));
    let only = browser(&world);
    let mut second = Launcher::start(&world, "puppeteer-pipe", &["--profile", &directory]);
    second.title(&site.page("/plain"));
    assert_eq!(world.browsers().len(), 1, "one browser serves both");
    // A headed browser does not serve a headless launcher.
    let headed = world.run(&["chrome", "--remote-debugging-port=0", "--user-data-dir", &directory]);
    assert_eq!(headed.code, 1);
    assert!(
        headed.stderr.contains("without a window") && headed.stderr.contains("PROFILE_LOCKED"),
        "{headed:?}"
    );
    // When the first launcher leaves, the other keeps the browser.
    first.close();
    assert!(is_running(only.pid));
    assert_eq!(second.command(&json!({"eval": "6 * 7"})), json!({"value": 42}));
    second.close();
    await_end("the browser", 5, &[only]);
}

#[test]
fn a_running_browser_is_used_and_left_running() {
    let (world, chromium) = (World::new().with_whole_chromium(), Chromium::whole_with_port());
    let directory = chromium.profile().to_string_lossy().into_owned();
    let active = fs::read_to_string(chromium.profile().join("DevToolsActivePort")).expect("it is there");
    let mut chrome = PortChrome::start(&world, &["--user-data-dir", &directory]);
    let own_port = active.lines().next().expect("a port");
    let log = chrome.log();
    assert!(log.contains("ownership=attached"), "{log}");
    assert!(log.contains(&format!("resolvedDebugPort={own_port}")), "{log}");
    // The attached browser's own port provides the protocol; no browser is started.
    let response = ask(chrome.port(), "GET", "/json/protocol", "");
    assert!(response == ask(chromium.port(), "GET", "/json/protocol", ""), "{}", response.1.len());
    assert!(!protocols(&world).exists());
    let mut client = CdpClient::connect(&chrome.address);
    client.call("Browser.close", json!({}), None);
    assert_eq!(chrome.end(), Some(0));
    assert!(TcpStream::connect(("127.0.0.1", own_port.parse::<u16>().expect("a port"))).is_ok());
    let now = fs::read_to_string(chromium.profile().join("DevToolsActivePort")).expect("it is there");
    assert_eq!(now, active, "the other browser's file is unchanged");
}

#[test]
fn p9_a_taken_port_is_replaced_by_a_free_one_with_a_note() {
    let world = World::new().with_whole_chromium();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("bound").port();
    let chrome = PortChrome::start(&world, &[&format!("--remote-debugging-port={port}")]);
    assert_ne!(chrome.port(), port);
    assert!(chrome.said.iter().any(|line| line.contains(&format!("127.0.0.1:{port}"))), "{:?}", chrome.said);
    assert!(chrome.json("/json/version")["Browser"].is_string());
}

#[test]
fn p4_dangerous_flags_are_dropped_unless_they_are_allowed() {
    let world = World::new().with_whole_chromium();
    let chrome = PortChrome::start(&world, &["--disable-web-security", "--profile-directory=Default"]);
    let command = browser(&world).command;
    assert!(
        !command.contains("--disable-web-security") && !command.contains("--profile-directory"),
        "{command}"
    );
    drop(chrome);
    // Flags that run programs stay refused.
    let flags = ["chrome", "--headless", "--remote-debugging-port=0", "--renderer-cmd-prefix=xterm"];
    let refused = world.run(&flags);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("--renderer-cmd-prefix"), "{refused:?}");
    let world = World::new().with_whole_chromium();
    let world = world.with("TABWIRE_CHROME_DANGEROUS", "1");
    let chrome = PortChrome::start(&world, &["--disable-web-security"]);
    assert!(browser(&world).command.contains("--disable-web-security"));
    drop(chrome);
}
