//! Starts, watches and kills the client suites of `tests/clients`, which run in Node.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::support::fixture_site::FixtureSite;

/// A running suite.
pub(crate) struct Suite {
    child: Child,
    lines: BufReader<ChildStdout>,
    name: String,
}

impl Suite {
    pub(crate) fn playwright(endpoint: &str, site: &FixtureSite, more: &[&str]) -> Self {
        Self::start("playwright/suite.mjs", endpoint, site, more)
    }

    pub(crate) fn puppeteer(endpoint: &str, site: &FixtureSite, more: &[&str]) -> Self {
        Self::start("puppeteer/suite.mjs", endpoint, site, more)
    }

    /// Uses tabs that existed before the client connected.
    pub(crate) fn unattached(endpoint: &str, site: &FixtureSite, more: &[&str]) -> Self {
        Self::start("unattached-tabs.mjs", endpoint, site, more)
    }

    /// Takes `contexts[0].pages[0]`, as many frameworks do.
    pub(crate) fn first_page(endpoint: &str, site: &FixtureSite, more: &[&str]) -> Self {
        Self::start("first-page.mjs", endpoint, site, more)
    }

    /// Drives a Firefox session with Playwright, step by step.
    pub(crate) fn firefox(endpoint: &str, site: &FixtureSite) -> Self {
        Self::start("firefox.mjs", endpoint, site, &[])
    }

    /// Every line that it prints until its end.
    pub(crate) fn steps(mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.next_line()).collect()
    }

    /// The next line that the suite prints.
    pub(crate) fn line(&mut self) -> Value {
        self.next_line().unwrap_or_else(|| panic!("{} ended early", self.name))
    }

    fn start(program: &str, endpoint: &str, site: &FixtureSite, more: &[&str]) -> Self {
        let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
        assert!(
            directory.join("node_modules").is_dir(),
            "tests/clients/node_modules is missing: run `cargo xtask setup`"
        );
        let mut child = Command::new("node")
            .current_dir(&directory)
            .arg(program)
            .args(["--endpoint", endpoint, "--site-port", &site.port().to_string()])
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("node is there: `cargo xtask setup` says what is needed");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, lines, name: format!("{program} {}", more.join(" ")) }
    }

    fn next_line(&mut self) -> Option<Value> {
        let mut line = String::new();
        let length = self.lines.read_line(&mut line).expect("readable");
        (length > 0).then(|| serde_json::from_str(&line).unwrap_or(Value::String(line)))
    }

    /// Waits until the suite pauses at `--pause-at`.
    pub(crate) fn await_pause(&mut self) {
        loop {
            let line = self.next_line().unwrap_or_else(|| panic!("{} ended before its pause", self.name));
            if line.get("paused").is_some() {
                return;
            }
        }
    }

    /// Resumes a paused suite.
    pub(crate) fn resume(&mut self) {
        self.child.stdin.as_mut().expect("piped").write_all(b"go\n").expect("it listens");
    }

    /// Waits for the end; every operation must have passed. The suite's own deadlines bound this.
    pub(crate) fn passes(mut self, operations: u64) {
        let mut last = Value::Null;
        while let Some(line) = self.next_line() {
            last = line;
        }
        assert!(last.get("operations").is_some(), "{} ended without a score: {last}", self.name);
        assert_eq!(last["failures"], Value::Array(Vec::new()), "{}: {last:#}", self.name);
        assert!(last["passed"].as_u64() >= Some(operations), "{}: {last}", self.name);
    }

    /// Kills the client as a crash would.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Suite {
    fn drop(&mut self) {
        self.kill();
    }
}
