//! No test has `#[ignore]`.

use super::Finding;
use crate::source::rust_code::RustCode;
use crate::source::source_tree::SourceTree;

/// Finds ignored tests.
pub(crate) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        for line in RustCode::of(&file.text).lines_with("#[ignore") {
            findings.push(Finding::new(
                &file.path,
                line,
                "an ignored test checks nothing: fix it or remove it",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::findings_in;

    #[test]
    fn an_ignored_test_is_found_with_or_without_a_reason() {
        let samples =
            [("a.rs", "#[test]\n#[ignore]\nfn f() {}\n#[ignore = \"slow\"]\n"), ("b.rs", "// #[ignore]\n")];
        let found = findings_in(check, &samples);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("a.rs:2: an ignored test"), "{found:?}");
    }
}
