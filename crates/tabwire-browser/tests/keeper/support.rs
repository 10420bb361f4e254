//! A runtime directory, a keeper and a raw pipe for one test; checks that nothing is left.
#![allow(dead_code, reason = "every test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use serde_json::Value;
use tabwire_browser::{
    BrowserDescriptor, BrowserError, Claim, KeepRequest, LaunchSpec, ProcessIdentity, keeper_client,
    new_browser_id, new_instance_id,
};

pub(crate) const KEEPER: &str = env!("CARGO_BIN_EXE_keep-for-tests");
pub(crate) const CHROMIUM: &str = "/usr/bin/chromium";

pub(crate) fn within(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

/// Polls a condition every few milliseconds. Panics at the deadline.
pub(crate) fn eventually(what: &str, seconds: u64, mut condition: impl FnMut() -> bool) {
    let deadline = within(seconds);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen in {seconds} s");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The runtime directory of one test. On drop, kills processes that still use it.
pub(crate) struct KeeperHome {
    pub(crate) home: tempfile::TempDir,
}

impl KeeperHome {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::Builder::new().prefix("tabwire-").tempdir_in("/tmp").unwrap() }
    }

    pub(crate) fn runtime_dir(&self) -> PathBuf {
        self.home.path().join("run")
    }

    pub(crate) fn browsers(&self) -> PathBuf {
        self.runtime_dir().join("browsers")
    }

    /// A launch of Chromium with a temporary profile.
    pub(crate) fn request(&self) -> KeepRequest {
        let id = new_browser_id().unwrap();
        let profile = self.runtime_dir().join("profiles").join(id.as_str());
        let mut spec = LaunchSpec::new(id, CHROMIUM.into(), profile);
        spec.temporary = true;
        let instance = new_instance_id().unwrap();
        let labels = [("session".to_owned(), "default".to_owned())].into();
        KeepRequest { spec, runtime_dir: self.runtime_dir(), instance, labels }
    }

    /// A launch of a small shell script instead of a browser.
    pub(crate) fn fake(&self, script: &str) -> KeepRequest {
        let program = self.home.path().join("fake-browser");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut request = self.request();
        request.spec.executable = program;
        request
    }

    pub(crate) fn keep(&self, request: &KeepRequest) -> Result<BrowserDescriptor, BrowserError> {
        keeper_client::spawn_keeper(Path::new(KEEPER), &[], request, within(25))
    }

    /// Every process whose command line names this home.
    pub(crate) fn processes(&self) -> Vec<(i32, String)> {
        let home = self.home.path().to_str().unwrap();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if line.contains(home) {
                found.push((pid, line));
            }
        }
        found
    }

    /// Waits until no process, descriptor, socket and temporary profile is left.
    pub(crate) fn expect_nothing_left(&self, seconds: u64) {
        eventually("the end of every browser process", seconds, || self.processes().is_empty());
        let files = |directory: PathBuf| -> Vec<PathBuf> {
            fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
        };
        eventually("the removal of descriptors and sockets", seconds, || files(self.browsers()).is_empty());
        let profiles = self.runtime_dir().join("profiles");
        eventually("the removal of the profile", seconds, || files(profiles.clone()).is_empty());
    }
}

impl Drop for KeeperHome {
    fn drop(&mut self) {
        // A failed test must not leave a browser. These processes belong to the test, because their arguments name
        // its directory.
        for (pid, _) in self.processes() {
            if let Some(process) = u32::try_from(pid).ok().and_then(ProcessIdentity::of) {
                let _ = process.kill_group();
            }
        }
    }
}

/// A shell command that responds to the keeper's `Browser.getVersion`.
pub(crate) const SENDS_VERSION: &str = r#"printf '{"id":1,"result":{"product":"Fake/1.0"}}\000' >&4"#;

/// NUL-separated JSON over a claimed pipe.
pub(crate) struct RawPipe {
    pub(crate) claim: Claim,
    buffer: Vec<u8>,
}

impl RawPipe {
    pub(crate) fn claim(descriptor: &BrowserDescriptor) -> Self {
        let holder = new_instance_id().unwrap();
        let claim = keeper_client::claim(&descriptor.socket, &holder, within(5)).unwrap();
        Self { claim, buffer: Vec::new() }
    }

    pub(crate) fn write(&self, bytes: &[u8]) {
        assert_eq!(rustix::io::write(&self.claim.to_browser, bytes).unwrap(), bytes.len());
    }

    /// The next frame, or `None` at the deadline.
    pub(crate) fn find_frame(&mut self, deadline: Instant) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == 0) {
                let rest = self.buffer.split_off(end + 1);
                let frame = std::mem::replace(&mut self.buffer, rest);
                return Some(serde_json::from_slice(&frame[..end]).unwrap());
            }
            if !readable(&self.claim.from_browser, deadline) {
                return None;
            }
            let mut piece = [0; 65536];
            let read = rustix::io::read(&self.claim.from_browser, &mut piece).unwrap();
            assert!(read > 0, "the browser closed its pipe");
            self.buffer.extend_from_slice(&piece[..read]);
        }
    }

    pub(crate) fn ask(&mut self, id: u64, method: &str, params: &Value, session: Option<&str>) -> Value {
        let mut message = serde_json::json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.write(format!("{message}\0").as_bytes());
        let deadline = within(10);
        loop {
            let frame = self.find_frame(deadline).unwrap_or_else(|| panic!("no response to {method}"));
            if frame["id"] == id {
                return frame;
            }
        }
    }

    /// Opens a page and returns a CDP session on it.
    pub(crate) fn attach_to_page(&mut self, id: u64) -> String {
        let targets = self.ask(id, "Target.getTargets", &Value::Null, None);
        let targets = targets["result"]["targetInfos"].as_array().unwrap().clone();
        let page = targets.iter().find(|target| target["type"] == "page").unwrap();
        let parameters = serde_json::json!({"targetId": page["targetId"], "flatten": true});
        let attached = self.ask(id + 1, "Target.attachToTarget", &parameters, None);
        attached["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn evaluate(&mut self, id: u64, session: &str, expression: &str) -> Value {
        let parameters = serde_json::json!({"expression": expression, "returnByValue": true});
        self.ask(id, "Runtime.evaluate", &parameters, Some(session))["result"]["result"]["value"].clone()
    }
}

fn readable(descriptor: &OwnedFd, deadline: Instant) -> bool {
    let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).unwrap();
    let mut wanted = [PollFd::from_borrowed_fd(descriptor.as_fd(), PollFlags::IN)];
    rustix::event::poll(&mut wanted, Some(&left)).unwrap() > 0
}

/// The process and all its descendants.
pub(crate) fn tree(root: i32) -> Vec<i32> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let parent =
            stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(1).unwrap().parse::<i32>().unwrap();
        parents.push((pid, parent));
    }
    let mut found = vec![root];
    let mut next = 0;
    while let Some(above) = found.get(next).copied() {
        found.extend(parents.iter().filter(|(_, parent)| *parent == above).map(|(pid, _)| *pid));
        next += 1;
    }
    found
}
