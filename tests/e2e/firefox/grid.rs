//! A Firefox of a Selenium Grid: a fake Grid in front of the WebDriver session of a real Firefox.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;

use serde_json::{Value, json};

use crate::support::fixture_site::FixtureSite;
use crate::support::http_server::{Response, TinyServer};
use crate::support::wait::find_eventually;
use crate::support::world::World;

/// A Firefox with a WebDriver session, as a node of a Grid has it.
struct Node {
    process: Child,
    /// The session lives as long as this connection.
    _marionette: TcpStream,
    websocket: String,
}

impl Node {
    fn start(world: &World) -> Self {
        let profile = world.home().join("user/node");
        fs::create_dir(&profile).expect("a directory");
        let preferences = "user_pref(\"marionette.port\", 0);\nuser_pref(\"remote.active-protocols\", 1);\n";
        fs::write(profile.join("user.js"), preferences).expect("written");
        let folder = profile.to_str().expect("text");
        let words =
            ["--headless", "--marionette", "--remote-debugging-port=0", "--no-remote", "--profile", folder];
        let process = world.command("firefox-esr", &words).spawn();
        let process = process.unwrap_or_else(|error| panic!("Firefox: {error}; run `cargo xtask setup`"));
        let mut marionette = connect(&profile);
        let mut reader = BufReader::new(marionette.try_clone().expect("a stream"));
        read(&mut reader);
        let body = json!([0, 1, "WebDriver:NewSession", {"webSocketUrl": true}]).to_string();
        marionette.write_all(format!("{}:{body}", body.len()).as_bytes()).expect("sent");
        let made = read(&mut reader);
        let websocket = made.pointer("/3/capabilities/webSocketUrl").and_then(Value::as_str);
        let websocket = websocket.unwrap_or_else(|| panic!("no session: {made}")).to_owned();
        Self { process, _marionette: marionette, websocket }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn connect(profile: &Path) -> TcpStream {
    let stream = find_eventually(60, || {
        let port: u16 = fs::read_to_string(profile.join("MarionetteActivePort")).ok()?.trim().parse().ok()?;
        TcpStream::connect(("127.0.0.1", port)).ok()
    });
    stream.expect("Firefox listens")
}

/// A message of Marionette: its length, a colon, JSON.
fn read(reader: &mut BufReader<TcpStream>) -> Value {
    let mut length = Vec::new();
    reader.read_until(b':', &mut length).expect("a message");
    length.pop();
    let length: usize = String::from_utf8(length).expect("text").parse().expect("a length");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a whole message");
    serde_json::from_slice(&body).expect("JSON")
}

#[test]
fn a_firefox_of_a_grid_is_driven_and_released() {
    let (world, site) = (World::new(), FixtureSite::start());
    let node = Node::start(&world);
    let websocket = node.websocket.clone();
    let grid = TinyServer::start("127.0.0.1:0", move |request| {
        let value = match request.path.as_str() {
            "/session" => json!({"sessionId": "s1", "capabilities": {
                "browserName": "firefox", "browserVersion": "153.0", "userAgent": "agent",
                "webSocketUrl": websocket,
            }}),
            "/status" => json!({"ready": true, "message": "", "nodes": []}),
            _ => Value::Null,
        };
        Response::of("application/json", json!({"value": value}).to_string().into_bytes())
    });
    let url = grid.url("127.0.0.1", "");
    world.open(&["--grid", &url, "--browser", "firefox", &site.page("/plain")]);
    world.run(&["click", "#count"]).succeeded();
    assert_eq!(world.eval("document.title"), "Plain page");
    let status = world.json(&["session", "status"])["result"].clone();
    assert_eq!(status["ownership"], "rented", "{status}");
    assert_eq!(status["browser_version"], "firefox 153.0", "{status}");
    assert!(status["gaps"].to_string().contains("traces"), "{status}");
    assert_eq!(world.run(&["--json", "cdp-url"]).failure().0, "UNSUPPORTED_HERE");
    world.run(&["close"]).succeeded();
    assert_eq!(grid.visits("127.0.0.1/session/s1"), 1, "it was released");
    let both = ["--json", "session", "start", "--grid", &url, "--browser", "brave"];
    assert_eq!(world.run(&both).failure().0, "BAD_ARGS");
    drop(node);
}
