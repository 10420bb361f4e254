//! One CDP client at a time: the second gets an error, and a waiting one takes over when the first leaves.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::cdp_client::CdpClient;
use crate::support::either_browser::{in_own_browser, launched};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::World;

/// Sends a plain request or a websocket handshake; returns the status line and the body.
fn ask(address: &str, path: &str, more: &str) -> String {
    let rest = address.strip_prefix("ws://").expect("a websocket address");
    let (authority, secret) = rest.split_once('/').expect("a path");
    let secret = secret.trim_end_matches("/cdp");
    let mut stream = TcpStream::connect(authority).expect("the daemon listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a deadline");
    let request = format!("GET /{secret}{path} HTTP/1.1\r\nHost: {authority}\r\n{more}\r\n");
    stream.write_all(request.as_bytes()).expect("the daemon reads");
    let mut response = String::new();
    let _ = stream.read_to_string(&mut response);
    response
}

const HANDSHAKE: &str = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                         Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
const PLAIN: &str = "Connection: close\r\n";

#[test]
fn exclusive_sessions_serve_one_client_then_the_next() {
    launched(take_turns);
}

#[test]
fn exclusive_sessions_work_in_the_users_own_browser() {
    in_own_browser(&[take_turns]);
}

/// The number of milliseconds after which the daemon says to poll again.
fn retry_after(slot: &str) -> u64 {
    let (_, rest) = slot.split_once(r#""look_again_ms":"#).unwrap_or_else(|| panic!("{slot}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

fn take_turns(world: &World, site: &FixtureSite) {
    world.open(&["--single-client", &site.page("/plain")]);
    let address = world.cdp_url();
    assert!(ask(&address, "/client-slot", PLAIN).contains(r#""busy":false"#));
    let mut first = CdpClient::connect(&address);
    assert!(first.call("Browser.getVersion", serde_json::json!({}), None)["product"].is_string());
    let slot = ask(&address, "/client-slot", PLAIN);
    assert!(slot.contains(r#""mode":"single-active""#) && slot.contains(r#""busy":true"#), "{slot}");
    // A client that polls gets a different retry time than others, so that they do not all return at once.
    let times: Vec<u64> = (0..10).map(|_| retry_after(&ask(&address, "/client-slot", PLAIN))).collect();
    assert!(times.iter().all(|time| (500..=1500).contains(time)), "{times:?}");
    assert!(times.iter().any(|time| *time != times[0]), "{times:?}");
    let refused = ask(&address, "/cdp", &format!("{HANDSHAKE}{PLAIN}"));
    assert!(refused.starts_with("HTTP/1.1 409") && refused.contains("BUSY"), "{refused}");
    for wrong in ["31", "-1", "soon"] {
        let response = ask(&address, &format!("/cdp?standby={wrong}"), &format!("{HANDSHAKE}{PLAIN}"));
        assert!(response.starts_with("HTTP/1.1 400"), "{wrong}: {response}");
    }
    std::thread::scope(|scope| {
        let standby = format!("{address}?standby=30");
        let second = scope.spawn(move || {
            let mut second = CdpClient::connect(&standby);
            second.call("Browser.getVersion", serde_json::json!({}), None)["product"].is_string()
        });
        // A waiting client takes over when the first one has left.
        assert!(first.call("Browser.getVersion", serde_json::json!({}), None)["product"].is_string());
        drop(first);
        assert!(second.join().expect("it is served"));
    });
    // After the second has left, a client that polls finds the slot free.
    eventually("it is free", 30, || ask(&address, "/client-slot", PLAIN).contains(r#""busy":false"#));
    let mut third = CdpClient::connect(&address);
    assert!(third.call("Browser.getVersion", serde_json::json!({}), None)["product"].is_string());
}
