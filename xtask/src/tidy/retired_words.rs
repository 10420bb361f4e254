//! Code, documents and file names use none of the retired words.

use super::Finding;
use crate::source::retired_words::{Line, REFUSED};
use crate::source::source_tree::{SourceFile, SourceTree};

/// Text files that are written by hand or generated from what is.
const LANGUAGES: [&str; 11] = ["rs", "js", "mjs", "md", "html", "css", "toml", "sh", "ps1", "bash", "json"];

/// Proper uses: a word, and the text of a line that makes its use proper.
const PROPER: [(&str, &str); 9] = [
    // The user `nobody` of Unix systems.
    ("nobody", "65534"),
    ("nobody", "user `nobody`"),
    ("nobody", "\"nobody\""),
    // RFC 7235: `WWW-Authenticate: Basic realm=...`.
    ("realm", "realm="),
    ("realm", "\"realm\""),
    // The HTML token of `autocomplete`.
    ("one time code", "one-time-code"),
    // SQLite's own word.
    ("Journal", "journal_mode"),
    // The trait of oxc that walks a tree.
    ("Visit", "oxc_ast_visit"),
    ("Visit", "impl<'a> Visit<'a>"),
];

/// Words that are another protocol's own in a folder.
const PROPER_IN: [(&str, &str); 1] = [
    // WebDriver BiDi's word for an execution context of a document.
    ("realm", "crates/tabwire-bidi/"),
];

/// Finds retired words in the text and the path of every file.
pub(crate) fn check(tree: &SourceTree) -> Vec<Finding> {
    let files = tree.files().iter().filter(|file| is_checked(file));
    files.flat_map(|file| path_findings(file).into_iter().chain(text_findings(file))).collect()
}

fn is_checked(file: &SourceFile) -> bool {
    let is_list = file.path.ends_with("/retired_words.rs");
    LANGUAGES.contains(&file.extension()) && !is_list && !is_data(&file.path)
}

/// Whether a file is test data or a lock file.
fn is_data(path: &str) -> bool {
    let folders = ["node_modules", "pages", "corpus", "fixtures"];
    path.split('/').any(|part| folders.contains(&part)) || path.ends_with("package-lock.json")
}

fn path_findings(file: &SourceFile) -> Vec<Finding> {
    findings_in_line(&file.path, 1, &file.path)
}

fn text_findings(file: &SourceFile) -> Vec<Finding> {
    file.numbered_lines().flat_map(|(number, line)| findings_in_line(&file.path, number, line)).collect()
}

fn findings_in_line(path: &str, number: usize, text: &str) -> Vec<Finding> {
    let line = Line::of(text);
    let found =
        REFUSED.iter().filter(|word| word.count_in(&line) > 0 && !is_proper(&word.name(), text, path));
    found
        .map(|word| Finding::new(path, number, format!("`{}` is retired: use {}", word.name(), word.instead)))
        .collect()
}

/// Whether the use of a refused word in a line is proper.
pub(crate) fn is_proper(word: &str, line: &str, path: &str) -> bool {
    PROPER.iter().any(|(proper, text)| *proper == word && line.contains(text))
        || PROPER_IN.iter().any(|(proper, folder)| *proper == word && path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::super::findings_in;
    use super::*;

    #[test]
    fn retired_words_are_found_in_text_and_paths() {
        let samples = [
            ("crates/a/src/policy_desk.rs", "//! Policies.\nfn tell_nobody() {}\n"),
            ("docs/a.md", "The house session.\n"),
            ("crates/testkit/pages/a.html", "<p>nobody</p>\n"),
        ];
        let found = findings_in(check, &samples);
        assert_eq!(
            found,
            [
                "crates/a/src/policy_desk.rs:1: `desk` is retired: use store, queue, registry",
                "crates/a/src/policy_desk.rs:2: `nobody` is retired: use the role: client, user, owner",
                "docs/a.md:1: `house` is retired: use control session, internal",
            ]
        );
    }

    #[test]
    fn proper_uses_are_permitted() {
        let samples = [
            ("a.rs", "let header = \"Basic realm=\\\"site\\\"\";\n"),
            ("b.rs", "const NOBODY: u32 = 65534;\n"),
            ("c.rs", "pragma(\"journal_mode\")\n"),
            ("crates/tabwire-bidi/src/realm.rs", "struct Realm;\n"),
        ];
        assert!(findings_in(check, &samples).is_empty());
    }
}
