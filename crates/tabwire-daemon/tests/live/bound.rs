//! Requests that are too large, too deep or not text: refused early, in bounded memory.

use std::io::Write;

use tabwire_daemon::limits::{BODY_BYTES, HEAD_BYTES};

use crate::live::support::live_daemon::LiveDaemon;
use crate::live::support::process_facts::peak_memory;
use crate::live::support::raw_http::{Reply, exchange, flood, read_to_close};

const HUNDRED_MEGABYTES: usize = 100 * 1024 * 1024;

/// Memory that one abusive connection may use.
const ALLOWANCE: usize = 16 * 1024 * 1024;

#[test]
fn f15_t41_an_endless_head_is_refused_with_431_in_bounded_memory() {
    let daemon = LiveDaemon::start();
    let before = peak_memory(daemon.pid());
    let beginnings = [
        format!("GET /v1/status HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nx-long: ", daemon.port),
        "GET /".to_owned(),
        String::new(),
    ];
    for beginning in beginnings {
        let mut stream = daemon.connect();
        stream.write_all(beginning.as_bytes()).expect("the beginning is taken");
        let sent = flood(&mut stream, HUNDRED_MEGABYTES, &[b'A'; HEAD_BYTES]);
        assert!(sent < HUNDRED_MEGABYTES / 4, "{sent} bytes were read");
        assert_eq!(Reply::parse(&read_to_close(&mut stream)).status, 431, "{beginning:?}");
    }
    let many: String = (0..5000).map(|number| format!("x-{number}: 1\r\n")).collect();
    let head = format!("GET /v1/status HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n{many}\r\n", daemon.port);
    assert_eq!(exchange(daemon.connect(), &head, "").status, 431);
    assert!(peak_memory(daemon.pid()) < before + ALLOWANCE);
    daemon.expect_alive();
}

#[test]
fn f15_t41_a_body_announced_as_too_large_is_refused_unread() {
    let daemon = LiveDaemon::start();
    let before = peak_memory(daemon.pid());
    let headers = [&daemon.bearer(), "content-type: application/json"];
    for length in [BODY_BYTES + 1, HUNDRED_MEGABYTES, usize::MAX >> 1] {
        let head = daemon.head("POST /v1/actions/open", &headers, length);
        let reply = exchange(daemon.connect(), &head, "");
        assert_eq!((reply.status, reply.code().as_str()), (413, "BAD_ARGS"));
        assert!(reply.json()["error"]["hint"].is_string());
    }
    let mut stream = daemon.connect();
    let head = daemon.head("POST /v1/cdp-url", &headers, HUNDRED_MEGABYTES);
    stream.write_all(head.as_bytes()).expect("the head is taken");
    let sent = flood(&mut stream, HUNDRED_MEGABYTES, &[b' '; 64 * 1024]);
    assert!(sent < HUNDRED_MEGABYTES / 4, "{sent} bytes were read");
    assert_eq!(Reply::parse(&read_to_close(&mut stream)).status, 413);
    assert!(peak_memory(daemon.pid()) < before + ALLOWANCE);
    daemon.expect_alive();
}

#[test]
fn f15_t41_a_body_without_a_length_is_refused_at_the_limit() {
    let daemon = LiveDaemon::start();
    let before = peak_memory(daemon.pid());
    let headers = [&daemon.bearer(), "content-type: application/json", "transfer-encoding: chunked"];
    let mut stream = daemon.connect();
    stream
        .write_all(daemon.head("POST /v1/actions/open", &headers, 0).as_bytes())
        .expect("the head is taken");
    let mut chunk = b"10000\r\n".to_vec();
    chunk.resize(chunk.len() + 0x10000, b' ');
    chunk.extend_from_slice(b"\r\n");
    let mut sent = 0;
    while sent < HUNDRED_MEGABYTES && stream.write_all(&chunk).is_ok() {
        sent += chunk.len();
    }
    assert!(sent < HUNDRED_MEGABYTES / 2, "{sent} bytes were read");
    assert_eq!(Reply::parse(&read_to_close(&mut stream)).status, 413);
    assert!(peak_memory(daemon.pid()) < before + 2 * ALLOWANCE);
    daemon.expect_alive();
}

#[test]
fn f15_a_body_at_the_limit_is_read() {
    let daemon = LiveDaemon::start();
    let body = format!("{{\"session\":\"-\"{}}}", " ".repeat(BODY_BYTES - 15));
    assert_eq!(body.len(), BODY_BYTES);
    let reply =
        daemon.request("POST /v1/actions/open", &[&daemon.bearer(), "content-type: application/json"], &body);
    assert_eq!(reply.status, 400);
    assert!(reply.body.contains("session name"), "it was read: {}", reply.body);
}

#[test]
fn f16_t41_deep_broken_and_binary_bodies_are_typed_errors() {
    let daemon = LiveDaemon::start();
    let nested = |open: &str, close: &str| {
        format!("{{\"params\":{}1{}}}", open.repeat(10_000), close.repeat(10_000)).into_bytes()
    };
    let bodies = [
        Vec::new(),
        b"{".to_vec(),
        b"null".to_vec(),
        b"[]x".to_vec(),
        nested("[", "]"),
        nested("{\"a\":", "}"),
        b"[".repeat(100_000),
        b"{\"session\":\"\xff\xfe\"}".to_vec(),
        b"{\"params\":{\"url\":\"\xed\xa0\x80\"}}".to_vec(),
        b"{\"params\":{\"url\":\"\\ud800\"}}".to_vec(),
        b"{\"params\":{\"url\":\"\\udc00\\ud800\"}}".to_vec(),
        b"{\"session\":\"a\",\"session\":\"b\"}".to_vec(),
        b"{\"timeout_ms\":1e999}".to_vec(),
        b"{\"timeout_ms\":-1}".to_vec(),
        b"{\"session\":\"../../etc\"}".to_vec(),
        b"{\"unknown\":1}".to_vec(),
        b"\xef\xbb\xbf{}".to_vec(),
    ];
    for body in bodies {
        for path in ["/v1/actions/open", "/v1/cdp-url"] {
            let headers = [&daemon.bearer(), "content-type: application/json"];
            let mut stream = daemon.connect();
            let mut request = daemon.head(&format!("POST {path}"), &headers, body.len()).into_bytes();
            request.extend_from_slice(&body);
            stream.write_all(&request).expect("a small request is taken");
            let reply = Reply::parse(&read_to_close(&mut stream));
            let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
            assert_eq!((reply.status, reply.code().as_str()), (400, "BAD_ARGS"), "{shown}");
        }
    }
    daemon.expect_alive();
}

#[test]
fn t41_invalid_bytes_end_only_their_connection() {
    let daemon = LiveDaemon::start();
    let rubbish: [&[u8]; 7] = [
        b"\0\0\0\0\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff\xff HTTP/1.1\r\nhost: x\r\n\r\n",
        b"POST /v1/status HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"POST /v1/status HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
    ];
    for bytes in rubbish {
        let mut stream = daemon.connect();
        stream.write_all(bytes).expect("taken");
        stream.shutdown(std::net::Shutdown::Write).expect("half closed");
        let received = read_to_close(&mut stream);
        let fine = received.is_empty() || Reply::parse(&received).status >= 400;
        assert!(fine, "{bytes:?}: {}", String::from_utf8_lossy(&received));
    }
    daemon.expect_alive();
}
