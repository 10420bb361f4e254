//! Raw requests to the socket and the port.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};
use tabwire_daemon::{Access, ROUTES};

use crate::live::support::live_daemon::{LiveDaemon, TIMEOUT};
use crate::live::support::process_facts::{internet_listeners, unix_listeners};
use crate::live::support::raw_http::{exchange, flood};
use crate::live::support::raw_websocket::UPGRADE;

#[test]
fn t08_the_daemon_listens_on_loopback_and_its_socket_only() {
    let daemon = LiveDaemon::start();
    assert_eq!(internet_listeners(daemon.pid()), [format!("tcp 0100007F:{:04X}", daemon.port)]);
    assert_eq!(unix_listeners(daemon.pid()), [daemon.paths.socket().display().to_string()]);
    for other in ["127.0.0.2", "::1"] {
        assert!(TcpStream::connect((other, daemon.port)).is_err(), "{other}");
    }
}

#[test]
fn t10_unauthorised_discovery_and_a_random_path_get_the_same_bytes() {
    let daemon = LiveDaemon::start();
    let wrong = "authorization: Bearer 0000000000000000000000000000000000000000000000000000000000000000";
    for method in ["GET", "HEAD", "POST", "OPTIONS", "DELETE"] {
        for header in ["accept: */*", wrong, "sec-fetch-site: none", "upgrade: websocket"] {
            let send = |path: &str| daemon.request(&format!("{method} {path}"), &[header], "");
            let nowhere = send("/9d3b1f60e2");
            assert!(matches!(nowhere.status, 401 | 403), "{nowhere:?}");
            for route in ROUTES.iter().filter(|route| route.access != Access::Public) {
                let there = send(&route.path.replace('*', "open"));
                assert_eq!(
                    (&there.head, &there.body),
                    (&nowhere.head, &nowhere.body),
                    "{method} {}",
                    route.path
                );
            }
        }
    }
}

#[test]
fn t01_t03_wrong_hosts_and_origins_are_403_on_the_wire() {
    let daemon = LiveDaemon::start();
    let (port, bearer) = (daemon.port, daemon.bearer());
    let own = format!("host: 127.0.0.1:{port}");
    let heads = [
        format!("GET /v1/status HTTP/1.1\r\nhost: rebind.test:{port}\r\n{bearer}"),
        format!("GET /v1/status HTTP/1.1\r\nhost: 127.0.0.1\r\n{bearer}"),
        format!("GET /v1/status HTTP/1.1\r\nhost: [::1]:{port}\r\n{bearer}"),
        format!("GET /v1/status HTTP/1.1\r\n{bearer}"),
        format!("GET /v1/status HTTP/1.0\r\n{bearer}"),
        format!("GET /v1/status HTTP/1.1\r\n{own}\r\n{own}\r\n{bearer}"),
        format!("GET /v1/status HTTP/1.1\r\n{own}\r\nhost: rebind.test\r\n{bearer}"),
        format!("GET http://rebind.test/v1/status HTTP/1.1\r\n{own}\r\n{bearer}"),
        format!("GET http://127.0.0.1:{port}/v1/status HTTP/1.1\r\n{own}\r\n{bearer}"),
        format!("GET /v1/status HTTP/1.1\r\n{own}\r\n{bearer}\r\norigin: null"),
        format!("GET /v1/status HTTP/1.1\r\n{own}\r\n{bearer}\r\norigin: http://127.0.0.1:{port}"),
        format!("GET /v1/status HTTP/1.1\r\n{own}\r\n{bearer}\r\norigin:"),
        format!("GET /v1/status HTTP/1.1\r\n{own}\r\n{bearer}\r\nsec-fetch-site: cross-site"),
        format!(
            "GET /v1/status HTTP/1.1\r\n{own}\r\n{bearer}\r\nsec-fetch-site: same-origin\r\nsec-fetch-site: cross-site"
        ),
        format!("GET /demo HTTP/1.1\r\nhost: rebind.test:{port}"),
    ];
    for head in heads {
        let reply = exchange(daemon.connect(), &format!("{head}\r\nconnection: close\r\n\r\n"), "");
        assert_eq!((reply.status, reply.code().as_str()), (403, "POLICY_DENIED"), "{head}");
        assert!(!reply.head.contains("access-control"), "{head}");
    }
    let doubled = [bearer.as_str(), "authorization: Bearer x"];
    assert_eq!(daemon.request("GET /v1/status", &doubled, "").status, 401, "two credentials count as none");
}

#[test]
fn t09_on_the_wire_a_form_is_415_and_a_wrong_method_405() {
    let daemon = LiveDaemon::start();
    let bearer = daemon.bearer();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"] {
        let header = format!("content-type: {kind}");
        for path in ["/v1/actions/open", "/v1/daemon/stop", "/v1/daemon/drain", "/v1/cdp-url"] {
            assert_eq!(
                daemon.request(&format!("POST {path}"), &[&bearer, &header], "{}").status,
                415,
                "{kind}"
            );
        }
    }
    assert_eq!(daemon.request("GET /v1/daemon/stop", &[&bearer], "").status, 405);
    daemon.expect_alive();
}

/// Forwards one connection after another, as a tunnel or reverse proxy on this machine would.
fn forward_to(port: u16) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let own = listener.local_addr().expect("bound").port();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { return };
            let (mut up, mut down) = (client.try_clone().expect("a handle"), client);
            let (mut to_server, mut from_server) = (server.try_clone().expect("a handle"), server);
            thread::spawn(move || std::io::copy(&mut up, &mut to_server));
            thread::spawn(move || {
                let _ = std::io::copy(&mut from_server, &mut down);
                let _ = down.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    own
}

#[test]
fn t07_a_request_through_a_local_proxy_needs_the_token_like_any_other() {
    let daemon = LiveDaemon::start();
    let proxy = forward_to(daemon.port);
    let send = |host: &str, headers: &str| {
        let stream = TcpStream::connect(("127.0.0.1", proxy)).expect("the proxy listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        let head = format!("GET /v1/status HTTP/1.1\r\nhost: {host}\r\n{headers}connection: close\r\n\r\n");
        exchange(stream, &head, "").status
    };
    let own = format!("127.0.0.1:{}", daemon.port);
    assert_eq!(send(&own, ""), 401);
    assert_eq!(send(&own, "x-forwarded-for: 127.0.0.1\r\nx-real-ip: 127.0.0.1\r\n"), 401);
    assert_eq!(send("tunnel.example", "x-forwarded-host: 127.0.0.1\r\n"), 403);
    assert_eq!(send(&format!("127.0.0.1:{proxy}"), ""), 403, "the proxy's own host is refused");
    assert_eq!(send(&own, &format!("{}\r\n", daemon.bearer())), 200, "the proxy works");
}

#[test]
fn t12_no_secret_is_sent_to_an_attached_url() {
    let daemon = LiveDaemon::start();
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let endpoint = listener.local_addr().expect("bound");
    let capture = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("the daemon attaches");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        let mut received = vec![0; 4096];
        let length = stream.read(&mut received).expect("a handshake");
        let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
        (String::from_utf8_lossy(&received[..length]).into_owned(), listener)
    });
    // Only the body of a request of the user can name a browser to attach to; a query cannot.
    let crafted = format!("GET /v1/status?cdp=ws://{endpoint}/&connect=ws://{endpoint}/");
    assert_eq!(daemon.request(&crafted, &[&daemon.bearer()], "").status, 200);
    let request = json!({"session": "s", "options": {"cdp": format!("ws://{endpoint}/")}});
    let reply = daemon.request_as_user("POST", "/v1/cdp-url", &request);
    assert!(reply.status >= 400, "{reply:?}");
    let (received, listener) = capture.join().expect("captured");
    assert!(received.starts_with("GET / HTTP/1.1"), "{received}");
    assert!(!received.contains(&daemon.token) && !received.to_ascii_lowercase().contains("authorization"));
    assert!(!received.to_ascii_lowercase().contains("origin"), "{received}");
    listener.set_nonblocking(true).expect("a mode");
    assert!(listener.accept().is_err(), "the crafted query opened no connection");
}

#[test]
fn t06_the_body_of_an_unauthorised_request_is_not_read() {
    let daemon = LiveDaemon::start();
    let total = 100 * 1024 * 1024;
    let head = daemon.head("POST /v1/actions/open", &["content-type: application/json"], total);
    // The response comes before a single byte of the body was sent.
    assert_eq!(exchange(daemon.connect(), &head, "").status, 401);
    let mut stream = daemon.connect();
    stream.write_all(head.as_bytes()).expect("the head is taken");
    let sent = flood(&mut stream, total, &[b' '; 64 * 1024]);
    assert!(sent < total / 4, "{sent} bytes were read");
}

#[test]
fn t04_a_handshake_with_origin_or_without_secret_fails() {
    let daemon = LiveDaemon::start();
    let send = |headers: &[&str]| daemon.request("GET /cdp", &[&UPGRADE[..], headers].concat(), "").status;
    assert_eq!(send(&[]), 401);
    assert_eq!(send(&["origin: https://evil.test"]), 403);
    assert_eq!(send(&[&daemon.bearer(), "origin: https://evil.test"]), 403);
    assert_eq!(send(&[&daemon.bearer(), "origin: http://127.0.0.1"]), 403);
    let sessions = daemon.request_as_user("GET", "/v1/status", &Value::Null).json()["sessions"].clone();
    assert_eq!(sessions, json!([]), "no browser was started for any of them");
}
