//! A page that tells more than its line takes: what the extension does when nobody reads for a while. The daemon is
//! stood in for by a program that knows the key and reads when it likes.

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};
use tabwire_extension::proof::{Greeting, PairingKey, Side};

use crate::cdp_client::CdpClient;
use crate::chromium::Chromium;
use crate::fixture_site::FixtureSite;
use crate::own_browser::{await_connected, leave_handshake, own_browser};
use crate::squatter::{Squatted, take_visitor};
use crate::waiting::{eventually, find_eventually};
use crate::world::World;

/// Lines that are logged, and how long each is: in all more than the sockets and the first bound take.
const LINES: u64 = 160;
const LINE_BYTES: u64 = 100_000;

/// Requests that are made then.
const REQUESTS: usize = 100;

/// A daemon that has shown what it has to, and nothing more.
struct Reader {
    line: Squatted,
    last: u64,
}

impl Reader {
    /// Takes the extension in; gives also how its browser stands.
    fn greet(listener: &TcpListener, key: &str) -> (Self, Value) {
        let key = PairingKey::find(key.trim()).expect("a key");
        let mut line = take_visitor(listener);
        let hello = line.next().expect("a greeting")["hello"].take();
        let text = |name: &str| hello[name].as_str().expect("a text");
        let daemon_nonce = "0f".repeat(32);
        let greeting = Greeting {
            install: text("install"),
            extension_nonce: text("nonce"),
            daemon_nonce: &daemon_nonce,
        };
        let proof = key.proof(Side::Daemon, &greeting);
        line.say(&json!({"challenge": {"nonce": daemon_nonce, "proof": proof}}));
        let shown = line.next().expect("a proof");
        assert!(key.is_proved(Side::Extension, &greeting, shown["proof"].as_str().expect("a text")));
        line.say(&json!({"welcome": {"version": "0.0.0"}}));
        let present = line.next().expect("how it stands");
        (Self { line, last: 0 }, present["with"].clone())
    }

    fn ask(&mut self, name: &str, with: &Value) -> u64 {
        self.last += 1;
        self.line.say(&json!({"id": self.last, "do": name, "with": with}));
        self.last
    }

    /// Reads up to an answer; gives all that was read, that answer last.
    fn read_to(&mut self, id: u64) -> Vec<Value> {
        let mut read = Vec::new();
        loop {
            let message = self.line.next().expect("the extension stays");
            let is_it = message["id"] == id;
            read.push(message);
            if is_it {
                return read;
            }
        }
    }

    fn call(&mut self, name: &str, with: &Value) -> Value {
        let id = self.ask(name, with);
        let mut answer = self.read_to(id).pop().expect("an answer");
        assert!(answer.get("ok").is_some(), "{name}: {answer}");
        answer["ok"].take()
    }
}

fn command(tab: &Value, method: &str, params: &Value) -> Value {
    json!({"tab": tab, "method": method, "params": params})
}

/// The user's own look at the page.
fn look_at(browser: &Chromium, url: &str) -> (CdpClient, String) {
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

/// The number of a line that was logged.
fn line_of(message: &Value) -> Option<u64> {
    let text = message.pointer("/params/args/0/value")?.as_str()?;
    text.strip_prefix("flood ")?.parse().ok()
}

#[test]
fn f13_answers_overtake_events_that_wait_and_only_what_nothing_is_built_on_is_left_out() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = own_browser(&world);
    await_connected(&world);
    let url = site.page("/flood");
    world.open(&["--upstream", "extension", "--policy", "open", &url]);
    world.run(&["daemon", "stop"]).succeeded();
    let handshake = world.runtime().join("handshake.json");
    eventually("the daemon's file is gone", 10, || !handshake.exists());
    let key = fs::read_to_string(world.home().join("state/extension-key")).expect("a key");
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let stale = leave_handshake(&world, listener.local_addr().expect("an address").port());
    let (mut reader, present) = Reader::greet(&listener, &key);
    let tabs = present["tabs"].as_array().expect("a list");
    let tab = tabs.iter().find(|tab| tab["url"] == url.as_str()).expect("the page")["tab"].clone();
    let (mut user, page) = look_at(&browser, &url);

    reader.call("attach", &json!({"tab": tab}));
    for method in ["Runtime.enable", "Network.enable"] {
        reader.call("send", &command(&tab, method, &json!({})));
    }
    // Nobody reads from here on, and the page does not stop for that.
    let flood = format!(
        "(async () => {{
            await window.flood({{lines: {LINES}, bytes: {LINE_BYTES}}});
            for (let sent = 0; sent < {REQUESTS}; sent += 1) await (await fetch(`/api/echo?value=${{sent}}`)).text();
        }})()"
    );
    user.evaluate(&flood, &page);
    let asked = reader.ask("send", &command(&tab, "Runtime.evaluate", &json!({"expression": "6 * 7"})));
    let settled = reader.ask("settle", &json!({"tab": tab}));
    let read = reader.read_to(settled);
    let answer = read.iter().position(|message| message["id"] == asked).expect("an answer");
    assert_eq!(read[answer]["ok"]["result"]["value"], 42);
    let lines: Vec<u64> = read.iter().filter_map(line_of).collect();
    assert_eq!(lines, (0..LINES).collect::<Vec<_>>(), "every event is told, in order");
    let behind = read[answer..].iter().filter_map(line_of).count();
    assert!(behind > 20, "the answer went before {behind} events that are older than it");
    for method in ["Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished"] {
        assert_eq!(count(&read, method), REQUESTS, "{method}");
    }
    // A request is told of by one of these or more.
    let told = count(&read, "Network.dataReceived");
    let left_out = find_eventually(10, || reader.line.next()?["with"]["left_out"].as_u64());
    assert!(told < REQUESTS, "nothing had to be left out");
    assert!(left_out >= Some((REQUESTS - told) as u64), "{left_out:?} were counted, {told} told");
    fs::remove_file(stale).expect("it was there");
}
