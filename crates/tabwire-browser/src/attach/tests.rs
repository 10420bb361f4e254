//! Tests of discovery against small servers on loopback.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{AttachTarget, RequestHeader, discover, discover_with_headers, parse_port_file};
use crate::{AttachFault, BrowserError, BrowserKind, Channel, Ownership};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
}

/// Serves one connection and returns the request it received. Fails if a second connection arrives.
fn serve(response: String) -> (u16, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            received.extend_from_slice(&byte);
        }
        stream.write_all(response.as_bytes()).unwrap();
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "received only once");
        String::from_utf8(received).unwrap()
    });
    (port, server)
}

fn with_length(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn attach_targets_are_parsed() {
    let parse = |text: &str| AttachTarget::parse(text).unwrap();
    assert!(matches!(parse("9222"), AttachTarget::Http(url) if url.as_str() == "http://127.0.0.1:9222/"));
    assert!(matches!(parse("http://localhost:9222"), AttachTarget::Http(_)));
    assert!(matches!(parse("localhost:9222"), AttachTarget::Http(_)));
    assert!(matches!(parse("https://rented.example"), AttachTarget::Http(_)));
    assert!(matches!(parse("ws://h:1/devtools/browser/x"), AttachTarget::Websocket(_)));
    assert!(matches!(parse("wss://rented.example/x?token=y"), AttachTarget::Websocket(_)));
    assert_eq!(parse("/srv/a/profile"), AttachTarget::Profile(PathBuf::from("/srv/a/profile")));
    assert_eq!(parse("chrome-beta"), AttachTarget::Channel(BrowserKind::Chrome, Channel::Beta));
    for bad in ["", "0", "65536", "ftp://h", "netscape", "ws://", "file:///x", "9222x y"] {
        assert!(matches!(AttachTarget::parse(bad), Err(BrowserError::BadUrl { .. })), "{bad}");
    }
    assert!(!Ownership::Attached.may_close() && Ownership::Launched.may_close());
}

#[test]
fn http_discovery_sends_one_request_without_origin_and_keeps_the_host() {
    let body = r#"{"Browser":"x","webSocketDebuggerUrl":"ws://inner:1/devtools/browser/secret"}"#;
    let (port, server) = serve(with_length(body));
    let found = discover(&AttachTarget::parse(&port.to_string()).unwrap(), None, soon()).unwrap();
    assert_eq!(found.expose().as_str(), format!("ws://127.0.0.1:{port}/devtools/browser/secret"));
    assert!(!format!("{found} {found:?}").contains("secret"));
    let received = server.join().unwrap();
    assert!(received.starts_with("GET /json/version HTTP/1.1\r\n"), "{received}");
    assert!(received.contains(&format!("Host: 127.0.0.1:{port}\r\n")));
    assert!(!received.to_lowercase().contains("origin"));
}

#[test]
fn the_request_keeps_path_and_query_and_has_the_headers() {
    for (address, line) in [
        ("/?token=a", "GET /json/version?token=a HTTP/1.1"),
        ("/fleet/", "GET /fleet/json/version HTTP/1.1"),
        ("/fleet/json/version?a=b", "GET /fleet/json/version?a=b HTTP/1.1"),
    ] {
        let body = r#"{"webSocketDebuggerUrl":"ws://inner:1/devtools/browser/x"}"#;
        let (port, server) = serve(with_length(body));
        let target = AttachTarget::parse(&format!("http://127.0.0.1:{port}{address}")).unwrap();
        let headers = [RequestHeader::parse("Authorization: Bearer one").unwrap()];
        let found = discover_with_headers(&target, None, &headers, soon()).unwrap();
        let query = address.split_once('?').map(|(_, query)| query);
        assert_eq!(found.expose().query(), query, "{address}");
        let received = server.join().unwrap();
        assert!(received.starts_with(&format!("{line}\r\n")), "{received}");
        assert!(received.contains("\r\nAuthorization: Bearer one\r\n"), "{received}");
    }
}

#[test]
fn headers_that_would_change_the_request_are_refused() {
    for bad in ["", "no colon", ": x", "A b: x", "Host: x", "origin: x", "A: b\r\nC: d", "A: \u{e9}"] {
        let error = RequestHeader::parse(bad).unwrap_err();
        assert!(matches!(error, BrowserError::BadHeader { .. }), "{bad}: {error:?}");
    }
    assert!(!format!("{:?}", RequestHeader::parse("A: secret").unwrap()).contains("secret"));
}

#[test]
fn profile_without_http_discovery_uses_its_port_file() {
    let profile = tempfile::tempdir().unwrap();
    let (port, server) = serve("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned());
    let file = profile.path().join("DevToolsActivePort");
    std::fs::write(&file, format!("{port}\n/devtools/browser/abc-1")).unwrap();
    let address = AttachTarget::Profile(profile.path().to_owned());
    let found = discover(&address, None, soon()).unwrap();
    assert_eq!(found.expose().as_str(), format!("ws://127.0.0.1:{port}/devtools/browser/abc-1"));
    server.join().unwrap();
}

#[test]
fn f37_another_browser_on_the_profiles_port_is_refused() {
    let profile = tempfile::tempdir().unwrap();
    let response = r#"{"webSocketDebuggerUrl":"ws://h/devtools/browser/another"}"#;
    let (port, server) = serve(with_length(response));
    let file = profile.path().join("DevToolsActivePort");
    std::fs::write(&file, format!("{port}\n/devtools/browser/own")).unwrap();
    let address = AttachTarget::Profile(profile.path().to_owned());
    let error = discover(&address, None, soon()).unwrap_err();
    let why = matches!(&error, BrowserError::Unreachable { why: AttachFault::OtherBrowser(found), .. } if *found == port);
    assert!(why, "{error:?}");
    server.join().unwrap();
}

#[test]
fn f37_another_server_on_the_port_is_refused() {
    for (response, fault) in [
        (with_length("<html>"), AttachFault::NoWebsocket),
        (with_length("{}"), AttachFault::NoWebsocket),
        (with_length(r#"{"webSocketDebuggerUrl":"http://h/"}"#), AttachFault::NoWebsocket),
        ("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n".to_owned(), AttachFault::Status(403)),
        ("SSH-2.0-x\r\n\r\n".to_owned(), AttachFault::Connection("it does not speak HTTP".to_owned())),
    ] {
        let (port, server) = serve(response.clone());
        let error = discover(&AttachTarget::parse(&port.to_string()).unwrap(), None, soon()).unwrap_err();
        assert!(
            matches!(&error, BrowserError::Unreachable { why, .. } if *why == fault),
            "{response}: {error:?}"
        );
        server.join().unwrap();
    }
}

#[test]
fn a_silent_server_and_a_missing_profile_are_typed_errors() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let shortly = Instant::now() + Duration::from_millis(50);
    let error = discover(&AttachTarget::parse(&port).unwrap(), None, shortly).unwrap_err();
    assert!(matches!(error, BrowserError::Unreachable { why: AttachFault::Connection(_), .. }), "{error:?}");
    let home = tempfile::tempdir().unwrap();
    for address in ["chrome", "/nonexistent"] {
        let address = AttachTarget::parse(address).unwrap();
        let error = discover(&address, Some(home.path()), soon()).unwrap_err();
        assert!(matches!(error, BrowserError::Unreachable { why: AttachFault::NoPortFile, .. }), "{error:?}");
    }
}

#[test]
fn malformed_port_files_are_refused() {
    assert_eq!(parse_port_file(b"9222\n/devtools/browser/a"), Some((9222, "/devtools/browser/a")));
    for bad in
        [&b""[..], b"9222", b"0\n/x", b"99999\n/x", b"9222\nx", b"9222\n/x?y@z", b"\xff\n/x", b"9222\n\n"]
    {
        assert_eq!(parse_port_file(bad), None, "{bad:?}");
    }
}
