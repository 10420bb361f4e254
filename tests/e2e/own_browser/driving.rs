//! A Chromium that Tabwire did not start, driven through the extension and paired through the native host.

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::fixture_site::FixtureSite;
use crate::support::rogue_daemon::accept_extension;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

/// A browser with the extension, and the native host registered in its profile.
pub(crate) fn own_browser(world: &World) -> Chromium {
    Chromium::with_extension(|profile| install_into(world, profile))
}

/// Registers the native host in a profile; returns the extension's directory.
pub(crate) fn install_into(world: &World, profile: &Path) -> PathBuf {
    let profile = format!("{}/", profile.display());
    let installed = world.json(&["extension", "install", "--browser", &profile, "--wait", "0s"]);
    PathBuf::from(installed["path"].as_str().expect("a folder"))
}

pub(crate) fn connected(world: &World) -> Vec<Value> {
    let status = world.json(&["extension", "status"]);
    status["connected"].as_array().cloned().expect("a list")
}

pub(crate) fn await_connected(world: &World) -> Value {
    find_eventually(40, || connected(world).first().cloned()).expect("the extension connects")
}

/// The port of this world's daemon.
pub(crate) fn daemon_port(world: &World) -> u16 {
    let status = world.find_status().expect("a daemon runs");
    status["port"].as_u64().and_then(|port| u16::try_from(port).ok()).expect("a port")
}

#[test]
fn the_users_own_browser_is_driven_through_its_extension() {
    let site = FixtureSite::start();
    let world = World::new();
    let mut browser = own_browser(&world);
    let paired = await_connected(&world);
    assert_eq!(paired["browser"], "Chromium");

    let page = site.page("/frames");
    let mut guarded = world.start(&["--json", "open", "--upstream", "extension", &page]);
    let asked =
        find_eventually(20, || world.json(&["approvals"])["pending"][0]["id"].as_str().map(str::to_owned));
    let asked = asked.expect("nothing is granted in the user's own browser, and the user is asked");
    // The waiting command says where to answer, and for how long.
    let stderr = BufReader::new(guarded.stderr.take().expect("piped"));
    let said = stderr.lines().map_while(Result::ok).find(|line| line.contains("for an approval"));
    let said = said.expect("a notice before the end");
    assert!(
        said.contains(" s for") && said.contains("the popup") && said.contains("`tabwire approvals`"),
        "{said}"
    );
    world.run(&["approvals", "answer", &asked, "no", "--without-terminal"]).succeeded();
    let refused = guarded.wait_with_output().expect("it ends");
    let refused_text = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert_eq!(refused.status.code(), Some(3), "{refused_text}");
    assert!(refused_text.contains("POLICY_DENIED"), "{refused_text}");
    world.run(&["close"]);

    let open = ["--upstream", "extension", "--policy", "open"];
    let tab = world.open(&[&open[..], &[&site.page("/frames")]].concat());
    assert!(tab.starts_with("extension:"), "{tab}");
    let status = world.json(&["status"]);
    assert_eq!(status["sessions"][0]["upstream"], "extension");
    assert_eq!(status["sessions"][0]["ownership"], "attached");

    // Three levels of frames, each of another site and so in its own process.
    let snapshot = world.run(&["snapshot"]).succeeded();
    for level in ["outer", "middle", "inner"] {
        assert!(snapshot.stdout.contains(&format!("\"{level}\"")), "{level}: {}", snapshot.stdout);
    }
    let (_, button) = snapshot.stdout.split_once("button \"Press\" [").expect("the button");
    let (reference, _) = button.split_once(']').expect("a ref");
    world.run(&["click", reference]).succeeded();
    let snapshot = world.run(&["snapshot"]).succeeded();
    assert!(snapshot.stdout.contains("status \"1\""), "{}", snapshot.stdout);

    // The user's own tab is not listed; a popup of a shared tab is shared too.
    world.run(&["open", &site.page("/popup")]).succeeded();
    world.run(&["click", "text=With opener"]).succeeded();
    let shown = find_eventually(10, || {
        let tabs = world.json(&["tabs"])["result"]["tabs"].as_array().cloned().unwrap_or_default();
        let is_popup = |tab: &Value| tab["url"].as_str().is_some_and(|url| url.contains("/popup"));
        (tabs.len() == 2 && tabs.iter().all(is_popup)).then_some(())
    });
    assert!(shown.is_some(), "{}", world.run(&["tabs"]).stdout);

    let closed = world.run(&["close"]).succeeded();
    assert!(closed.stdout.contains("left running"), "{closed:?}");
    assert!(browser.is_running());
}

#[test]
fn f04_a_restarted_worker_attaches_to_its_tabs_again() {
    let site = FixtureSite::start();
    let world = World::new();
    let browser = own_browser(&world);
    await_connected(&world);
    let tab = world.open(&["--upstream", "extension", "--policy", "open", &site.page("/plain")]);
    world.eval("window.kept = 42");

    let mut client = CdpClient::connect(&browser.websocket());
    let targets = client.call("Target.getTargets", json!({}), None);
    let page = targets["targetInfos"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|target| target["url"].as_str().is_some_and(|url| url.contains("/plain")))
        .expect("the tab that was opened");
    let session = client.attach(page["targetId"].as_str().expect("an id"));
    client.call("ServiceWorker.enable", json!({}), Some(&session));
    client.call("ServiceWorker.stopAllWorkers", json!({}), Some(&session));
    // Reported at once, and no other browser is used. A command that ran when the connection broke has an
    // unknown outcome.
    let away = find_eventually(10, || {
        let outcome = world.run(&["--json", "eval", "1"]);
        (outcome.code != 0).then(|| outcome.failure().0).filter(|code| code != "OUTCOME_UNKNOWN")
    });
    assert_eq!(away.as_deref(), Some("EXTENSION_DISCONNECTED"));
    // Any event of an attached page starts the worker.
    client.evaluate("console.log('wake')", &session);
    eventually("the tab is attached again", 40, || world.run(&["eval", "1"]).code == 0);
    assert_eq!(world.eval("window.kept"), "42", "the page was not loaded again");
    assert_eq!(world.json(&["tabs"])["result"]["tabs"][0]["tab"], tab.as_str(), "and keeps its id");
    world.run(&["close"]).succeeded();
}

#[test]
fn t13_a_rogue_daemon_learns_nothing_and_old_keys_are_refused() {
    let world = World::new();
    let _browser = own_browser(&world);
    await_connected(&world);
    let key = world.home().join("state/extension-key");
    let before = fs::read_to_string(&key).expect("a key");
    assert_eq!(fs::metadata(&key).expect("a file").permissions().mode() & 0o777, 0o600);

    let rotated = world.json(&["extension", "rotate"]);
    assert_eq!(rotated["dismissed"], 1);
    let after = fs::read_to_string(&key).expect("a key");
    assert_ne!(before, after);
    await_connected(&world);

    check_other_origins(daemon_port(&world));

    // Another program takes the port of a dead daemon and poses as the daemon.
    world.run(&["daemon", "stop"]).succeeded();
    let handshake = world.runtime().join("handshake.json");
    eventually("the daemon's file is gone", 10, || !handshake.exists());
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let stale = leave_handshake(&world, listener.local_addr().expect("an address").port());
    let mut visitor = accept_extension(&listener);
    assert!(visitor.head.to_ascii_lowercase().contains("origin: chrome-extension://"), "{}", visitor.head);
    let hello = visitor.next().expect("a greeting");
    visitor.say(&json!({"challenge": {"nonce": "00".repeat(32), "proof": "00".repeat(32)}}));
    let said = visitor.listen_to_the_end();
    assert_eq!(said, Vec::<Value>::new(), "nothing more is sent without a valid proof");
    let greeting = hello.to_string();
    for secret in [before.trim(), after.trim(), "tabs", "about:blank"] {
        assert!(!greeting.contains(secret), "{greeting}");
    }
    fs::remove_file(stale).expect("it was there");
}

/// Leaves the handshake of a dead daemon, with a port that another program uses now.
pub(crate) fn leave_handshake(world: &World, port: u16) -> PathBuf {
    let path = world.runtime().join("handshake.json");
    let content = json!({
        "version": env!("CARGO_PKG_VERSION"), "instance": "dead", "pid": 1, "port": port, "token": "00".repeat(32),
    });
    fs::write(&path, content.to_string()).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("protected");
    path
}

/// Other extensions, other schemes and connections without an Origin are refused before any response (T05).
pub(crate) fn check_other_origins(port: u16) {
    for origin in [
        Some("chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        Some("https://evil.test"),
        Some("null"),
        None,
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the daemon listens");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a deadline");
        let origin = origin.map(|origin| format!("Origin: {origin}\r\n")).unwrap_or_default();
        let request = format!(
            "GET /extension HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{origin}Upgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("the daemon reads");
        let mut head = [0; 12];
        stream.read_exact(&mut head).expect("a response");
        let status = String::from_utf8_lossy(&head).into_owned();
        assert!(status == "HTTP/1.1 401" || status == "HTTP/1.1 403", "{origin}{status}");
    }
}
