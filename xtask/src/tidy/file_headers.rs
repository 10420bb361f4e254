//! Every Rust file starts with a `//!` comment that says what it does.

use super::Finding;
use crate::source::source_tree::SourceTree;

/// Finds files that do not open with a `//!` comment.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let without = tree.rust_files().filter(|file| {
        let first = file.text.lines().next().and_then(|line| line.strip_prefix("//!"));
        first.is_none_or(|words| words.trim().is_empty())
    });
    without.map(|file| Finding::new(&file.path, 1, "start with `//!` and say what the file does")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::findings_in;
    use super::*;

    #[test]
    fn a_file_without_a_header_is_found() {
        let samples = [("a.rs", "use x;\n"), ("b.rs", "//!\n"), ("c.rs", ""), ("d.rs", "//! Holds d.\n")];
        let found = findings_in(check, &samples);
        assert_eq!(found.len(), 3);
        assert!(found[0].starts_with("a.rs:1: start with `//!`"), "{found:?}");
    }
}
