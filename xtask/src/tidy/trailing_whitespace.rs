//! Text files have no spaces at line ends and end with a line end.

use super::Finding;
use crate::source::source_tree::{SourceFile, SourceTree};

/// Finds trailing whitespace and unfinished last lines.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    tree.files().iter().filter(|file| !is_exact(file)).flat_map(problems).collect()
}

/// Files whose bytes other programs determine.
fn is_exact(file: &SourceFile) -> bool {
    file.path.starts_with("fuzz/corpus/")
        || file.name().starts_with("LICENSE-")
        || file.extension() == "lock"
        || file.name() == "package-lock.json"
}

fn problems(file: &SourceFile) -> Vec<Finding> {
    let trailing = file.numbered_lines().filter(|(_, line)| line.ends_with([' ', '\t', '\r']));
    let mut findings: Vec<Finding> = trailing
        .map(|(number, _)| Finding::new(&file.path, number, "remove the whitespace at the end of the line"))
        .collect();
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        findings.push(Finding::new(&file.path, file.text.lines().count(), "end the file with a line end"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::findings_in;
    use super::*;

    #[test]
    fn trailing_spaces_and_missing_line_ends_are_found() {
        let found = findings_in(
            check,
            &[("a.md", "one \ntwo\t\nthree"), ("b.md", "fine\n"), ("LICENSE-X", "kept \n")],
        );
        assert_eq!(
            found,
            [
                "a.md:1: remove the whitespace at the end of the line",
                "a.md:2: remove the whitespace at the end of the line",
                "a.md:3: end the file with a line end",
            ]
        );
    }
}
