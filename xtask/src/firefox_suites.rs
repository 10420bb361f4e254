//! The engine's suites on Firefox, compared with the list of the tests that it fails.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::Error;
use crate::repository::Repository;
use crate::setup;
use crate::step::without_package_variables;

/// The tests that fail on Firefox, with the reasons.
const MISSES: &str = "crates/tabwire-engine/tests/firefox-misses.txt";

/// The suites.
const ALL: &[&str] = &["actions", "agent", "snapshot"];

/// A few tests of what matters most, for every run: some seconds.
const QUICK: &[&str] = &[
    "actions::input::click::click_reports_changes",
    "actions::input::fill::fill_fires_input_events_and_can_be_undone",
    "actions::input::keys::keys_reach_the_focused_frame",
];

/// The start of the reason of a test that passes in some runs: both outcomes are accepted.
const SOMETIMES: &str = "sometimes: ";

/// Shortest reason.
const REASON: usize = 20;

/// Which tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suite {
    Quick,
    All,
}

impl Suite {
    fn filter(self) -> String {
        match self {
            Self::Quick => QUICK.iter().map(|name| format!("test(={name})")).collect::<Vec<_>>().join(" | "),
            Self::All => format!("package(tabwire-engine) & kind(test) & test(/^({})::/)", ALL.join("|")),
        }
    }

    /// Whether a test belongs to it.
    fn has(self, name: &str) -> bool {
        match self {
            Self::Quick => QUICK.contains(&name),
            Self::All => true,
        }
    }
}

/// The listed tests with their reasons.
type Misses = BTreeMap<String, String>;

/// Runs the tests; fails on a miss that is not listed, and on a listed test that passes or does not exist.
pub(crate) fn run(repository: &Repository, suite: Suite) -> Result<(), Error> {
    let path = repository.path(MISSES);
    let text = std::fs::read_to_string(&path).map_err(|source| Error::file(&path, source))?;
    let mut misses = read_misses(&text).map_err(|problem| Error::Malformed { path, problem })?;
    misses.retain(|name, _| suite.has(name));
    let results = run_tests(repository, &suite.filter())?;
    let passed = results.values().filter(|passed| **passed).count();
    println!("On Firefox {passed} of {} tests of the engine pass.", results.len());
    let mut problems = compare(&results, &misses);
    if suite == Suite::Quick {
        let missing = QUICK.iter().filter(|name| !results.contains_key(**name));
        problems.extend(missing.map(|name| format!("there is no test {name}")));
    }
    for problem in &problems {
        eprintln!("firefox: {problem}");
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::FirefoxDiffers(problems.len())) }
}

/// Runs nextest; the tests and whether they passed.
fn run_tests(repository: &Repository, filter: &str) -> Result<BTreeMap<String, bool>, Error> {
    let arguments = ["nextest", "run", "--workspace", "--profile", "firefox", "-E", filter];
    eprintln!("==> engine tests on Firefox: cargo {}", arguments.join(" "));
    let mut command = Command::new("cargo");
    command
        .args(arguments)
        .args(["--ignore-default-filter", "--message-format", "libtest-json"])
        .env("NEXTEST_EXPERIMENTAL_LIBTEST_JSON", "1")
        .env("TABWIRE_TEST_BROWSER", "firefox")
        .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
        .env("CLIPPY_ARGS", "-Dwarnings")
        .current_dir(repository.root())
        .stdout(Stdio::piped());
    // As the steps before it, or everything would be built again.
    without_package_variables(&mut command);
    if setup::is_continuous_integration() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    let failed = |source| Error::CannotStart { program: "cargo".to_owned(), source };
    let mut child = command.spawn().map_err(failed)?;
    let lines = child.stdout.take().map(BufReader::new).into_iter().flat_map(|output| output.lines());
    let results = lines.map_while(Result::ok).filter_map(|line| read_result(&line)).collect();
    // Its exit code only says that tests failed, or that nothing was built: then there are no results.
    child.wait().map_err(failed)?;
    let results: BTreeMap<String, bool> = results;
    if results.is_empty() {
        let (step, command) = ("engine tests on Firefox".to_owned(), "cargo xtask test --firefox".to_owned());
        return Err(Error::StepFailed { step, command });
    }
    Ok(results)
}

/// A test and whether it passed, from a line of nextest.
fn read_result(line: &str) -> Option<(String, bool)> {
    let event: Value = serde_json::from_str(line).ok()?;
    let (kind, what) = (event.get("type")?.as_str()?, event.get("event")?.as_str()?);
    let passed = match (kind, what) {
        ("test", "ok") => true,
        ("test", "failed" | "timeout") => false,
        _ => return None,
    };
    let name = event.get("name")?.as_str()?;
    let name = name.split_once('$').map_or(name, |(_, name)| name);
    // A second try has its number at the end.
    let name = name.split('#').next().unwrap_or(name);
    Some((name.to_owned(), passed))
}

/// `NAME: REASON` in each line. Lines that begin with `#` are comments.
fn read_misses(text: &str) -> Result<Misses, String> {
    let mut misses = Misses::new();
    let mut last = "";
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, reason) = line.split_once(": ").ok_or_else(|| format!("no reason: {line}"))?;
        if reason.len() < REASON {
            return Err(format!("a reason that explains nothing: {line}"));
        }
        if name <= last {
            return Err(format!("not in order: {name}"));
        }
        last = name;
        misses.insert(name.to_owned(), reason.to_owned());
    }
    Ok(misses)
}

fn failed(results: &BTreeMap<String, bool>) -> impl Iterator<Item = &String> {
    results.iter().filter(|(_, passed)| !**passed).map(|(name, _)| name)
}

/// What the list does not say.
fn compare(results: &BTreeMap<String, bool>, misses: &Misses) -> Vec<String> {
    let missed: BTreeSet<&String> = failed(results).collect();
    let unlisted = missed.iter().filter(|name| !misses.contains_key(**name));
    let mut problems: Vec<String> = unlisted.map(|name| format!("fails and is not listed: {name}")).collect();
    for (name, reason) in misses.iter().filter(|(name, _)| !missed.contains(name)) {
        match results.contains_key(name) {
            true if reason.starts_with(SOMETIMES) => {}
            true => problems.push(format!("passes, so remove it from {MISSES}: {name}")),
            false => problems.push(format!("is listed, but does not exist: {name}")),
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    const REASONED: &str = "Firefox emulates no touch screen.";

    #[test]
    fn unlisted_misses_healed_and_unknown_tests_are_problems() {
        let results = |list: &[(&str, bool)]| -> BTreeMap<String, bool> {
            list.iter().map(|(name, passed)| ((*name).to_owned(), *passed)).collect()
        };
        let misses = read_misses(&format!("# heading\na: {REASONED}\nb: {REASONED}\n")).unwrap();
        assert!(compare(&results(&[("a", false), ("b", false), ("c", true)]), &misses).is_empty());
        assert_eq!(compare(&results(&[("a", false), ("b", false), ("c", false)]), &misses).len(), 1);
        assert_eq!(compare(&results(&[("a", true), ("b", false)]), &misses).len(), 1);
        assert_eq!(compare(&results(&[("a", false)]), &misses).len(), 1);
        let misses = read_misses(&format!("a: {SOMETIMES}{REASONED}\n")).unwrap();
        for (a, problems) in [(Some(true), 0), (Some(false), 0), (None, 1)] {
            let results = a.map(|passed| ("a".to_owned(), passed)).into_iter().collect();
            assert_eq!(compare(&results, &misses).len(), problems, "{a:?}");
        }
    }

    #[test]
    fn a_list_without_reasons_or_order_is_refused() {
        for wrong in ["a", "a: no", &format!("b: {REASONED}\na: {REASONED}")] {
            assert!(read_misses(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn results_are_read_from_lines_of_nextest() {
        let line = r#"{"type":"test","event":"ok","name":"tabwire-engine::engine$actions::a::b"}"#;
        assert_eq!(read_result(line), Some(("actions::a::b".to_owned(), true)));
        let line = r#"{"type":"test","event":"failed","name":"x$a#2","stdout":""}"#;
        assert_eq!(read_result(line), Some(("a".to_owned(), false)));
        assert_eq!(read_result(r#"{"type":"suite","event":"ok"}"#), None);
        assert_eq!(read_result("text"), None);
    }
}
