//! Functions have at most 60 lines, tests 90.

use super::Finding;
use crate::source::rust_code::RustCode;
use crate::source::source_tree::SourceTree;
use crate::source::test_code::TestCode;

const MOST_LINES: usize = 60;
const MOST_TEST_LINES: usize = 90;

/// Finds functions with too many lines, signature and closing brace counted.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let code = RustCode::of(&file.text);
        let test_code = TestCode::of(tree, file, &code);
        for function in code.functions() {
            let most = if test_code.contains(function.first_line) { MOST_TEST_LINES } else { MOST_LINES };
            let lines = function.line_count();
            if lines > most {
                let advice = format!(
                    "`{}` has {lines} lines, {most} at most: split it by what its parts do",
                    function.name
                );
                findings.push(Finding::new(&file.path, function.first_line, advice));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::findings_in;
    use super::*;

    fn function_of(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    \"}\";\n".repeat(lines - 2))
    }

    #[test]
    fn a_long_function_is_found() {
        let found = findings_in(check, &[("a.rs", &function_of(61)), ("b.rs", &function_of(60))]);
        assert_eq!(found, ["a.rs:1: `long` has 61 lines, 60 at most: split it by what its parts do"]);
    }

    #[test]
    fn a_test_may_have_90_lines() {
        let found = findings_in(check, &[("tests/a.rs", &function_of(90)), ("tests/b.rs", &function_of(91))]);
        assert_eq!(found, ["tests/b.rs:1: `long` has 91 lines, 90 at most: split it by what its parts do"]);
    }
}
