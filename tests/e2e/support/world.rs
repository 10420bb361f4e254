//! The environment of one test: its own `TABWIRE_HOME` and the binary under test.
//!
//! Dropping a `World` stops its daemon and then fails when processes, sockets, profiles, descriptors or temporary files
//! are left.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::process::{Process, main_browsers};
use crate::support::wait::{eventually, find_eventually};
use crate::support::watchdog::Watchdog;

/// The binary under test.
const TABWIRE: &str = env!("CARGO_BIN_EXE_tabwire");

/// A command that takes longer fails the test.
const COMMAND_SECONDS: u64 = 100;

/// Time limit for the mux to drop internal commands without a response.
const SETTLE_SECONDS: u64 = 40;

/// Time limit for processes to end after `daemon stop`.
const GONE_SECONDS: u64 = 10;

/// Commands that end browsers. The process groups are recorded before them: a process that Chromium leaves behind may
/// name the test's directory neither in its arguments nor in its environment.
const ENDING_COMMANDS: [&str; 5] = ["stop", "close", "restart", "delete", "sweep"];

/// A fresh `TABWIRE_HOME`.
pub(crate) struct World {
    // Before the home: fields are dropped in this order.
    _watchdog: Watchdog,
    home: TempDir,
    variables: Vec<(String, String)>,
    /// Process groups of browsers and ports of daemons, checked at the end.
    groups: Mutex<BTreeSet<i32>>,
    ports: Mutex<BTreeSet<u16>>,
    /// Whether a browser was killed: it leaves temporary directories.
    has_litter: AtomicBool,
}

/// Output and exit code of a command.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// The one JSON value on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// The code of the failure printed as JSON, and the exit code.
    pub(crate) fn failure(&self) -> (String, i32) {
        (self.json()["error"]["code"].as_str().unwrap_or_default().to_owned(), self.code)
    }

    /// Panics unless the command succeeded.
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// Standard output without the last line break.
    pub(crate) fn text(&self) -> &str {
        self.stdout.trim_end_matches('\n')
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let home = tempfile::Builder::new().prefix("tw-").rand_bytes(5).tempdir_in("/tmp").expect("a home");
        for directory in ["user", "tmp"] {
            fs::create_dir(home.path().join(directory)).expect("a directory");
        }
        let world = Self {
            _watchdog: Watchdog::over(home.path()),
            home,
            variables: Vec::new(),
            groups: Mutex::default(),
            ports: Mutex::default(),
            has_litter: AtomicBool::new(false),
        };
        let world = world.with("TABWIRE_PORT", "0").with("TABWIRE_LINGER", "3");
        match std::env::var("TABWIRE_TEST_BROWSER") {
            Ok(browser) => world.with("TABWIRE_BROWSER", browser),
            Err(_) => world,
        }
    }

    /// The same world without a chosen browser: Tabwire finds Chromium, which has what the headless shell lacks, such as
    /// windows and extensions.
    pub(crate) fn with_whole_chromium(mut self) -> Self {
        self.variables.retain(|(name, _)| name != "TABWIRE_BROWSER");
        self
    }

    /// The same world with one more environment variable.
    pub(crate) fn with(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.variables.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn runtime(&self) -> PathBuf {
        self.home().join("runtime")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.runtime().join("daemon.sock")
    }

    /// The daemon's log so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.home().join("state/logs/daemon.log")).unwrap_or_default()
    }

    /// A command of this world, not started yet.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, program: impl AsRef<OsStr>, arguments: &[S]) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let foreign = ["TABWIRE_", "XDG_", "CLICOLOR"].iter().any(|prefix| text.starts_with(prefix));
            if foreign || matches!(text.as_ref(), "NO_COLOR" | "CI" | "COLUMNS") {
                command.env_remove(&name);
            }
        }
        command
            .args(arguments)
            .current_dir(self.home())
            .env("TABWIRE_HOME", self.home())
            .env("HOME", self.home().join("user"))
            .env("TMPDIR", self.home().join("tmp"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts the binary without waiting for it.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(TABWIRE, arguments).spawn().expect("the binary starts")
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        self.record_groups_before(arguments);
        wait(self.start(arguments), arguments)
    }

    /// Runs the binary to its end in a directory below this world's home.
    pub(crate) fn run_in(&self, directory: &str, arguments: &[&str]) -> Outcome {
        self.record_groups_before(arguments);
        let mut command = self.command(TABWIRE, arguments);
        let child = command.current_dir(self.home().join(directory)).spawn().expect("the binary starts");
        wait(child, arguments)
    }

    /// Runs another program in this world, e.g. one that gives the binary a terminal.
    pub(crate) fn run_program(&self, program: &str, arguments: &[&str]) -> Outcome {
        wait(self.command(program, arguments).spawn().expect("the program starts"), arguments)
    }

    /// Runs the binary with `--json`, expects success and returns the result.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[&["--json"], arguments].concat()).succeeded().json()
    }

    /// Opens a page and returns the tab's id.
    pub(crate) fn open(&self, arguments: &[&str]) -> String {
        let response = self.json(&[&["open"], arguments].concat());
        response["result"]["tab"].as_str().expect("a tab").to_owned()
    }

    /// Evaluates and returns the output; expects success.
    pub(crate) fn eval(&self, expression: &str) -> String {
        self.run(&["eval", expression]).succeeded().text().to_owned()
    }

    /// The websocket URL of the default session.
    pub(crate) fn cdp_url(&self) -> String {
        self.run(&["cdp-url"]).succeeded().text().to_owned()
    }

    /// The status of the daemon; `None` when none runs.
    pub(crate) fn find_status(&self) -> Option<Value> {
        let status = self.json(&["daemon", "status"]);
        let port = u16::try_from(status.get("port")?.as_u64()?).ok()?;
        self.ports.lock().expect("not poisoned").insert(port);
        Some(status)
    }

    /// One number of the default session's status.
    pub(crate) fn number(&self, field: &str) -> i64 {
        let status = self.find_status().expect("a daemon runs");
        let sessions = status["sessions"].as_array().expect("sessions");
        let session = sessions.iter().find(|session| session["name"] == "default").expect("the session");
        session[field].as_i64().unwrap_or_else(|| panic!("{field} in {session}"))
    }

    /// A pid in the default session's status.
    pub(crate) fn pid(&self, field: &str) -> i32 {
        // Tests kill the process.
        self.record_groups();
        i32::try_from(self.number(field)).expect("a process number")
    }

    pub(crate) fn daemon_pid(&self) -> i32 {
        self.record_groups();
        let status = self.find_status().expect("a daemon runs");
        status["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).expect("a process number")
    }

    /// Sends a raw HTTP request over the daemon's socket; returns status line and body.
    pub(crate) fn http(&self, request: &str) -> (String, String) {
        let mut stream = UnixStream::connect(self.socket()).expect("the daemon listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time limit");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("it responds");
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or((response.as_str(), ""));
        (head.lines().next().unwrap_or_default().to_owned(), body.to_owned())
    }

    /// Files below a directory of this world, by name.
    pub(crate) fn files(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.home().join(directory)).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Every process that belongs to this world.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let home = self.home().to_string_lossy().into_owned();
        let own = std::process::id().cast_signed();
        let all: Vec<_> = Process::all().into_iter().filter(|process| process.pid != own).collect();
        let (named, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|process| process.mentions(&home));
        let mut groups = self.groups.lock().expect("not poisoned");
        groups.extend(named.iter().filter(|process| process.pid == process.group).map(|found| found.pid));
        named
            .into_iter()
            .chain(others.into_iter().filter(|process| groups.contains(&process.group)))
            .collect()
    }

    /// Records the process groups of browsers, so that the check at the end finds what they leave.
    fn record_groups(&self) {
        drop(self.processes());
    }

    fn record_groups_before(&self, arguments: &[&str]) {
        if arguments.iter().any(|argument| ENDING_COMMANDS.contains(argument)) {
            self.record_groups();
        }
    }

    /// The browser processes of this world.
    pub(crate) fn browser_processes(&self) -> Vec<Process> {
        self.processes().into_iter().filter(|process| process.command.contains("chromium")).collect()
    }

    /// The browsers of this world, without the processes that they started.
    pub(crate) fn browsers(&self) -> Vec<Process> {
        main_browsers(&self.browser_processes())
    }

    /// Waits until only the engine is a client and no command or target is pending.
    pub(crate) fn settles(&self) {
        let mut last = Value::Null;
        let settled = find_eventually(SETTLE_SECONDS, || {
            last = self.find_status()?;
            let sessions = last["sessions"].as_array()?;
            sessions.iter().all(|session| is_settled(session, sessions)).then_some(())
        });
        assert!(settled.is_some(), "something is still held: {last}");
    }

    /// Call before the test kills a browser.
    pub(crate) fn expect_litter(&self) {
        self.record_groups();
        self.has_litter.store(true, Ordering::Relaxed);
    }

    fn check_nothing_is_left(&self) {
        let gone = find_eventually(GONE_SECONDS, || self.processes().is_empty().then_some(()));
        assert!(gone.is_some(), "still running: {:#?}\n{}", self.processes(), self.log());
        let home = self.home().to_string_lossy().into_owned();
        let sockets = fs::read_to_string("/proc/net/unix").unwrap_or_default();
        let listening: Vec<_> = sockets.lines().filter(|line| line.contains(&home)).collect();
        assert!(listening.is_empty(), "still listening: {listening:?}");
        for port in self.ports.lock().expect("not poisoned").iter() {
            assert!(TcpStream::connect(("127.0.0.1", *port)).is_err(), "port {port} is still open");
        }
        let is_litter = |name: &String| {
            let name = name.trim_start_matches('.');
            self.has_litter.load(Ordering::Relaxed) && name.starts_with("org.chromium.Chromium.")
        };
        for directory in ["runtime/profiles", "runtime/browsers", "tmp"] {
            let left: Vec<String> =
                self.files(directory).into_iter().filter(|name| !is_litter(name)).collect();
            assert_eq!(left, [""; 0], "left in {directory}\n{}", self.log());
        }
        for file in ["daemon.sock", "handshake.json"] {
            assert!(!self.runtime().join(file).exists(), "{file} is left");
        }
    }
}

/// Whether a session's browser has only the CDP sessions of the engines that share it: one for the browser
/// and one for each tab.
fn is_settled(session: &Value, all: &[Value]) -> bool {
    let number = |field: &str| session[field].as_u64().unwrap_or(u64::MAX);
    let shares =
        |other: &&Value| other["browser_pid"] == session["browser_pid"] && session["browser_pid"].is_u64();
    let engines = all.iter().filter(shares).count().max(1) as u64;
    let is_gone = session["state"] != "active";
    // Commands to a crashed page wait until it is reloaded, as in Chromium.
    let has_crashed = session["crashed_tabs"].as_array().is_some_and(|tabs| !tabs.is_empty());
    let waiting = if has_crashed { number("pending") } else { 0 };
    let is_idle = number("clients") <= engines && number("pending") == waiting;
    is_gone || is_idle && number("held") <= engines * (1 + number("tabs")) + waiting
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.record_groups();
        if self.find_status().is_some() {
            self.settles();
            self.run(&["daemon", "stop"]).succeeded();
        }
        self.check_nothing_is_left();
    }
}

/// Waits for the end of a program and collects its output.
pub(crate) fn wait(mut child: Child, arguments: &[&str]) -> Outcome {
    let (mut stdout, mut stderr) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    std::thread::scope(|scope| {
        let output = scope.spawn(move || read_all(&mut stdout));
        let errors = scope.spawn(move || read_all(&mut stderr));
        let status = find_eventually(COMMAND_SECONDS, || child.try_wait().expect("our own child"));
        if status.is_none() {
            let _ = child.kill();
        }
        let code = status.and_then(|status| status.code());
        let (stdout, stderr) = (output.join().expect("read"), errors.join().expect("read"));
        let code = code.unwrap_or_else(|| panic!("{arguments:?} did not end by itself: {stdout}\n{stderr}"));
        Outcome { code, stdout, stderr }
    })
}

fn read_all(source: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = source.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A program of the test kit, built beside the binary under test.
pub(crate) fn testkit_program(name: &str) -> PathBuf {
    let path = Path::new(TABWIRE).with_file_name(name);
    assert!(path.exists(), "{name} is missing: run `cargo build -p tabwire-testkit --bins` first");
    path
}

/// Waits until none of these processes runs.
pub(crate) fn await_end(what: &str, seconds: u64, processes: &[Process]) {
    eventually(what, seconds, || {
        processes
            .iter()
            .all(|process| Process::find(process.pid).is_none_or(|now| now.command != process.command))
    });
}
