//! `cargo xtask test`: format, lints and all tests.

use std::time::Instant;

use crate::error::Error;
use crate::repository::Repository;
use crate::setup::{self, Consent};
use crate::source_tree::{SourceFile, SourceTree};
use crate::step::{Step, succeeds};

/// Tests read this variable to choose between short and full client suites, tab churn and random kills.
const SIZE_VARIABLE: &str = "TABWIRE_TEST_SIZE";

/// Runs every step, or only the matching tests when a filter is given.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), Error> {
    let start = Instant::now();
    let is_full = arguments.iter().any(|argument| argument == "--full");
    let filters: Vec<String> = arguments.iter().filter(|argument| *argument != "--full").cloned().collect();
    let nextest = if is_full { nextest().with_variable(SIZE_VARIABLE, "full") } else { nextest() };
    if !filters.is_empty() {
        return linted(nextest.with_arguments(&filters)).run(repository.root());
    }
    setup::run(repository, Consent::from_environment())?;
    let mut steps = vec![Step::cargo("format", &["fmt", "--all", "--check"])];
    steps.extend(dependency_policy());
    // Targets that nextest does not build: benchmarks, and the programs without `cfg(test)`.
    steps.push(linted(Step::cargo("build and lints", &["build", "--workspace", "--all-targets"])));
    steps.push(linted(nextest));
    if has_doc_tests(&SourceTree::read(repository)?) {
        steps.push(Step::cargo("doc tests", &["test", "--doc", "--workspace"]));
    }
    // The setup counts as one step.
    let count = steps.len() + 1;
    for step in steps.into_iter().map(without_incremental_in_ci) {
        step.run(repository.root())?;
    }
    println!("Passed {count} steps in {} s.", start.elapsed().as_secs());
    Ok(())
}

/// Compiles the workspace with clippy as the compiler: one compilation lints and builds. `cargo clippy` would check
/// every dependency once more, because it shares no output with a build.
fn linted(step: Step) -> Step {
    step.with_variable("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").with_variable("CLIPPY_ARGS", "-Dwarnings")
}

/// Licences, sources and bans of `deny.toml`, where cargo-deny is installed.
fn dependency_policy() -> Option<Step> {
    if succeeds("cargo", &["deny", "--version"]) {
        return Some(Step::cargo("dependency policy", &["deny", "check", "licenses", "bans", "sources"]));
    }
    eprintln!("cargo-deny is not installed: licences are not checked.");
    None
}

/// CI builds once and throws the output away; incremental files only fill its disk.
fn without_incremental_in_ci(step: Step) -> Step {
    if setup::is_continuous_integration() { step.with_variable("CARGO_INCREMENTAL", "0") } else { step }
}

fn nextest() -> Step {
    let profile = if setup::is_continuous_integration() { "ci" } else { "default" };
    Step::cargo("tests", &["nextest", "run", "--workspace", "--profile", profile])
}

/// Whether any library has an example in its doc comments that rustdoc would run.
fn has_doc_tests(tree: &SourceTree) -> bool {
    tree.rust_files().filter(|file| file.path.starts_with("crates/")).any(has_runnable_example)
}

fn has_runnable_example(file: &SourceFile) -> bool {
    let mut inside = false;
    for line in file.text.lines().map(str::trim_start) {
        let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            inside = false;
            continue;
        };
        let Some(tag) = doc.trim().strip_prefix("```") else { continue };
        if !inside && is_runnable_tag(tag) {
            return true;
        }
        inside = !inside;
    }
    false
}

fn is_runnable_tag(tag: &str) -> bool {
    let known = ["", "rust", "no_run", "should_panic", "compile_fail", "edition2024"];
    tag.split(',').all(|word| known.contains(&word.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rust_examples_count_as_doc_tests() {
        let cases = [
            ("/// ```\n/// f();\n/// ```\nfn f() {}\n", true),
            ("//! ```rust,no_run\n//! f();\n//! ```\n", true),
            ("/// ```text\n/// diagram\n/// ```\nfn f() {}\n", false),
            ("/// Words.\nfn f() {}\n", false),
        ];
        for (text, expected) in cases {
            assert_eq!(has_doc_tests(&SourceTree::of(&[("crates/a/src/lib.rs", text)])), expected, "{text}");
        }
    }
}
