//! Tests do not sleep: they poll a condition until a deadline, or run on virtual time.

use super::Finding;
use crate::source::rust_code::RustCode;
use crate::source::source_tree::{SourceFile, SourceTree};
use crate::source::test_code::TestCode;
use crate::tidy::permit::{Permit, is_permitted, unneeded};

const LIST: &str = "xtask/src/tidy/test_rules/sleeps.rs";
const SLEEPS: [&str; 2] = ["sleep(", "sleep_until("];
const VIRTUAL_TIME: &str = "start_paused = true";

/// Files that may sleep in tests.
const PERMITS: &[Permit] = &[
    Permit {
        path: "crates/tabwire-engine/tests/actions/support/counting_link.rs",
        reason: "delays responses until the client has nothing more to send, in order to count round trips",
    },
    Permit {
        path: "crates/tabwire-browser/tests/keeper/support.rs",
        reason: "polls processes and files until a deadline",
    },
    Permit {
        path: "crates/tabwire-cdp/tests/cdp/chromium.rs",
        reason: "polls for a file that the browser writes, until a deadline",
    },
];

/// Finds sleeps on the real clock in test code.
pub(crate) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files().filter(|file| !is_permitted(PERMITS, &file.path)) {
        findings.extend(sleeps(tree, file));
    }
    findings.extend(unneeded(PERMITS, tree, LIST, |path| {
        tree.find_file(path).is_some_and(|file| !sleeps(tree, file).is_empty())
    }));
    findings
}

fn sleeps(tree: &SourceTree, file: &SourceFile) -> Vec<Finding> {
    let code = RustCode::of(&file.text);
    let test_code = TestCode::of(tree, file, &code);
    let paused = virtual_time_ranges(&code);
    let on_virtual_time = |line: usize| paused.iter().any(|(first, last)| (*first..=*last).contains(&line));
    let lines = SLEEPS
        .iter()
        .flat_map(|pattern| code.lines_with(pattern))
        .filter(|line| test_code.contains(*line) && !on_virtual_time(*line));
    let advice =
        "a test that sleeps is slow or flaky: wait on a condition with a deadline, or use virtual time";
    lines.map(|line| Finding::new(&file.path, line, advice)).collect()
}

/// The tests whose attribute pauses tokio's clock.
fn virtual_time_ranges(code: &RustCode) -> Vec<(usize, usize)> {
    let lines = code.numbered_lines();
    let is_paused = |first: usize| lines.get(first - 1).is_some_and(|(_, line)| line.contains(VIRTUAL_TIME));
    code.items_after("#[tokio::test").into_iter().filter(|(first, _)| is_paused(*first)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::findings_in;

    #[test]
    fn a_sleep_on_the_real_clock_is_found() {
        let samples = [
            ("crates/a/tests/b.rs", "#[tokio::test]\nasync fn f() {\n    sleep(ONE).await;\n}\n"),
            (
                "crates/a/tests/c.rs",
                "#[tokio::test(start_paused = true)]\nasync fn f() {\n    sleep(ONE).await;\n}\n",
            ),
            ("crates/a/src/d.rs", "fn product_code_may() {\n    sleep(ONE);\n}\n"),
        ];
        let found = findings_in(check, &samples);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/a/tests/b.rs:3: a test that sleeps"), "{found:?}");
    }
}
