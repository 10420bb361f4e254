//! A Chromium that the test starts, for Tabwire to attach to.

use std::fs;
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal};
use tabwire_testkit::bench::{CHROMIUM, test_browser};
use tempfile::TempDir;

use crate::support::wait::{eventually, find_eventually};

const FLAGS: &[&str] = &[
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// A running Chromium; drop kills it and removes its profile.
pub(crate) struct Chromium {
    child: Child,
    home: TempDir,
    program: PathBuf,
    /// Further arguments of its start.
    arguments: Vec<String>,
}

impl Chromium {
    /// Starts the browser of short runs with a debugging port.
    pub(crate) fn with_port() -> Self {
        Self::start_in(new_home(), test_browser(), &["--remote-debugging-port=0"]).with_known_port()
    }

    /// Starts the whole Chromium with a debugging port. Only it locks its profile.
    pub(crate) fn whole_with_port() -> Self {
        Self::start(&["--remote-debugging-port=0"]).with_known_port()
    }

    fn with_known_port(self) -> Self {
        self.await_port();
        self
    }

    fn await_port(&self) {
        let file = self.profile().join("DevToolsActivePort");
        eventually("Chromium writes its port", 30, || {
            fs::read_to_string(&file).is_ok_and(|text| text.lines().count() == 2)
        });
    }

    /// Starts one with this debugging port. Chromium writes no DevToolsActivePort file for a fixed port.
    pub(crate) fn on_port(port: u16) -> Self {
        let browser = Self::start(&[&format!("--remote-debugging-port={port}")]);
        eventually("Chromium listens", 30, || TcpStream::connect(("127.0.0.1", port)).is_ok());
        browser
    }

    /// Starts one without a debugging port, and waits until it locks its profile.
    pub(crate) fn without_port() -> Self {
        let browser = Self::start(&[]);
        let lock = browser.profile().join("SingletonLock");
        eventually("Chromium locks its profile", 30, || lock.symlink_metadata().is_ok());
        browser
    }

    /// Starts one with a debugging port and an extension, on a prepared profile.
    pub(crate) fn with_extension(prepare: impl FnOnce(&Path) -> PathBuf) -> Self {
        Self::with_extensions(prepare, &[])
    }

    /// The same, with more extensions.
    pub(crate) fn with_extensions(prepare: impl FnOnce(&Path) -> PathBuf, more: &[PathBuf]) -> Self {
        Self::with_extensions_and(prepare, more, &[])
    }

    /// The same, with more arguments.
    pub(crate) fn with_extensions_and(
        prepare: impl FnOnce(&Path) -> PathBuf,
        more: &[PathBuf],
        arguments: &[&str],
    ) -> Self {
        let home = new_home();
        let folder = prepare(&home.path().join("profile"));
        let all: Vec<String> =
            std::iter::once(&folder).chain(more).map(|one| one.display().to_string()).collect();
        let load = format!("--load-extension={}", all.join(","));
        let arguments = [&["--remote-debugging-port=0", &load], arguments].concat();
        Self::start_in(home, CHROMIUM.into(), &arguments).with_known_port()
    }

    /// Ends it and starts it again on the same profile with the same arguments.
    pub(crate) fn restart(&mut self) {
        self.kill();
        for left in ["DevToolsActivePort", "SingletonLock"] {
            let _ = fs::remove_file(self.profile().join(left));
        }
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        self.child = spawn(self.home.path(), &self.program, &arguments);
        self.await_port();
    }

    fn start(more: &[&str]) -> Self {
        Self::start_in(new_home(), CHROMIUM.into(), more)
    }

    fn start_in(home: TempDir, program: PathBuf, more: &[&str]) -> Self {
        let child = spawn(home.path(), &program, more);
        Self { child, home, program, arguments: more.iter().map(|one| (*one).to_owned()).collect() }
    }

    pub(crate) fn profile(&self) -> PathBuf {
        self.home.path().join("profile")
    }

    fn active_port(&self) -> (u16, String) {
        let text = fs::read_to_string(self.profile().join("DevToolsActivePort")).expect("a port file");
        let (port, path) = text.split_once('\n').expect("two lines");
        (port.parse().expect("a port"), path.trim().to_owned())
    }

    pub(crate) fn port(&self) -> u16 {
        self.active_port().0
    }

    /// The debugging port of its own user interface, if it was started with one.
    pub(crate) fn window_port(&self) -> u16 {
        let file = self.profile().join("UIDevToolsActivePort");
        let port = find_eventually(20, || fs::read_to_string(&file).ok()?.trim().parse().ok());
        port.expect("Chromium reports the port of its user interface")
    }

    pub(crate) fn websocket(&self) -> String {
        let (port, path) = self.active_port();
        format!("ws://127.0.0.1:{port}{path}")
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a process number")
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_none())
    }

    /// Stops all of its processes with SIGSTOP; their sockets stay open.
    pub(crate) fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Resumes them.
    pub(crate) fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process");
        let _ = rustix::process::kill_process_group(group, signal);
    }

    /// Kills the whole browser, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.kill();
        // `home` removes the directory. Its children may still be writing into it.
        let _ = find_eventually(5, || emptied(self.home.path()).then_some(()));
    }
}

fn spawn(home: &Path, program: &Path, more: &[&str]) -> Child {
    Command::new(program)
        .args(FLAGS)
        .args(more)
        .arg(format!("--user-data-dir={}", home.join("profile").display()))
        .arg("about:blank")
        .env("TMPDIR", home)
        .env("HOME", home)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("Chromium is at /usr/bin/chromium")
}

fn new_home() -> TempDir {
    let home = tempfile::Builder::new().prefix("own-").tempdir_in("/tmp").expect("a directory");
    fs::create_dir(home.path().join("profile")).expect("a profile");
    home
}

fn emptied(directory: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.fold(true, |done, entry| {
        let path = entry.path();
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let removed = if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.is_ok() && done
    })
}
