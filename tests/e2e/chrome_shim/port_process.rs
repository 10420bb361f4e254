//! A Chrome shim with a debugging port, started by the test.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::chrome_shim::launcher::shim;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

/// A running shim with a debugging port.
pub(crate) struct PortChrome {
    child: Child,
    pub(crate) address: String,
    /// What it printed to stderr before its address.
    pub(crate) said: Vec<String>,
    log: PathBuf,
}

impl PortChrome {
    pub(crate) fn start(world: &World, more: &[&str]) -> Self {
        Self::start_headed(world, &[&["--headless"], more].concat())
    }

    /// The same with a window.
    pub(crate) fn start_headed(world: &World, more: &[&str]) -> Self {
        let log = world.home().join("chrome.log");
        let mut command = world.command(shim(world), &["--no-sandbox", "--remote-debugging-port=0"]);
        let mut child = command
            .args(more)
            .env("TABWIRE_CHROME_LOG", &log)
            .stdout(Stdio::null())
            .spawn()
            .expect("the shim starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let mut said = Vec::new();
        let address = loop {
            let line =
                lines.next().unwrap_or_else(|| panic!("it ended: {said:?}\n{}", world.log())).expect("text");
            if let Some(address) = line.strip_prefix("DevTools listening on ") {
                break address.to_owned();
            }
            said.push(line);
        };
        // Reads the rest of the output, so that the shim never blocks on a full pipe.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self { child, address, said, log }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a process number")
    }

    pub(crate) fn port(&self) -> u16 {
        let rest = self.address.strip_prefix("ws://127.0.0.1:").expect("an address of this machine");
        rest.split('/').next().and_then(|port| port.parse().ok()).expect("a port")
    }

    pub(crate) fn path(&self) -> &str {
        let at = self.address.find("/devtools/").expect("a path");
        &self.address[at..]
    }

    /// Waits until it has noticed this many losses.
    pub(crate) fn degrades(&self, times: usize) {
        eventually("it notices the loss", 15, || {
            self.log().matches("runtimeState=\"degraded\"").count() == times
        });
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Sends an HTTP request; returns status and body.
    pub(crate) fn http(&self, method: &str, path: &str, headers: &str) -> (u16, String) {
        ask_port(self.port(), method, path, headers)
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        let (status, body) = self.http("GET", path, &format!("Host: 127.0.0.1:{}\r\n", self.port()));
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).expect("JSON")
    }

    /// Waits for its exit; returns the exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        find_eventually(20, || self.child.try_wait().expect("our own child")).expect("it ends").code()
    }
}

impl Drop for PortChrome {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends an HTTP request to a debugging port; returns status and body.
pub(crate) fn ask_port(port: u16, method: &str, path: &str, headers: &str) -> (u16, String) {
    ask_with(port, method, path, headers, "")
}

/// The same with a body.
pub(crate) fn ask_with(port: u16, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    write!(stream, "{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n{body}").expect("it reads");
    // Chrome ignores `Connection: close`, so the body is read by its length.
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let start = head.len();
        assert!(reader.read_line(&mut head).expect("it responds") > 0, "no whole head: {head}");
        if let Some(value) = head[start..].to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a whole body");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, String::from_utf8(body).expect("text"))
}
