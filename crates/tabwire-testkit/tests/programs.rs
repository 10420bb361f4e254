//! Starts each program of the test kit as a process and checks that it responds.

use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use serde_json::{Value, json};
use tabwire_testkit::{ChaosPlan, ChaosProxy, Endpoint, Fault, Site};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(10);

/// Reads until the peer closes.
async fn read_all(mut stream: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = timeout(DEADLINE, stream.read_to_end(&mut bytes)).await.expect("peer closes in time");
    bytes
}

async fn get(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("connects");
    // The half-close shows a keep-alive server that this was the only request.
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nHost: a.localhost\r\n\r\n").as_bytes())
        .await
        .expect("writes");
    stream.shutdown().await.expect("half-closes");
    String::from_utf8(read_all(stream).await).expect("text")
}

#[tokio::test]
async fn the_fixture_site_prints_its_port_and_ends_with_stdin() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixture-site"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let line =
        timeout(DEADLINE, lines.next_line()).await.expect("in time").expect("reads").expect("one line");
    let port = serde_json::from_str::<Value>(&line).expect("JSON")["port"].as_u64().expect("a number");
    let page = get(u16::try_from(port).expect("a port"), "/plain").await;
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("<title>Plain page</title>"), "{page}");
    drop(child.stdin.take());
    assert!(timeout(DEADLINE, child.wait()).await.expect("in time").expect("ends").success());
}

/// A fake browser on a pipe, with the test's two ends.
struct Piped {
    child: Child,
    output: pipe::Sender,
    input: BufReader<pipe::Receiver>,
    _folder: tempfile::TempDir,
}

impl Piped {
    fn start(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("script");
        std::fs::write(&path, script).expect("script");
        let (browser_in, ours_out) = std::io::pipe().expect("pipe");
        let (ours_in, browser_out) = std::io::pipe().expect("pipe");
        let mut command = Command::new(env!("CARGO_BIN_EXE_fake-browser"));
        command.arg("--script").arg(path).arg("--headless=new").kill_on_drop(true);
        command
            .as_std_mut()
            .fd_mappings(vec![
                FdMapping { parent_fd: OwnedFd::from(browser_in), child_fd: 3 },
                FdMapping { parent_fd: OwnedFd::from(browser_out), child_fd: 4 },
            ])
            .expect("mappings do not collide");
        let child = command.spawn().expect("starts");
        drop(command); // It holds copies of the browser's ends.
        let output = pipe::Sender::from_owned_fd(OwnedFd::from(ours_out)).expect("pipe");
        let input = pipe::Receiver::from_owned_fd(OwnedFd::from(ours_in)).expect("pipe");
        Self { child, output, input: BufReader::new(input), _folder: folder }
    }

    async fn send(&mut self, message: Value) {
        self.output.write_all(format!("{message}\0").as_bytes()).await.expect("writes");
    }

    /// Reads one frame. Bytes before the end of file count as a frame, without a NUL.
    async fn frame(&mut self) -> Vec<u8> {
        let mut frame = Vec::new();
        timeout(DEADLINE, self.input.read_until(0, &mut frame)).await.expect("in time").expect("reads");
        frame
    }

    async fn call(&mut self, method: &str) -> Value {
        self.call_with_id(1, method).await
    }

    async fn call_with_id(&mut self, id: u64, method: &str) -> Value {
        self.send(json!({"id": id, "method": method})).await;
        let mut frame = self.frame().await;
        assert_eq!(frame.pop(), Some(0));
        serde_json::from_slice(&frame).expect("JSON")
    }
}

#[tokio::test]
async fn fake_browser_on_a_pipe_responds_and_closes() {
    let mut browser = Piped::start("");
    assert_eq!(browser.call("Browser.getVersion").await["result"]["protocolVersion"], "1.3");
    assert_eq!(browser.call("Browser.close").await["id"], 1);
    assert!(timeout(DEADLINE, browser.child.wait()).await.expect("in time").expect("ends").success());
}

#[tokio::test]
async fn a_fake_browser_can_exit_in_the_middle_of_a_frame() {
    let mut browser = Piped::start(r#"{"method":"Page.enable","do":"exit_mid_frame"}"#);
    browser.send(json!({"id": 1, "method": "Page.enable"})).await;
    let rest = read_all(&mut browser.input).await;
    assert!(rest.starts_with(b"{") && !rest.ends_with(b"\0"), "{rest:?}");
}

#[tokio::test]
async fn f46_a_fake_browser_can_ignore_close_and_terminate() {
    let mut browser = Piped::start("{\"do\":\"ignore_close\"}\n{\"do\":\"ignore_terminate\"}");
    browser.call("Browser.close").await;
    let pid = browser.child.id().expect("still running").to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().await.expect("kill runs").success());
    // It still responds after both.
    assert_eq!(browser.call("Browser.getVersion").await["id"], 1);
    browser.child.kill().await.expect("SIGKILL is not ignored");
}

#[tokio::test]
async fn late_responses_do_not_delay_others_and_large_ones_are_complete() {
    let script = r#"{"method":"Page.enable","do":"late","milliseconds":500}
        {"method":"Log.enable","do":"large","bytes":104857600}
        {"method":"DOM.enable","do":"invalid_utf8"}"#;
    let mut browser = Piped::start(script);
    browser.send(json!({"id": 1, "method": "Page.enable"})).await;
    assert_eq!(browser.call_with_id(2, "Browser.getVersion").await["id"], 2);
    let late = browser.frame().await;
    assert!(late.starts_with(b"{\"id\":1"), "{:?}", String::from_utf8_lossy(&late));
    browser.send(json!({"id": 3, "method": "Log.enable"})).await;
    let large = browser.frame().await;
    assert!(large.len() > 104_857_600 && large.ends_with(b"\0"));
    browser.send(json!({"id": 4, "method": "DOM.enable"})).await;
    assert!(String::from_utf8(browser.frame().await).is_err());
}

#[tokio::test]
async fn fake_browser_on_a_port_has_discovery_and_websocket() {
    let folder = tempfile::tempdir().expect("folder");
    let mut profile = std::ffi::OsString::from("--user-data-dir=");
    profile.push(folder.path());
    let mut child = Command::new(env!("CARGO_BIN_EXE_fake-browser"))
        .arg("--remote-debugging-port=0")
        .arg(profile)
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let mut line = String::new();
    while !line.starts_with("DevTools listening on ") {
        line = timeout(DEADLINE, lines.next_line()).await.expect("in time").expect("reads").expect("a line");
    }
    let active = std::fs::read_to_string(folder.path().join("DevToolsActivePort")).expect("written");
    let port: u16 = active.lines().next().expect("a line").parse().expect("a port");
    assert!(get(port, "/json/version").await.contains("webSocketDebuggerUrl"));

    let mut stream = BufReader::new(TcpStream::connect(("127.0.0.1", port)).await.expect("connects"));
    let head = "GET /devtools/browser/fake HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("writes");
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        timeout(DEADLINE, stream.read_line(&mut line)).await.expect("in time").expect("reads");
    }
    let message = br#"{"id":5,"method":"Browser.getVersion"}"#;
    let mut frame = vec![0x81, 0x80 | u8::try_from(message.len()).expect("short"), 0, 0, 0, 0];
    frame.extend_from_slice(message);
    stream.write_all(&frame).await.expect("writes");
    let mut header = vec![0; 4];
    timeout(DEADLINE, stream.read_exact(&mut header)).await.expect("in time").expect("reads");
    let mut body = vec![0; usize::from(u16::from_be_bytes([header[2], header[3]]))];
    stream.read_exact(&mut body).await.expect("reads");
    assert_eq!(serde_json::from_slice::<Value>(&body).expect("JSON")["id"], 5);
}

async fn proxied(site: &Site, plan: ChaosPlan) -> ChaosProxy {
    let upstream = Endpoint::Tcp(([127, 0, 0, 1], site.port()).into());
    ChaosProxy::start(upstream, plan).await.expect("starts")
}

#[tokio::test]
async fn chaos_proxy_splits_and_truncates() {
    let site = Site::start().await.expect("starts");
    let straight = get(site.port(), "/bench").await;
    let split = ChaosPlan {
        to_upstream: vec![Fault::Split { bytes: 3 }],
        to_client: vec![Fault::Split { bytes: 700 }],
    };
    let proxy = proxied(&site, split).await;
    assert_eq!(get(proxy.port().expect("tcp"), "/bench").await, straight);
    let cut = ChaosPlan { to_client: vec![Fault::Truncate { after: 100 }], ..ChaosPlan::default() };
    let proxy = proxied(&site, cut).await;
    assert_eq!(get(proxy.port().expect("tcp"), "/bench").await, &straight[..100]);
}

#[tokio::test]
async fn f03_stalled_proxy_keeps_the_socket_and_forwards_nothing() {
    let site = Site::start().await.expect("starts");
    let proxy = proxied(&site, ChaosPlan::default()).await;
    let port = proxy.port().expect("tcp");
    proxy.stall();
    let held = get(port, "/plain");
    tokio::pin!(held);
    // No response ever comes; the wait is short only to keep the test fast.
    assert!(timeout(Duration::from_millis(100), &mut held).await.is_err());
    proxy.resume();
    assert!(held.await.contains("Plain heading"));
    proxy.drop_connections();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("still listens");
    let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await;
    assert!(read_all(stream).await.is_empty());
}

#[tokio::test]
async fn chaos_proxy_listens_on_a_unix_socket() {
    let site = Site::start().await.expect("starts");
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("proxy");
    let upstream = Endpoint::Tcp(([127, 0, 0, 1], site.port()).into());
    let plan = ChaosPlan { to_client: vec![Fault::Drop { after: 12 }], ..ChaosPlan::default() };
    let _proxy = ChaosProxy::start_at(Endpoint::Unix(path.clone()), upstream, plan).await.expect("starts");
    let mut stream = tokio::net::UnixStream::connect(&path).await.expect("connects");
    stream.write_all(b"GET /plain HTTP/1.1\r\n\r\n").await.expect("writes");
    assert_eq!(read_all(stream).await, b"HTTP/1.1 200");
}
