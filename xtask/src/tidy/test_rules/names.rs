//! Test names have fewer than 70 characters.

use super::Finding;
use crate::source::rust_code::RustCode;
use crate::source::source_tree::SourceTree;

const LIMIT: usize = 70;
const ATTRIBUTES: [&str; 2] = ["#[test]", "#[tokio::test"];

/// Finds tests whose names are too long.
pub(crate) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let code = RustCode::of(&file.text);
        let tests: Vec<(usize, usize)> =
            ATTRIBUTES.iter().flat_map(|attribute| code.items_after(attribute)).collect();
        if tests.is_empty() {
            continue;
        }
        // The functions inside a test have a first line of their own and the same last line at most once.
        let is_test = |last: usize| tests.iter().any(|(_, end)| *end == last);
        for function in code.functions().into_iter().filter(|function| is_test(function.last_line)) {
            let length = function.name.chars().count();
            if length >= LIMIT {
                let advice = format!("`{}` has {length} characters, {} at most", function.name, LIMIT - 1);
                findings.push(Finding::new(&file.path, function.first_line, advice));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::findings_in;

    #[test]
    fn a_long_test_name_is_found() {
        let (long, fits) = ("a".repeat(LIMIT), "b".repeat(LIMIT - 1));
        let text = format!(
            "#[test]\nfn {long}() {{\n}}\n#[tokio::test]\nasync fn {fits}() {{\n}}\nfn {long}() {{}}\n"
        );
        let found = findings_in(check, &[("a.rs", &text)]);
        assert_eq!(found, [format!("a.rs:2: `{long}` has 70 characters, 69 at most")]);
    }
}
