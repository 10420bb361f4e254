//! Node programs that launch the Chrome shim as their browser.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::process::Process;
use crate::support::wait::find_eventually;
use crate::support::world::World;

/// The binary under test.
const TABWIRE: &str = env!("CARGO_BIN_EXE_tabwire");

/// How long a shim or its browser may outlive the killed process.
pub(crate) const ORPHAN_SECONDS: u64 = 5;

/// A link to the binary with the name that makes it run as the shim.
pub(crate) fn shim(world: &World) -> PathBuf {
    let link = world.home().join("tabwire-chrome");
    if !link.exists() {
        std::os::unix::fs::symlink(TABWIRE, &link).expect("a link");
    }
    link
}

/// A directory for files that killed launchers leave.
fn litter(world: &World) -> PathBuf {
    let directory = world.home().join("launchers");
    fs::create_dir_all(&directory).expect("a directory");
    directory
}

/// A Node command for a script of `tests/clients`.
fn node(world: &World, script: &[&str]) -> Command {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    assert!(
        directory.join("node_modules").is_dir(),
        "tests/clients/node_modules is missing: run `cargo xtask setup`"
    );
    let mut command = world.command("node", script);
    command.current_dir(&directory).env("TMPDIR", litter(world));
    command
}

/// Runs a script to its end and returns the JSON that it prints last.
pub(crate) fn run_script(world: &World, script: &str, more: &[&str]) -> Value {
    let output = node(world, &[script]).args(more).stderr(Stdio::inherit()).output().expect("node is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("{script} {more:?}: {text}\n{}", world.log()))
}

/// Runs a short module to its end and returns the JSON that it prints last.
pub(crate) fn run_code(world: &World, code: &str) -> Value {
    let command = ["--input-type=module", "--eval", code];
    let output = node(world, &command).stderr(Stdio::inherit()).output().expect("node is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("{code}: {text}\n{}", world.log()))
}

/// A library that has launched its browser.
pub(crate) struct Launcher {
    child: Child,
    lines: BufReader<ChildStdout>,
    name: String,
    /// The pid of the MCP server that the script reports, if it started one.
    named: Option<i32>,
}

impl Launcher {
    /// Launches through the shim, and waits until the library has its browser.
    pub(crate) fn start(world: &World, tool: &str, more: &[&str]) -> Self {
        Self::start_script(world, "launch/chrome-launcher.mjs", tool, more)
    }

    /// Starts an MCP server that launches the shim when it is first needed.
    pub(crate) fn start_server(world: &World, tool: &str, more: &[&str]) -> Self {
        Self::start_script(world, "launch/mcp-launcher.mjs", tool, more)
    }

    fn start_script(world: &World, script: &str, tool: &str, more: &[&str]) -> Self {
        let mut launcher = Self::begin(world, script, tool, more);
        let ready = launcher.next_line();
        assert_eq!(ready["ready"], true, "{tool}: {ready}\n{}", world.log());
        launcher.named = ready["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        launcher
    }

    /// Starts the script and does not wait for the browser.
    fn begin(world: &World, script: &str, tool: &str, more: &[&str]) -> Self {
        let mut command = node(world, &[script]);
        let mut child = command
            .args(["--tool", tool, "--executable"])
            .arg(shim(world))
            .args(more)
            .stdin(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("node is there: `cargo xtask setup` says what is needed");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, lines, name: tool.to_owned(), named: None }
    }

    /// The next printed line; the script has its own deadlines.
    pub(crate) fn next_line(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("readable");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{} ended: {line}", self.name))
    }

    /// Sends a command and returns its result. Ignores notices of disconnection.
    pub(crate) fn command(&mut self, command: &Value) -> Value {
        writeln!(self.child.stdin.as_mut().expect("piped"), "{command}").expect("it listens");
        loop {
            let line = self.next_line();
            if line.get("disconnected").is_none() {
                return line;
            }
        }
    }

    /// Opens a page and returns its title.
    pub(crate) fn title(&mut self, url: &str) -> String {
        let response = self.command(&json!({"title": url}));
        response["title"].as_str().unwrap_or_else(|| panic!("{}: {response}", self.name)).to_owned()
    }

    /// Closes the browser and waits for the script's exit.
    pub(crate) fn close(mut self) {
        assert_eq!(self.command(&json!({"close": true})), json!({"closed": true}), "{}", self.name);
        let status = self.child.wait().expect("our own child");
        assert!(status.success(), "{}: {status}", self.name);
    }

    /// The pid of the MCP server that the script started.
    pub(crate) fn server(&self) -> i32 {
        self.named.expect("a server")
    }

    /// The pid of the script.
    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a process number")
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The running shims of a world.
pub(crate) fn shims(world: &World) -> Vec<Process> {
    let path = shim(world).to_string_lossy().into_owned();
    Process::all().into_iter().filter(|process| process.command.starts_with(&path)).collect()
}

/// The main process of the world's only browser.
pub(crate) fn browser(world: &World) -> Process {
    let found = find_eventually(10, || {
        world.browsers().into_iter().find(|browser| browser.command.contains("--remote-debugging-pipe"))
    });
    found.expect("a browser runs")
}
