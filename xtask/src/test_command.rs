//! `cargo xtask test`: the one command that says whether a change is good.

use std::time::Instant;

use crate::repository::Repository;
use crate::setup::{self, Consent};
use crate::source_tree::{SourceFile, SourceTree};
use crate::step::Step;
use crate::trouble::Trouble;

/// Runs every step, or only the matching tests when a filter is given.
pub(crate) fn run(repository: &Repository, filters: &[String]) -> Result<(), Trouble> {
    let start = Instant::now();
    if !filters.is_empty() {
        return nextest().with_arguments(filters).run(repository.root());
    }
    setup::run(repository, Consent::from_surroundings())?;
    let mut steps = vec![
        Step::cargo("format", &["fmt", "--all", "--check"]),
        Step::cargo("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        nextest(),
    ];
    if has_doc_tests(&SourceTree::read(repository)?) {
        steps.push(Step::cargo("doc tests", &["test", "--doc", "--workspace"]));
    }
    // The setup counts as one step.
    let count = steps.len() + 1;
    for step in steps.into_iter().map(as_built_once) {
        step.run(repository.root())?;
    }
    println!("Passed {count} steps in {} s.", start.elapsed().as_secs());
    Ok(())
}

/// Where everything is built once and thrown away, what would make the next build faster only fills the disk.
fn as_built_once(step: Step) -> Step {
    if setup::is_continuous_integration() { step.with_variable("CARGO_INCREMENTAL", "0") } else { step }
}

fn nextest() -> Step {
    let profile = if setup::is_continuous_integration() { "ci" } else { "default" };
    Step::cargo("tests", &["nextest", "run", "--workspace", "--profile", profile])
}

/// Tells whether any library has an example in its doc comments that rustdoc would run.
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
            ("/// ```text\n/// picture\n/// ```\nfn f() {}\n", false),
            ("/// Words.\nfn f() {}\n", false),
        ];
        for (text, expected) in cases {
            assert_eq!(has_doc_tests(&SourceTree::of(&[("crates/a/src/lib.rs", text)])), expected, "{text}");
        }
    }
}
