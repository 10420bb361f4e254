//! Which lines of a Rust file are test code.

use std::collections::BTreeSet;

use crate::source::rust_code::RustCode;
use crate::source::source_tree::{SourceFile, SourceTree};

const TEST_ATTRIBUTES: [&str; 4] = ["#[cfg(test)]", "#[cfg(all(test", "#[test]", "#[tokio::test"];

/// The test lines of one file.
pub(crate) enum TestCode {
    /// The file as a whole is only built for tests.
    WholeFile,
    /// These line ranges are.
    Ranges(Vec<(usize, usize)>),
}

impl TestCode {
    /// Reads the file's path, its attributes and its declaration in the parent module.
    pub(crate) fn of(tree: &SourceTree, file: &SourceFile, code: &RustCode) -> TestCode {
        if is_test_path(&file.path) || is_declared_as_test(tree, &file.path) {
            return TestCode::WholeFile;
        }
        TestCode::Ranges(TEST_ATTRIBUTES.iter().flat_map(|attribute| code.items_after(attribute)).collect())
    }

    /// Whether a line is test code.
    pub(crate) fn contains(&self, line: usize) -> bool {
        match self {
            TestCode::WholeFile => true,
            TestCode::Ranges(ranges) => ranges.iter().any(|(first, last)| (*first..=*last).contains(&line)),
        }
    }
}

fn is_test_path(path: &str) -> bool {
    let folders: BTreeSet<&str> = path.split('/').rev().skip(1).collect();
    let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".rs");
    folders.contains("tests") || folders.contains("benches") || stem == "tests" || stem.ends_with("_tests")
}

/// A parent module may declare `#[cfg(test)] mod name;` for this file.
fn is_declared_as_test(tree: &SourceTree, path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else { return false };
    let stem = name.trim_end_matches(".rs");
    let parents = [
        format!("{folder}/mod.rs"),
        format!("{folder}/lib.rs"),
        format!("{folder}/main.rs"),
        format!("{folder}.rs"),
    ];
    let declaration = format!("mod {stem};");
    parents.iter().filter_map(|parent| tree.find_file(parent)).any(|parent| {
        let lines: Vec<&str> = parent.text.lines().map(str::trim).collect();
        lines.windows(2).any(|pair| pair[0] == "#[cfg(test)]" && pair[1].ends_with(&declaration))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(tree: &SourceTree, path: &str) -> Vec<usize> {
        let file = tree.find_file(path).unwrap();
        let test_code = TestCode::of(tree, file, &RustCode::of(&file.text));
        (1..=file.text.lines().count()).filter(|line| test_code.contains(*line)).collect()
    }

    #[test]
    fn test_code_is_found_by_path_attribute_or_declaration() {
        let tree = SourceTree::of(&[
            ("crates/a/tests/b.rs", "fn f() {}\n"),
            ("crates/a/src/lib.rs", "fn f() {}\n#[cfg(test)]\nmod cases;\n#[cfg(test)]\nmod tests {\n}\n"),
            ("crates/a/src/cases.rs", "fn f() {}\n"),
            ("crates/a/src/latest.rs", "fn f() {}\n"),
        ]);
        assert_eq!(lines_of(&tree, "crates/a/tests/b.rs"), [1]);
        assert_eq!(lines_of(&tree, "crates/a/src/lib.rs"), [4, 5, 6]);
        assert_eq!(lines_of(&tree, "crates/a/src/cases.rs"), [1]);
        assert!(lines_of(&tree, "crates/a/src/latest.rs").is_empty());
    }
}
