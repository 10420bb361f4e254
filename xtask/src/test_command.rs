//! `cargo xtask test`: repository checks, format, lints and all tests.

use std::time::Instant;

use crate::dist;
use crate::error::Error;
use crate::firefox_suites::{self, Suite};
use crate::repository::Repository;
use crate::setup::{self, Consent, TestSize, cargo_deny};
use crate::source::source_tree::{SourceFile, SourceTree};
use crate::step::Step;
use crate::tidy;

/// Tests read this variable to choose between short and full client suites, tab churn and random kills.
const SIZE_VARIABLE: &str = "TABWIRE_TEST_SIZE";

/// The engine's and the end-to-end tests read this variable: the browser to start.
const BROWSER_VARIABLE: &str = "TABWIRE_TEST_BROWSER";

/// The end-to-end tests read this variable: the packages to install, in place of packages of the debug build.
const PACKAGES_VARIABLE: &str = "TABWIRE_TEST_DIST";

/// It starts with a fifth of Chromium's processor time. The program itself: the script in `/usr/bin` starts it as a child,
/// which goes on when a test kills the script.
const HEADLESS_SHELL: &str = "/usr/lib/chromium/chromium-headless-shell";

/// Runs every step, or only the matching tests when a filter is given.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), Error> {
    let start = Instant::now();
    if arguments.iter().any(|argument| argument == "--firefox") {
        return firefox_suites::run(repository, Suite::All);
    }
    let is_full = arguments.iter().any(|argument| argument == "--full");
    let filters: Vec<String> = arguments.iter().filter(|argument| *argument != "--full").cloned().collect();
    if !filters.is_empty() {
        return linted(with_long_tests(nextest(is_full)).with_arguments(&filters)).run(repository.root());
    }
    // First, because it needs a second and no compilation.
    tidy::print_all(repository)?;
    let consent = Consent::from_environment();
    setup::build_requirements(repository, consent)?;
    if is_full {
        cargo_deny::provide(repository, consent)?;
    }
    let mut before_tests = vec![Step::cargo("format", &["fmt", "--all", "--check"])];
    before_tests.extend(dependency_policy());
    // Targets that nextest does not build: benchmarks, and the programs without `cfg(test)`.
    before_tests.push(linted(Step::cargo("build and lints", &["build", "--workspace", "--all-targets"])));
    let selected = if is_full { with_long_tests(nextest(true)) } else { nextest(false) };
    let mut tests = vec![with_packages(linted(selected), repository, is_full)];
    if has_doc_tests(&SourceTree::read(repository)?) {
        tests.push(Step::cargo("doc tests", &["test", "--doc", "--workspace"]));
    }
    // The checks, the setup and the tests on Firefox count as one step each.
    let count = before_tests.len() + tests.len() + 3;
    std::thread::scope(|scope| {
        // The end of a build uses one core, so the packages are installed beside it.
        let size = if is_full { TestSize::Full } else { TestSize::Short };
        let packages = scope.spawn(move || setup::client_packages(repository, size));
        run_all(repository, before_tests)?;
        packages.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    if is_full {
        dist::run(repository, &[])?;
    }
    run_all(repository, tests)?;
    firefox_suites::run(repository, if is_full { Suite::All } else { Suite::Quick })?;
    println!("Passed {count} steps in {} s.", start.elapsed().as_secs());
    Ok(())
}

fn run_all(repository: &Repository, steps: Vec<Step>) -> Result<(), Error> {
    steps.into_iter().map(without_incremental_in_ci).try_for_each(|step| step.run(repository.root()))
}

/// Compiles the workspace with clippy as the compiler: one compilation lints and builds. `cargo clippy` would check
/// every dependency once more, because it shares no output with a build.
pub(crate) fn linted(step: Step) -> Step {
    step.with_variable("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").with_variable("CLIPPY_ARGS", "-Dwarnings")
}

/// Licences, sources and bans of `deny.toml`, where cargo-deny is installed. `--full` installs it.
fn dependency_policy() -> Option<Step> {
    if cargo_deny::is_installed() {
        return Some(Step::cargo("dependency policy", &["deny", "check", "licenses", "bans", "sources"]));
    }
    eprintln!(
        "cargo-deny is not installed: licences are not checked. `cargo xtask test --full` installs it."
    );
    None
}

/// CI builds once and throws the output away; incremental files only fill its disk.
fn without_incremental_in_ci(step: Step) -> Step {
    if setup::is_continuous_integration() { step.with_variable("CARGO_INCREMENTAL", "0") } else { step }
}

/// Full runs install the packages of one `dist` build.
fn with_packages(step: Step, repository: &Repository, is_full: bool) -> Step {
    let packages = repository.path("target/dist");
    if is_full { step.with_variable(PACKAGES_VARIABLE, &packages.to_string_lossy()) } else { step }
}

/// Runs the tests too that `.config/nextest.toml` leaves out of short runs.
fn with_long_tests(step: Step) -> Step {
    step.with_arguments(&["--ignore-default-filter".to_owned()])
}

fn nextest(is_full: bool) -> Step {
    let profile = if setup::is_continuous_integration() { "ci" } else { "default" };
    let step = Step::cargo("tests", &["nextest", "run", "--workspace", "--profile", profile]);
    if is_full {
        return step.with_variable(SIZE_VARIABLE, "full");
    }
    // Checked after the setup, which installs it where it can.
    let has_shell = std::path::Path::new(HEADLESS_SHELL).exists();
    if has_shell { step.with_variable(BROWSER_VARIABLE, HEADLESS_SHELL) } else { step }
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
