//! A daemon process for one test, found by its handshake file and ended on drop.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_daemon::{Handshake, Paths};
use tempfile::TempDir;

use crate::live::support::raw_http::{Reply, exchange};

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_daemon-for-tests");

/// Longest wait for anything on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A running daemon.
pub(crate) struct LiveDaemon {
    child: Child,
    pub(crate) home: TempDir,
    pub(crate) paths: Paths,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// A new home with a short name, because the length of socket paths is limited.
pub(crate) fn new_home() -> TempDir {
    tempfile::Builder::new().prefix("twd-").tempdir_in("/tmp").expect("a home")
}

/// Starts a daemon and reads its first line.
pub(crate) fn start_process(home: &Path, port: u16) -> (Child, Value) {
    let mut child = spawn(home, port);
    let line = first_line(&mut child);
    (child, line)
}

/// Starts a daemon without waiting for its first line.
pub(crate) fn spawn(home: &Path, port: u16) -> Child {
    command(home, port).spawn().expect("the daemon starts")
}

fn command(home: &Path, port: u16) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg(home).arg(port.to_string()).env("TMPDIR", home).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// The first line of a daemon.
pub(crate) fn first_line(child: &mut Child) -> Value {
    let mut line = String::new();
    let stdout = child.stdout.take().expect("piped");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("no JSON ({error}): {line:?}"))
}

impl LiveDaemon {
    pub(crate) fn start() -> Self {
        Self::start_in(new_home(), 0)
    }

    /// Starts a daemon whose scripts' processes send forged lines.
    pub(crate) fn start_with_forgery(forgery: &str) -> Self {
        let home = new_home();
        let mut child = command(home.path(), 0).arg(forgery).spawn().expect("the daemon starts");
        let line = first_line(&mut child);
        Self::new(child, &line, home)
    }

    pub(crate) fn start_in(home: TempDir, port: u16) -> Self {
        let (child, line) = start_process(home.path(), port);
        Self::new(child, &line, home)
    }

    /// Takes over a daemon that has reported that it is ready.
    pub(crate) fn new(child: Child, line: &Value, home: TempDir) -> Self {
        assert_eq!(line, &json!({"ready": true}));
        let paths = Paths::below(home.path());
        let handshake = Handshake::find(&paths.handshake()).expect("a handshake file");
        assert_eq!(handshake.pid, child.id());
        let token = handshake.expose_token().expect("a token").expose().to_owned();
        Self { child, home, paths, port: handshake.port, token }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it, and returns its home.
    pub(crate) fn crash(mut self) -> TempDir {
        self.child.kill().expect("ours to kill");
        self.child.wait().expect("ours to wait for");
        std::mem::replace(&mut self.home, new_home())
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the port is open");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        stream.set_write_timeout(Some(TIMEOUT)).expect("a timeout");
        stream
    }

    pub(crate) fn connect_socket(&self) -> UnixStream {
        let stream = UnixStream::connect(self.paths.socket()).expect("the socket is open");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        stream.set_write_timeout(Some(TIMEOUT)).expect("a timeout");
        stream
    }

    /// Sends a head and a body to the port, and returns the response.
    pub(crate) fn request(&self, first_line: &str, headers: &[&str], body: &str) -> Reply {
        exchange(self.connect(), &self.head(first_line, headers, body.len()), body)
    }

    /// The head of a request to the port.
    pub(crate) fn head(&self, first_line: &str, headers: &[&str], length: usize) -> String {
        let mut head = format!("{first_line} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n", self.port);
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        if length > 0 {
            head.push_str(&format!("content-length: {length}\r\n"));
        }
        head + "connection: close\r\n\r\n"
    }

    /// The header that shows the token.
    pub(crate) fn bearer(&self) -> String {
        format!("authorization: Bearer {}", self.token)
    }

    /// Sends a request over the socket, as the user.
    pub(crate) fn request_as_user(&self, method: &str, path: &str, body: &Value) -> Reply {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: tabwire.local\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        exchange(self.connect_socket(), &head, &body)
    }

    /// Runs an action and returns its result; panics when it fails.
    pub(crate) fn act(&self, action: &str, request: &Value) -> Value {
        let reply = self.request_as_user("POST", &format!("/v1/actions/{action}"), request);
        assert_eq!(reply.status, 200, "{action}: {}", reply.body);
        reply.json()["result"].clone()
    }

    /// Panics unless the daemon still responds.
    pub(crate) fn expect_alive(&self) {
        assert_eq!(self.request_as_user("GET", "/v1/status", &Value::Null).status, 200);
        assert_eq!(self.request("GET /v1/status", &[&self.bearer()], "").status, 200);
    }
}

impl Drop for LiveDaemon {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        if let Ok(stream) = UnixStream::connect(self.paths.socket()) {
            let _ = stream.set_read_timeout(Some(TIMEOUT));
            let head = "POST /v1/daemon/stop HTTP/1.1\r\nhost: tabwire.local\r\n\
                        content-type: application/json\r\nconnection: close\r\n\r\n";
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| exchange(stream, head, "")));
        }
        let until = Instant::now() + Duration::from_secs(10);
        while Instant::now() < until {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::yield_now();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
