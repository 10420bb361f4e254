//! JavaScript files have at most 600 lines and start with a comment that says what they do.

use super::Finding;
use crate::source::source_tree::{SourceFile, SourceTree};

const MOST_LINES: usize = 600;

/// Finds scripts that are too long or have no header.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| is_ours(file)) {
        let lines = file.text.lines().count();
        if lines > MOST_LINES {
            let advice = format!("{lines} lines, {MOST_LINES} at most: split it");
            findings.push(Finding::new(&file.path, MOST_LINES + 1, advice));
        }
        if !opens_with_comment(&file.text) {
            findings.push(Finding::new(&file.path, 1, "start with a comment that says what the file does"));
        }
    }
    findings
}

fn is_ours(file: &SourceFile) -> bool {
    matches!(file.extension(), "js" | "mjs") && !file.path.split('/').any(|folder| folder == "node_modules")
}

fn opens_with_comment(text: &str) -> bool {
    let first = text.lines().find(|line| !line.starts_with("#!"));
    first.is_some_and(|line| line.starts_with("//") || line.starts_with("/*"))
}

#[cfg(test)]
mod tests {
    use super::super::findings_in;
    use super::*;

    #[test]
    fn long_files_and_files_without_a_header_are_found() {
        let long = "// Long.\n".repeat(MOST_LINES + 1);
        let samples = [
            ("page/long.js", long.as_str()),
            ("page/silent.mjs", "export {};\n"),
            ("page/fine.mjs", "#!/usr/bin/env node\n/** Fine. */\n"),
            ("tests/node_modules/x/index.js", "silent\n"),
        ];
        let found = findings_in(check, &samples);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("page/long.js:601: 601 lines"), "{found:?}");
        assert!(found[1].starts_with("page/silent.mjs:1: start with a comment"), "{found:?}");
    }
}
