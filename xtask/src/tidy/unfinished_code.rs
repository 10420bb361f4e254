//! What is committed is finished.

use super::Finding;
use crate::rust_code::RustCode;
use crate::source_tree::SourceTree;

const MARKS: [&str; 2] = ["todo!", "unimplemented!"];

/// Finds macros that stand where code should be.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let code = RustCode::of(&file.text);
        for mark in MARKS {
            for line in code.lines_with(mark) {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    format!("`{mark}` panics at run time: finish it or leave it out"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::{assert_repository_passes, findings_in};
    use super::*;

    #[test]
    fn the_repository_passes() {
        assert_repository_passes(check);
    }

    #[test]
    fn a_placeholder_is_found_in_code_but_not_in_words() {
        let found = findings_in(check, &[("a.rs", "fn f() {\n    todo!()\n}\n// todo! is refused\n")]);
        assert_eq!(found, ["a.rs:2: `todo!` panics at run time: finish it or leave it out"]);
    }
}
