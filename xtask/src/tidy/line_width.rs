//! Rust lines fit beside each other in a review. Long texts, which nothing can break, do not count.

use super::Finding;
use crate::rust_code::RustCode;
use crate::source_tree::SourceTree;

const MOST_COLUMNS: usize = 120;

/// Finds lines that are too wide.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let code = RustCode::of(&file.text).numbered_lines();
        for ((number, line), (_, blanked)) in file.numbered_lines().zip(code) {
            let columns = columns_without_texts(line, &blanked);
            if columns > MOST_COLUMNS {
                let advice = format!(
                    "{columns} columns, {MOST_COLUMNS} at most: break the line or give a part a name"
                );
                findings.push(Finding::new(&file.path, number, advice));
            }
        }
    }
    findings
}

/// The columns of a line that are code or comment: texts are left out, also those of several lines, such as a page
/// written for a test.
fn columns_without_texts(line: &str, blanked: &str) -> usize {
    let columns = line.chars().count();
    if columns <= MOST_COLUMNS || line.trim_start().starts_with("//") {
        return columns;
    }
    line.chars().zip(blanked.chars()).filter(|(letter, code)| letter == code && !code.is_whitespace()).count()
        + blanked.chars().take_while(|code| code.is_whitespace()).count().min(MOST_COLUMNS / 2)
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
    fn a_wide_line_is_found_by_characters_not_bytes() {
        let wide = format!("ok\n{}\nlet a = \"{}\";\n", "x".repeat(121), "long text ".repeat(30));
        let page = format!("let page = r#\"<p>\n{}\n\"#;\n", "<b>long</b>".repeat(30));
        assert_eq!(findings_in(check, &[("a.rs", &page)]).len(), 0);
        let fits = "\u{e4}".repeat(120);
        let found = findings_in(check, &[("a.rs", &wide), ("b.rs", &fits), ("c.md", &wide)]);
        assert_eq!(found, ["a.rs:2: 121 columns, 120 at most: break the line or give a part a name"]);
    }
}
