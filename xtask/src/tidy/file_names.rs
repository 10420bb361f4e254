//! Files have specific names: no `utils`, no `common`.

use super::Finding;
use crate::source::source_tree::SourceTree;

const REFUSED: [&str; 7] = ["utils", "util", "helpers", "helper", "common", "misc", "types"];
const LANGUAGES: [&str; 3] = ["rs", "js", "mjs"];

/// Finds source files and folders with a catch-all name.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| LANGUAGES.contains(&file.extension())) {
        let stems = file.path.split('/').map(|part| part.split('.').next().unwrap_or(part));
        if let Some(refused) = stems.into_iter().find(|stem| REFUSED.contains(stem)) {
            let advice = format!("`{refused}` is too general: name the file after its content, or split it");
            findings.push(Finding::new(&file.path, 1, advice));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::findings_in;
    use super::*;

    #[test]
    fn catch_all_names_are_found_in_files_and_folders() {
        let samples =
            [("a/utils.rs", ""), ("tests/common/mod.rs", ""), ("page/types.js", ""), ("a/target.rs", "")];
        let found = findings_in(check, &samples);
        assert_eq!(found.len(), 3);
        assert!(found[0].starts_with("a/utils.rs:1: `utils` is too general"), "{found:?}");
    }
}
