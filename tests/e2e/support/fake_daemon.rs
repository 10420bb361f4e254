//! A fake daemon that knows the key and sends any request to the extension.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;

use serde_json::{Value, json};
use tabwire_extension::link_message::Purpose;
use tabwire_extension::proof::{Handshake, PairingKey, Side};

use crate::own_browser::driving::leave_handshake;
use crate::support::process::kill;
use crate::support::rogue_daemon::{RogueConnection, accept_extension};
use crate::support::world::World;

/// A fake daemon with a connected extension.
pub(crate) struct FakeDaemon {
    pub(crate) line: RogueConnection,
    last: u64,
}

impl FakeDaemon {
    /// Kills the world's daemon, whose sessions keep their tabs, and takes its place; also returns the browser's state, and
    /// a file to remove later.
    pub(crate) fn replace(world: &World) -> (Self, Value, PathBuf) {
        kill(world.daemon_pid());
        // A killed daemon leaves its socket.
        let _ = fs::remove_file(world.socket());
        let key = fs::read_to_string(world.home().join("state/extension-key")).expect("a key");
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let stale = leave_handshake(world, listener.local_addr().expect("an address").port());
        let (daemon, present) = Self::greet(&listener, &key);
        (daemon, present, stale)
    }

    /// Accepts the extension; also returns its browser's state.
    fn greet(listener: &TcpListener, key: &str) -> (Self, Value) {
        let key = PairingKey::find(key.trim()).expect("a key");
        let mut line = accept_extension(listener);
        let hello = line.next().expect("a greeting")["hello"].take();
        let text = |name: &str| hello[name].as_str().expect("a text");
        let daemon_nonce = "0f".repeat(32);
        let greeting = Handshake {
            install: text("install"),
            extension_nonce: text("nonce"),
            daemon_nonce: &daemon_nonce,
            purpose: Purpose::Browser,
        };
        let proof = key.proof(Side::Daemon, &greeting);
        line.say(&json!({"challenge": {"nonce": daemon_nonce, "proof": proof}}));
        let shown = line.next().expect("a proof");
        assert!(key.verify(Side::Extension, &greeting, shown["proof"].as_str().expect("a text")));
        line.say(&json!({"welcome": {"version": "0.0.0"}}));
        let present = line.next().expect("the browser's state");
        (Self { line, last: 0 }, present["data"].clone())
    }

    pub(crate) fn ask(&mut self, name: &str, with: &Value) -> u64 {
        self.last += 1;
        self.line.say(&json!({"id": self.last, "command": name, "params": with}));
        self.last
    }

    /// Reads up to a response; returns everything that was read, the response last.
    pub(crate) fn read_to(&mut self, id: u64) -> Vec<Value> {
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

    /// Sends a request and returns the whole response.
    pub(crate) fn response(&mut self, name: &str, with: &Value) -> Value {
        let id = self.ask(name, with);
        self.read_to(id).pop().expect("a response")
    }

    /// Sends a command to a tab and returns the error code; `None` when it succeeded.
    pub(crate) fn refusal(&mut self, tab: &Value, method: &str, params: &Value) -> Option<String> {
        let response = self.response("send", &command(tab, method, params));
        response["error"]["code"].as_str().map(str::to_owned)
    }

    /// Sends a command to a tab and returns its result.
    pub(crate) fn send(&mut self, tab: &Value, method: &str, params: &Value) -> Value {
        self.call("send", &command(tab, method, params))
    }

    /// Reads up to an event of a page.
    pub(crate) fn wait_for_event(&mut self, method: &str) -> Value {
        loop {
            let message = self.line.next().expect("the extension stays");
            if message["method"] == method {
                return message;
            }
        }
    }

    /// Reads until the debugger is detached from a tab; returns the reason.
    pub(crate) fn wait_for_detached(&mut self, tab: &Value) -> String {
        loop {
            let message = self.line.next().expect("the extension stays");
            if message["event"] == "detached" && message["data"]["tab"] == *tab {
                return message["data"]["reason"].as_str().expect("a reason").to_owned();
            }
        }
    }

    pub(crate) fn call(&mut self, name: &str, with: &Value) -> Value {
        let id = self.ask(name, with);
        let mut response = self.read_to(id).pop().expect("a response");
        assert!(response.get("result").is_some(), "{name}: {response}");
        response["result"].take()
    }
}

pub(crate) fn command(tab: &Value, method: &str, params: &Value) -> Value {
    json!({"tab": tab, "method": method, "params": params})
}
