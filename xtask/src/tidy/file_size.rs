//! Rust files have at most 600 lines.

use super::Finding;
use crate::source::source_tree::SourceTree;

const MOST_LINES: usize = 600;
const TABLE_MARK: &str = "//! Table:";

/// Finds files that are too long and are not marked as a table.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let lines = file.text.lines().count();
        if lines > MOST_LINES && !file.text.starts_with(TABLE_MARK) {
            let advice = format!(
                "{lines} lines, {MOST_LINES} at most: split it (a pure table starts with `{TABLE_MARK}`)"
            );
            findings.push(Finding::new(&file.path, MOST_LINES + 1, advice));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::findings_in;
    use super::*;

    #[test]
    fn a_long_file_is_found_unless_it_is_a_table() {
        let long = "//! Long.\n".repeat(MOST_LINES + 1);
        let table = format!("{TABLE_MARK} keys.\n{long}");
        let fits = "//! Fits.\n".repeat(MOST_LINES);
        let found = findings_in(check, &[("long.rs", &long), ("table.rs", &table), ("fits.rs", &fits)]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("long.rs:601: 601 lines"), "{found:?}");
    }
}
