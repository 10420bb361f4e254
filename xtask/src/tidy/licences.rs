//! Every locked package has a licence that deny.toml allows, so that a wrong one is seen without cargo-deny.

use super::Finding;
use crate::source_tree::SourceTree;
use crate::step::find_output;

const POLICY: &str = "deny.toml";
const LOCK: &str = "Cargo.lock";

/// Finds packages whose licence is not allowed.
pub(super) fn check(tree: &SourceTree) -> Vec<Finding> {
    let arguments = ["metadata", "--format-version", "1", "--offline"];
    let Some(metadata) = find_output("cargo", &arguments, tree.root()) else {
        let advice =
            "`cargo metadata --offline` failed: run `cargo xtask setup`, which fetches every locked package";
        return vec![Finding::new(LOCK, 1, advice)];
    };
    let text_of = |path: &str| tree.find_file(path).map_or("", |file| file.text.as_str());
    judge(&metadata, text_of(POLICY), text_of(LOCK))
}

fn judge(metadata: &str, policy: &str, lock: &str) -> Vec<Finding> {
    let allowed = allowed_licences(policy);
    let Ok(metadata) = serde_json::from_str::<serde_json::Value>(metadata) else {
        return vec![Finding::new(
            "Cargo.lock",
            1,
            "`cargo metadata` printed no JSON: is cargo the pinned version?",
        )];
    };
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    if packages.is_empty() {
        return vec![Finding::new(
            "Cargo.lock",
            1,
            "`cargo metadata` listed no packages: is the lock file whole?",
        )];
    }
    let mut findings = Vec::new();
    for package in packages {
        let (name, version) =
            (package["name"].as_str().unwrap_or("?"), package["version"].as_str().unwrap_or("?"));
        let licence = package["license"].as_str().unwrap_or("");
        if !Expression::of(licence).satisfied_by(&allowed) {
            let advice = format!(
                "{name} {version} is under `{licence}`: drop it, or allow that licence in {POLICY} with a reason"
            );
            findings.push(Finding::new(LOCK, line_naming(lock, name), advice));
        }
    }
    findings
}

fn line_naming(lock: &str, package: &str) -> usize {
    let wanted = format!("name = \"{package}\"");
    lock.lines().position(|line| line == wanted).map_or(1, |index| index + 1)
}

fn allowed_licences(policy: &str) -> Vec<String> {
    let parsed = policy.parse::<toml::Table>().ok();
    let list = parsed.as_ref().and_then(|table| table.get("licenses")?.get("allow")?.as_array());
    list.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// An SPDX expression read from left to right.
struct Expression {
    words: Vec<String>,
    position: usize,
}

impl Expression {
    /// Splits an expression into words. The old form `MIT/Apache-2.0` means either.
    fn of(text: &str) -> Expression {
        let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        Expression { words: spaced.split_whitespace().map(str::to_owned).collect(), position: 0 }
    }

    /// Tells whether the allowed licences satisfy the whole expression. Anything malformed is refused.
    fn satisfied_by(mut self, allowed: &[String]) -> bool {
        let verdict = self.any_of(allowed);
        verdict == Some(true) && self.position == self.words.len()
    }

    fn any_of(&mut self, allowed: &[String]) -> Option<bool> {
        let mut verdict = self.all_of(allowed)?;
        while self.take_word("OR") {
            verdict |= self.all_of(allowed)?;
        }
        Some(verdict)
    }

    fn all_of(&mut self, allowed: &[String]) -> Option<bool> {
        let mut verdict = self.single(allowed)?;
        while self.take_word("AND") {
            verdict &= self.single(allowed)?;
        }
        Some(verdict)
    }

    /// One licence or one group in parentheses; none when the expression breaks off.
    fn single(&mut self, allowed: &[String]) -> Option<bool> {
        if self.take_word("(") {
            let verdict = self.any_of(allowed);
            return if self.take_word(")") { verdict } else { None };
        }
        let mut name = self.next_word()?;
        if self.take_word("WITH") {
            name = format!("{name} WITH {}", self.next_word()?);
        }
        Some(allowed.contains(&name))
    }

    fn take_word(&mut self, wanted: &str) -> bool {
        let is_next = self.words.get(self.position).is_some_and(|word| word == wanted);
        self.position += usize::from(is_next);
        is_next
    }

    fn next_word(&mut self) -> Option<String> {
        let word = self.words.get(self.position).cloned();
        self.position += usize::from(word.is_some());
        word
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_repository_passes;
    use super::*;

    #[test]
    fn the_repository_passes() {
        assert_repository_passes(check);
    }

    #[test]
    fn expressions_are_judged_as_a_lawyer_would() {
        let allowed = ["MIT".to_owned(), "Zlib".to_owned(), "Apache-2.0 WITH LLVM-exception".to_owned()];
        let cases = [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("MIT/GPL-3.0", true),
            ("MIT AND GPL-3.0", false),
            ("MIT AND (GPL-3.0 OR Zlib)", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("MIT OR", false),
            ("", false),
            ("(MIT", false),
            ("MIT MIT", false),
        ];
        for (text, expected) in cases {
            assert_eq!(Expression::of(text).satisfied_by(&allowed), expected, "{text}");
        }
    }

    #[test]
    fn a_package_with_a_refused_licence_is_named() {
        let metadata = r#"{"packages":[{"name":"free","version":"1.0.0","license":"MIT"},
            {"name":"bound","version":"2.0.0","license":"GPL-3.0"},{"name":"mute","version":"3.0.0","license":null}]}"#;
        let lock = "[[package]]\nname = \"bound\"\n";
        let found = judge(metadata, "[licenses]\nallow = [\"MIT\"]\n", lock);
        let found: Vec<String> = found.iter().map(Finding::to_string).collect();
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("Cargo.lock:2: bound 2.0.0 is under `GPL-3.0`"), "{found:?}");
        assert!(found[1].starts_with("Cargo.lock:1: mute 3.0.0 is under ``"), "{found:?}");
    }
}
