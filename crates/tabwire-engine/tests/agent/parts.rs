//! Checks across the agent's files.

use std::collections::HashSet;

use tabwire_engine::page_agent;

/// The name a line declares at the top level, if it does.
fn declared(line: &str) -> Option<&str> {
    const WORDS: &[&str] = &["function* ", "function ", "const ", "let ", "class "];
    let line = line.strip_prefix("async ").unwrap_or(line);
    let rest = WORDS.iter().find_map(|word| line.strip_prefix(word))?;
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

#[test]
fn agent_files_declare_each_name_once() {
    let mut names = HashSet::new();
    for name in page_agent().lines().filter_map(declared) {
        assert!(names.insert(name), "`{name}` is declared twice; the second would silently win");
    }
    assert!(names.len() > 100, "the names were found: {}", names.len());
}
