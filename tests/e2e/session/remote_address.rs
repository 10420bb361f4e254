//! Attaches to a browser behind a TLS server that wants a token and a header, as hosted browsers have.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::support::chromium::Chromium;
use crate::support::world::World;

/// Time for the server to start.
const START: Duration = Duration::from_secs(20);

/// The TLS server, and the first line of each connection's request.
struct TlsProxy {
    process: Child,
    port: u16,
    requests: Receiver<String>,
}

impl TlsProxy {
    /// Starts the server with a certificate for localhost that it puts into the directory.
    fn start(directory: &Path, upstream: u16) -> Self {
        let (key, certificate) = (directory.join("key.pem"), directory.join("certificate.pem"));
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
            .args([
                "-addext",
                "subjectAltName=DNS:localhost",
                "-addext",
                "basicConstraints=critical,CA:FALSE",
                "-keyout",
            ])
            .args([key.as_os_str(), "-out".as_ref(), certificate.as_os_str()])
            .output()
            .expect("openssl runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients/tls-proxy.mjs");
        let mut process = Command::new("node")
            .args([script.as_ref(), key.as_os_str(), certificate.as_os_str()])
            .arg(upstream.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node runs");
        let output = process.stdout.take().expect("a pipe");
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let first = requests.recv_timeout(START).expect("the server starts");
        let port = first.strip_prefix("port ").and_then(|port| port.parse().ok()).expect("its port");
        Self { process, port, requests }
    }
}

impl Drop for TlsProxy {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn an_https_address_keeps_its_path_query_and_headers() {
    let browser = Chromium::with_port();
    let keys = tempfile::tempdir().expect("a directory");
    let proxy = TlsProxy::start(keys.path(), browser.port());
    let world =
        World::new().with("SSL_CERT_FILE", keys.path().join("certificate.pem").to_str().expect("plain"));
    let address = format!("https://localhost:{}/fleet/?token=letmein", proxy.port);
    let header = "X-Test-Key: one";

    let refused = world.run(&["--json", "open", "--cdp", &address, "about:blank"]);
    assert_eq!(refused.failure().0, "NO_BACKEND", "without its header: {refused:?}");
    assert!(!format!("{refused:?}").replace(&address, "").contains("letmein"), "{refused:?}");

    world.open(&["--cdp", &address, "--cdp-header", header, "data:text/html,<title>far</title>"]);
    assert_eq!(world.eval("document.title"), "far");
    let requests: Vec<String> = proxy.requests.try_iter().collect();
    let version = requests.iter().filter(|line| line.starts_with("GET /fleet/json/version?token=letmein "));
    assert_eq!(version.count(), 2, "{requests:?}");
    let websocket =
        |line: &&String| line.starts_with("GET /devtools/browser/") && line.contains("?token=letmein ");
    assert_eq!(requests.iter().filter(websocket).count(), 1, "{requests:?}");
    assert!(!world.log().contains("letmein"), "{}", world.log());

    let bad = world.run(&["--json", "open", "--session", "b", "--cdp", &address, "--cdp-header", "Host: x"]);
    assert_eq!(bad.failure().0, "BAD_ARGS", "{bad:?}");
}

#[test]
fn an_https_address_with_an_unknown_certificate_is_refused() {
    let browser = Chromium::with_port();
    let keys = tempfile::tempdir().expect("a directory");
    let proxy = TlsProxy::start(keys.path(), browser.port());
    let world = World::new();
    let address = format!("https://localhost:{}/?token=letmein", proxy.port);
    let arguments = ["--json", "open", "--cdp", &address, "--cdp-header", "X-Test-Key: one", "about:blank"];
    let refused = world.run(&arguments);
    assert_eq!(refused.failure().0, "NO_BACKEND", "{refused:?}");
    assert!(refused.stdout.contains("certificate"), "{refused:?}");
    assert!(proxy.requests.try_iter().next().is_none(), "nothing was sent");
}
