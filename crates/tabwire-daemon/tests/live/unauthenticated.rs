//! Limits of unauthenticated peers on the port: bytes, time and number.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;
use tabwire_daemon::limits::{CONNECTIONS, UNAUTHENTICATED_BYTES, UNAUTHENTICATED_CONNECTIONS};
use tabwire_extension::package::extension_origin;

use crate::live::support::live_daemon::LiveDaemon;
use crate::live::support::process_facts::{descriptors, peak_memory};
use crate::live::support::raw_http::{Reply, read_to_close};
use crate::live::support::raw_websocket::RawWebsocket;

/// More connections than the limit.
const MANY: usize = CONNECTIONS + 50;

/// Memory for all of them: 64 KiB for each that may wait, and some slack.
const ALLOWANCE: usize = 32 * 1024 * 1024;

/// How long a response may take while many unauthenticated peers are connected.
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

/// Requests the status with the token; panics when that takes too long.
fn expect_prompt(daemon: &LiveDaemon) {
    let began = Instant::now();
    assert_eq!(daemon.request("GET /v1/status", &[&daemon.bearer()], "").status, 200);
    assert!(began.elapsed() < PROMPT, "{:?}", began.elapsed());
}

#[test]
fn m4_an_unauthenticated_extension_may_send_64_kib() {
    let daemon = LiveDaemon::start();
    let before = peak_memory(daemon.pid());
    let above = u64::try_from(UNAUTHENTICATED_BYTES).expect("small") + 1;
    for length in [above, 256 * 1024 * 1024, u64::MAX >> 1] {
        let mut peer = dial(&daemon);
        peer.announce(0x81, length);
        assert!(matches!(peer.wait_for_close(), Some(1009) | None), "{length} bytes");
    }
    // Parts of one message count together.
    let mut peer = dial(&daemon);
    peer.send(0x01, hello().as_bytes());
    peer.send(0x00, &[b' '; 60_000]);
    peer.send(0x80, &[b' '; 60_000]);
    let received = peer.receive();
    assert!(received.as_ref().is_none_or(|frame| frame.opcode == 8), "no challenge: {received:?}");

    // Many at once, each at its limit: the newest still get a challenge.
    let mut peers: Vec<RawWebsocket> = (0..MANY).map(|_| dial(&daemon)).collect();
    for peer in peers.iter_mut().rev().take(UNAUTHENTICATED_CONNECTIONS / 2) {
        peer.send(0x01, &[b' '; 60_000]);
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
        // No request has `connection: close`; public and refused responses close the connection.
        let path = ["/live", "/demo", "/v1/status", "/nowhere"][number % 4];
        let mut stream = daemon.connect();
        stream.write_all(request(path).as_bytes()).expect("taken");
        let reply = Reply::parse(&read_to_close(&mut stream));
        assert!(reply.head.contains("connection: close"), "{path}: {}", reply.head);
        kept.push(stream);
    }
    // Half of them send nothing, half send an incomplete request.
    for number in 0..MANY {
        let mut stream = daemon.connect();
        if number % 2 == 0 {
            stream.write_all(b"GET /live HTTP/1.1\r\n").expect("taken");
        }
        kept.push(stream);
    }
    expect_prompt(&daemon);
    assert!(descriptors(daemon.pid()) < CONNECTIONS, "the oldest were closed");

    // An authenticated connection stays open while others connect.
    let mut client = daemon.connect();
    let request =
        format!("GET /v1/status HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n{}\r\n\r\n", daemon.port, daemon.bearer());
    for round in 0..2 {
        client.write_all(request.as_bytes()).expect("taken");
        let mut first = [0; 12];
        client.read_exact(&mut first).unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(&first, b"HTTP/1.1 200");
        drain(&mut client);
        kept.extend((0..UNAUTHENTICATED_CONNECTIONS + 10).map(|_| daemon.connect()));
    }
}

/// Reads the rest of a response whose end is the end of a JSON object.
fn drain(client: &mut TcpStream) {
    let mut rest = Vec::new();
    let mut part = [0; 4096];
    while !rest.ends_with(b"}") {
        let length = client.read(&mut part).expect("a response");
        assert!(length > 0, "it was closed: {}", String::from_utf8_lossy(&rest));
        rest.extend_from_slice(&part[..length]);
    }
}
