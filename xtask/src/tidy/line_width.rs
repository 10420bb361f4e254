//! Rust lines fit beside each other in a review. Long texts, which nothing can break, do not count.

use super::Finding;
use crate::source_tree::SourceTree;

const MOST_COLUMNS: usize = 120;

/// Finds lines that are too wide.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let mut in_text = false;
        for (number, line) in file.numbered_lines() {
            let was_in_text = in_text;
            in_text = stays_in_text(line, in_text);
            if was_in_text {
                continue;
            }
            let columns = columns_without_texts(line);
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

/// Whether the line after this one is in a raw text of several lines, such as a page written for a test.
fn stays_in_text(line: &str, in_text: bool) -> bool {
    if in_text {
        return !line.contains("\"#");
    }
    line.rfind("r#\"").is_some_and(|start| !line[start + 3..].contains("\"#"))
}

/// The columns of a line that are code: what stands between quotation marks is left out.
fn columns_without_texts(line: &str) -> usize {
    let columns = line.chars().count();
    if columns <= MOST_COLUMNS {
        return columns;
    }
    // A raw text may hold quotation marks; what follows it on the line is little.
    let raw = ["r#\"", "r##\""].iter().filter_map(|start| line.find(start)).min();
    let line = raw.map_or(line, |start| line.get(..start).unwrap_or(line));
    let mut between = false;
    let mut escaped = false;
    line.chars()
        .filter(|letter| {
            let is_mark = *letter == '"' && !escaped;
            escaped = *letter == '\\' && !escaped;
            between ^= is_mark;
            !between || is_mark
        })
        .count()
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
