//! Peers of the port that have shown no credential: how much they may send, how long and how many of them may stay.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;
use tabwire_daemon::limits::{CONNECTIONS, UNPROVED_BYTES, UNPROVED_CONNECTIONS};
use tabwire_extension::package::extension_origin;

use crate::live::live_daemon::LiveDaemon;
use crate::live::process_facts::{descriptors, peak_memory};
use crate::live::raw_http::{Reply, read_to_close};
use crate::live::raw_websocket::RawWebsocket;

/// More connections than there are places.
const MANY: usize = CONNECTIONS + 50;

/// What they may cost together: 64 KiB for each that may wait, and some slack.
const ALLOWANCE: usize = 32 * 1024 * 1024;

/// How long a response may take while strangers crowd the port.
const PROMPT: Duration = Duration::from_secs(3);

fn dial(daemon: &LiveDaemon) -> RawWebsocket {
    let origin = format!("origin: {}", extension_origin());
    RawWebsocket::open_with(daemon.connect(), daemon.port, "/extension", &[&origin])
}

fn hello() -> String {
    let browser = json!({"product": "Chrome/156.0.0.0", "name": "Played", "agent": "played"});
    let (install, nonce) = ("a".repeat(32), "5".repeat(64));
    let hello =
        json!({"protocol": 1, "version": "0", "install": install, "nonce": nonce, "browser": browser});
    json!({"hello": hello}).to_string()
}

/// Asks for the status with the token; panics when that is not prompt.
fn expect_prompt(daemon: &LiveDaemon) {
    let began = Instant::now();
    assert_eq!(daemon.ask("GET /v1/status", &[&daemon.bearer()], "").status, 200);
    assert!(began.elapsed() < PROMPT, "{:?}", began.elapsed());
}

#[test]
fn m4_before_its_proof_an_extension_is_given_64_kib() {
    let daemon = LiveDaemon::start();
    let before = peak_memory(daemon.pid());
    let above = u64::try_from(UNPROVED_BYTES).expect("small") + 1;
    for length in [above, 256 * 1024 * 1024, u64::MAX >> 1] {
        let mut stranger = dial(&daemon);
        stranger.announce(0x81, length);
        assert!(matches!(stranger.wait_for_close(), Some(1009) | None), "{length} bytes");
    }
    // Parts of one message count together.
    let mut stranger = dial(&daemon);
    stranger.send(0x01, hello().as_bytes());
    stranger.send(0x00, &[b' '; 60_000]);
    stranger.send(0x80, &[b' '; 60_000]);
    let received = stranger.receive();
    assert!(received.as_ref().is_none_or(|frame| frame.opcode == 8), "no challenge: {received:?}");

    // Many at once, each with as much as is taken: the newest are greeted all the same.
    let mut strangers: Vec<RawWebsocket> = (0..MANY).map(|_| dial(&daemon)).collect();
    for stranger in strangers.iter_mut().rev().take(UNPROVED_CONNECTIONS / 2) {
        stranger.send(0x01, &[b' '; 60_000]);
    }
    let mut newest = dial(&daemon);
    newest.say(&hello());
    let challenge = newest.receive().expect("a challenge");
    assert!(String::from_utf8_lossy(&challenge.payload).contains("challenge"), "{challenge:?}");
    expect_prompt(&daemon);
    assert!(peak_memory(daemon.pid()) < before + ALLOWANCE);
    daemon.expect_alive();
}

#[test]
fn l3_connections_without_a_credential_do_not_starve_the_port() {
    let daemon = LiveDaemon::start();
    let request = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n\r\n", daemon.port);
    let mut kept: Vec<TcpStream> = Vec::new();
    for number in 0..MANY {
        // Nobody asks for the connection to be closed; public and refused answers end it.
        let path = ["/live", "/demo", "/v1/status", "/nowhere"][number % 4];
        let mut stream = daemon.connect();
        stream.write_all(request(path).as_bytes()).expect("taken");
        let reply = Reply::parse(&read_to_close(&mut stream));
        assert!(reply.head.contains("connection: close"), "{path}: {}", reply.head);
        kept.push(stream);
    }
    // Some who only connect, and some who begin a request and do not end it.
    for number in 0..MANY {
        let mut stream = daemon.connect();
        if number % 2 == 0 {
            stream.write_all(b"GET /live HTTP/1.1\r\n").expect("taken");
        }
        kept.push(stream);
    }
    expect_prompt(&daemon);
    assert!(descriptors(daemon.pid()) < CONNECTIONS, "the oldest were closed");

    // Who has shown a credential keeps its connection, whoever else comes.
    let mut client = daemon.connect();
    let ask =
        format!("GET /v1/status HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n{}\r\n\r\n", daemon.port, daemon.bearer());
    for round in 0..2 {
        client.write_all(ask.as_bytes()).expect("taken");
        let mut first = [0; 12];
        client.read_exact(&mut first).unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(&first, b"HTTP/1.1 200");
        drain(&mut client);
        kept.extend((0..UNPROVED_CONNECTIONS + 10).map(|_| daemon.connect()));
    }
}

/// Reads the rest of a response whose end is the end of a JSON object.
fn drain(client: &mut TcpStream) {
    let mut rest = Vec::new();
    let mut part = [0; 4096];
    while !rest.ends_with(b"}") {
        let length = client.read(&mut part).expect("an answer");
        assert!(length > 0, "it was closed: {}", String::from_utf8_lossy(&rest));
        rest.extend_from_slice(&part[..length]);
    }
}
