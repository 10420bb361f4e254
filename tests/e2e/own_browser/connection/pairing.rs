//! Extension pairing: overheard proofs, version differences, second connections. The test acts as the
//! extension.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_extension::link_message::Purpose;
use tabwire_extension::package::extension_origin;
use tabwire_extension::proof::{Handshake, PairingKey, Side};

use crate::own_browser::driving::{connected, daemon_port};
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

/// How long the daemon may take for its next message.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A fake extension with one connection to the daemon.
struct FakeExtension {
    line: CdpClient,
    hello: Value,
    proof: String,
}

/// The daemon's next message; `None` when it closed the connection.
fn heard(line: &mut CdpClient) -> Option<Value> {
    line.read_message(Instant::now() + TIMEOUT).unwrap_or_default()
}

/// Connects and sends the hello; returns the daemon's nonce and proof.
fn dial(port: u16, hello: &Value) -> (CdpClient, String, String) {
    let address = format!("ws://127.0.0.1:{port}/extension");
    let mut line = CdpClient::connect_as(&address, Some(&extension_origin()));
    line.say(&json!({"hello": hello}));
    let challenge = heard(&mut line).expect("a challenge")["challenge"].clone();
    let text = |name: &str| challenge[name].as_str().expect("a text").to_owned();
    (line, text("nonce"), text("proof"))
}

fn hello(install: &str, protocol: u32) -> Value {
    let browser = json!({"product": "Chrome/156.0.0.0", "name": "Played", "agent": "played"});
    json!({"protocol": protocol, "version": "0.0.9", "install": install, "nonce": "5".repeat(64), "browser": browser})
}

fn present(run: &str) -> Value {
    json!({"event": "state", "data": {"run": run, "mode": "shared", "paused": false, "tabs": [], "attached": []}})
}

/// Performs the handshake with the key up to the proof; returns the connection.
fn greet(port: u16, key: &str, hello: Value) -> FakeExtension {
    let (mut line, nonce, shown) = dial(port, &hello);
    let key = PairingKey::find(key).expect("a key");
    let text = |name: &str| hello[name].as_str().expect("a text");
    let purpose = if hello["purpose"] == "panel" { Purpose::Panel } else { Purpose::Browser };
    let (install, extension_nonce) = (text("install"), text("nonce"));
    let greeting = Handshake { install, extension_nonce, daemon_nonce: &nonce, purpose };
    assert!(key.verify(Side::Daemon, &greeting, &shown), "the daemon shows first that it knows the key");
    let proof = key.proof(Side::Extension, &greeting);
    line.say(&json!({"proof": proof}));
    FakeExtension { line, hello, proof }
}

fn pair(port: u16, key: &str, install: &str) -> FakeExtension {
    let mut played = greet(port, key, hello(install, 1));
    let welcome = heard(&mut played.line).expect("a welcome");
    assert!(welcome["welcome"]["version"].is_string(), "{welcome}");
    played.line.say(&present("00112233445566778899aabbccddeeff"));
    played
}

fn installs(world: &World) -> Vec<String> {
    connected(world).iter().map(|one| one["install"].as_str().expect("an install").to_owned()).collect()
}

fn ready(world: &World) -> (u16, String) {
    let profile = format!("{}/profile/", world.home().display());
    world.json(&["extension", "install", "--browser", &profile, "--wait", "0s"]);
    let key = fs::read_to_string(world.home().join("state/extension-key")).expect("a key");
    (daemon_port(world), key.trim().to_owned())
}

#[test]
fn t42_an_overheard_proof_is_useless_and_takeover_needs_a_new_one() {
    let world = World::new();
    let (port, key) = ready(&world);
    let (one, other) = ("a".repeat(32), "b".repeat(32));
    let mut first = pair(port, &key, &one);
    eventually("it is there", 10, || installs(&world) == [one.as_str()]);
    assert_eq!(heard(&mut first.line).expect("a notification")["notify"], "state");

    // A replay of the same messages fails: the daemon's nonce differs, and the first connection stays.
    let (mut replayed, ..) = dial(port, &first.hello);
    replayed.say(&json!({"proof": first.proof}));
    assert_eq!(heard(&mut replayed), None, "a replayed proof is refused");
    let made_up = PairingKey::find(&"7".repeat(64)).expect("a key");
    let (mut stranger, nonce, _) = dial(port, &first.hello);
    let extension_nonce = first.hello["nonce"].as_str().expect("a nonce");
    let purpose = Purpose::Browser;
    let greeting = Handshake { install: &one, extension_nonce, daemon_nonce: &nonce, purpose };
    stranger.say(&json!({"proof": made_up.proof(Side::Extension, &greeting)}));
    assert_eq!(heard(&mut stranger), None, "another key is refused");
    world.run(&["allow", "https://a.test", "--without-terminal"]).succeeded();
    let notification = heard(&mut first.line).expect("the first line is there as before");
    assert!(notification["data"]["grants"].to_string().contains("https://a.test"), "{notification}");

    // The same install with a valid proof replaces the connection; another install is a second browser.
    let mut second = pair(port, &key, &one);
    assert_eq!(heard(&mut second.line).expect("a notification")["notify"], "state");
    let closed = std::iter::from_fn(|| heard(&mut first.line)).take(10).count();
    assert!(closed < 10, "the earlier line is closed");
    let _third = pair(port, &key, &other);
    eventually("both are there", 10, || installs(&world) == [one.as_str(), other.as_str()]);
    let which = world.run(&["--json", "open", "--upstream", "extension", "about:blank"]);
    assert_eq!(which.failure().0, "BAD_ARGS", "{which:?}");
    assert!(which.stdout.contains("aaaaaaaa") && which.stdout.contains("bbbbbbbb"), "{which:?}");
}

#[test]
fn t42_a_panel_proves_its_purpose_and_replaces_no_browser() {
    let world = World::new();
    let (port, key) = ready(&world);
    let install = "a".repeat(32);
    let mut first = pair(port, &key, &install);
    assert_eq!(heard(&mut first.line).expect("a notification")["notify"], "state");

    let mut as_panel = hello(&install, 1);
    as_panel["purpose"] = json!("panel");
    let mut panel = greet(port, &key, as_panel.clone());
    assert!(heard(&mut panel.line).expect("a message")["welcome"].is_object());
    // The agents come when their programs have answered.
    let mut lists: Vec<_> = (0..3)
        .map(|_| heard(&mut panel.line).expect("a message")["type"].as_str().unwrap_or_default().to_owned())
        .collect();
    lists.sort();
    assert_eq!(lists, ["agents", "chats", "questions"]);
    // A proof for the other purpose is no proof.
    let (mut mixed, nonce, _) = dial(port, &as_panel);
    let extension_nonce = as_panel["nonce"].as_str().expect("a nonce");
    let greeting =
        Handshake { install: &install, extension_nonce, daemon_nonce: &nonce, purpose: Purpose::Browser };
    let proof = PairingKey::find(&key).expect("a key").proof(Side::Extension, &greeting);
    mixed.say(&json!({"proof": proof}));
    assert_eq!(heard(&mut mixed), None, "a proof of a browser");
    let mut unknown = hello(&install, 1);
    unknown["purpose"] = json!("everything");
    let mut line =
        CdpClient::connect_as(&format!("ws://127.0.0.1:{port}/extension"), Some(&extension_origin()));
    line.say(&json!({"hello": unknown}));
    assert_eq!(heard(&mut line), None, "an unknown purpose");

    // What a panel may not send is refused, and the connection stays.
    for request in [
        json!({"name": "chat.say", "chat": "../../etc", "text": "x"}),
        json!({"name": "chat.open", "chat": "0123456789ab"}),
        json!({"name": "chat.new", "agent": "sh"}),
        json!({"name": "chat.screenshot", "chat": "0123456789ab", "number": 1}),
        json!({"name": "chat.export", "chat": "../../etc/passwd"}),
        json!({"name": "chat.retry", "chat": "0123456789ab"}),
        json!({"name": "chat.say", "chat": "0123456789ab", "text": "x", "directory": "/"}),
        json!({"name": "policy_allow", "site": "*"}),
        json!({"name": "answer", "question": "a1", "choice": "always"}),
        json!("chat.list"),
    ] {
        panel.line.say(&json!({"id": 7, "request": request}));
        let response = heard(&mut panel.line).expect("a response");
        assert!(response["id"] == 7 && response["error"]["message"].is_string(), "{request}: {response}");
    }
    // The browser of the same install stays, and sends no tabs over the panel's line.
    panel.line.say(&present("00112233445566778899aabbccddeeff"));
    world.run(&["allow", "https://a.test", "--without-terminal"]).succeeded();
    let notification = heard(&mut first.line).expect("the browser's line is there as before");
    assert!(notification["data"]["grants"].to_string().contains("https://a.test"), "{notification}");
    assert_eq!(installs(&world), [install.as_str()]);

    // A new key ends panels too.
    world.json(&["extension", "rotate"]);
    let left = std::iter::from_fn(|| heard(&mut panel.line)).take(10).count();
    assert!(left < 10, "the panel is closed");
}

#[test]
fn f40_another_protocol_version_is_reported_after_authentication() {
    let site = FixtureSite::start();
    let world = World::new();
    let (port, key) = ready(&world);
    let mut newer = greet(port, &key, hello(&"c".repeat(32), 99));
    let rejection = heard(&mut newer.line).expect("a message")["rejected"].clone();
    assert_eq!(rejection["code"], "VERSION_MISMATCH", "{rejection}");
    assert!(
        rejection["message"].as_str().is_some_and(|text| text.contains("extension install")),
        "{rejection}"
    );
    assert_eq!(heard(&mut newer.line), None);
    let (mut stranger, ..) = dial(port, &hello(&"c".repeat(32), 99));
    stranger.say(&json!({"proof": "00".repeat(32)}));
    assert_eq!(heard(&mut stranger), None, "an extension without the key gets no message");
    assert_eq!(installs(&world), [""; 0]);

    // Another version of the same protocol works, and the difference is reported.
    let _silent = pair(port, &key, &"d".repeat(32));
    eventually("it is there", 10, || installs(&world).len() == 1);
    let status = world.run(&["extension", "status"]).succeeded().stdout;
    assert!(status.contains("version 0.0.9") && status.contains("reload"), "{status}");
    // A connected extension that does not respond is detected by a request, not by waiting.
    let began = Instant::now();
    let tab = world.open(&["--upstream", "auto", &site.page("/plain")]);
    assert!(tab.starts_with("pipe:"), "{tab}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

/// A tab as an extension reports it.
fn tab() -> Value {
    let target = "F".repeat(32);
    json!({"tab": 7, "target": target, "url": "https://a.test/", "title": "Held", "loaded": true})
}

#[test]
fn f09_a_tab_held_by_another_debugger_is_reported() {
    let world = World::new();
    let (port, key) = ready(&world);
    let mut played = greet(port, &key, hello(&"e".repeat(32), 1));
    heard(&mut played.line).expect("a welcome");
    played.line.say(&present("00112233445566778899aabbccddeeff"));
    eventually("it is there", 10, || installs(&world).len() == 1);
    let arguments = ["--json", "eval", "1", "--upstream", "extension", "--policy", "open"];
    let mut running = world.start(&arguments);
    let mut attached = 0;
    // The extension translates Chrome's error to this code.
    let held = json!({"code": "DEVTOOLS_OPEN", "message": "Another debugger is attached to this tab."});
    while running.try_wait().expect("our own child").is_none() {
        let asked = played.line.read_message(Instant::now() + Duration::from_millis(100));
        let Some(asked) = asked.expect("the daemon is there") else { continue };
        let id = asked["id"].clone();
        match asked["command"].as_str() {
            Some("attach") => {
                attached += 1;
                played.line.say(&json!({"id": id, "error": held}));
            }
            // The session opens a tab of its own.
            Some("open") => played.line.say(&json!({"id": id, "result": tab()})),
            Some(_) => played.line.say(&json!({"id": id, "result": {}})),
            None => {}
        }
    }
    let output = wait(running, &arguments);
    assert_eq!(output.failure(), ("DEVTOOLS_OPEN".to_owned(), 1), "{output:?}");
    assert!(
        output.json()["error"]["hint"].as_str().is_some_and(|hint| hint.contains("other debugger")),
        "{output:?}"
    );
    assert!(attached <= 2, "each attach is requested once: {attached}");
}

#[test]
fn t43_the_native_host_is_registered_only_where_requested() {
    let world = World::new();
    let config = world.home().join("user/.config");
    for browser in ["google-chrome", "chromium", "microsoft-edge"] {
        fs::create_dir_all(config.join(browser)).expect("a browser's data");
    }
    let inventory = || {
        let mut found: Vec<String> = Vec::new();
        let mut folders = vec![config.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(&config).expect("below").display().to_string());
                }
            }
        }
        found
    };
    assert_eq!(inventory(), [""; 0]);
    world.json(&["extension", "install", "--browser", "chromium", "--wait", "0s"]);
    let file = "chromium/NativeMessagingHosts/dev.tabwire.host.json";
    assert_eq!(inventory(), [file]);
    let text = fs::read_to_string(config.join(file)).expect("a file");
    let registered: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(registered["allowed_origins"], json!([format!("{}/", extension_origin())]));
    world.run(&["extension", "uninstall"]).succeeded();
    assert_eq!(inventory(), [""; 0]);
    assert_eq!(world.run(&["--json", "extension", "path"]).failure().0, "NO_BACKEND");
}
