//! Chats with a fake agent: the real daemon, command line and browser.

mod faults;
mod lasting;
pub(crate) mod real;
mod real_faults;
pub(crate) mod records;
mod terminal;
mod turns;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_client::{RequestError, request_within};

use crate::support::wait::{eventually, find_eventually};
use crate::support::world::{Outcome, World, testkit_program, wait};

/// A world in which the fake agent is installed under a name, with faults.
pub(crate) fn world_with(program: &str, faults: &str) -> World {
    let world = World::new();
    let programs = world.home().join("programs");
    std::fs::create_dir(&programs).expect("a directory");
    symlink(testkit_program("fake-agent"), programs.join(program)).expect("a link");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    world.with("PATH", path).with("TABWIRE_FAKE_AGENT", faults)
}

/// Chats from a pipe.
fn chat(world: &World, arguments: &[&str], lines: &str) -> Outcome {
    let mut child = world
        .command(env!("CARGO_BIN_EXE_tabwire"), &[&["chat"], arguments].concat())
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    child.stdin.take().expect("piped").write_all(lines.as_bytes()).expect("written");
    wait(child, arguments)
}

/// Sends a request to the daemon.
pub(crate) fn send(world: &World, method: &str, path: &str, body: &Value) -> Result<Value, String> {
    let body = (method == "POST").then_some(body);
    match request_within(&world.socket(), method, path, body, Duration::from_secs(30)) {
        Ok(value) => Ok(value),
        Err(RequestError::Failed(failure)) => Err(failure.message),
        Err(other) => panic!("{other:?}"),
    }
}

/// Sends a request to the daemon's port, with its token.
fn post_to_port(world: &World, path: &str, body: &Value) -> String {
    let handshake = std::fs::read_to_string(world.runtime().join("handshake.json")).expect("the handshake");
    let token = serde_json::from_str::<Value>(&handshake).expect("JSON")["token"].clone();
    let (token, body) = (token.as_str().expect("a token"), body.to_string());
    let address = format!("127.0.0.1:{}", world.find_status().expect("a daemon")["port"]);
    let mut stream = TcpStream::connect(&address).expect("listens");
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    response
}

/// Starts a chat over HTTP with a first message; returns its path.
fn start(world: &World, text: &str) -> String {
    world.run(&["daemon", "start"]).succeeded();
    let chat = send(world, "POST", "/v1/chats", &json!({"text": text})).expect("a chat");
    format!("/v1/chats/{}", chat["id"].as_str().expect("an id"))
}

/// Waits until an item of the chat fulfils a condition.
fn find_item(world: &World, path: &str, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let found = find_eventually(40, || {
        let chat = send(world, "GET", path, &Value::Null).expect("the chat");
        let items = chat["items"].as_array().expect("items").clone();
        items.into_iter().find(|item| is_it(item))
    });
    found.unwrap_or_else(|| panic!("no item: {what}: {:?}", send(world, "GET", path, &Value::Null)))
}

fn await_state(world: &World, path: &str, state: &str) {
    eventually(state, 40, || send(world, "GET", path, &Value::Null).expect("the chat")["state"] == state);
}

/// What the agent has said.
fn said(world: &World, path: &str) -> String {
    let chat = send(world, "GET", path, &Value::Null).expect("the chat");
    let items = chat["items"].as_array().expect("items").clone();
    let texts = items.iter().filter(|item| item["item"] == "agent").filter_map(|item| item["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
