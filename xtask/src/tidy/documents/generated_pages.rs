//! Generated pages are up to date. A test of the tabwire crate checks those of the command line.

use super::Finding;
use crate::reference::pages;
use crate::source::source_tree::SourceTree;

/// Finds pages that differ from what `cargo xtask gen` would write.
pub(crate) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for page in pages(tree) {
        let current = tree.find_file(page.path).map_or("", |file| file.text.as_str());
        if let Some(line) = first_difference(current, &page.text) {
            findings.push(Finding::new(
                page.path,
                line,
                "stale: run `cargo xtask gen` and commit the result",
            ));
        }
    }
    findings
}

fn first_difference(current: &str, expected: &str) -> Option<usize> {
    if current == expected {
        return None;
    }
    let same = current.lines().zip(expected.lines()).take_while(|(left, right)| left == right).count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::findings_in;

    #[test]
    fn a_stale_or_missing_page_is_found() {
        let found = findings_in(check, &[("docs/reference/errors.md", "# Error codes\n\nold\n")]);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("docs/reference/errors.md:3: stale"), "{found:?}");
        assert!(found[1].starts_with("docs/reference/limits.md:1: stale"), "{found:?}");
    }
}
