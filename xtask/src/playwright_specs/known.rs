//! The committed list of tests that scripts fail, with their reasons.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::repository::Repository;

/// The list: a line `# reason`, then the names of its tests.
const LIST: &str = "xtask/playwright-specs/known-failures.txt";

/// Reasons by the name of the test.
#[derive(Debug, Default)]
pub(super) struct KnownFailures(BTreeMap<String, String>);

impl KnownFailures {
    pub(super) fn read(repository: &Repository) -> Result<KnownFailures, Error> {
        parse(&repository.read(LIST)?)
            .map_err(|problem| Error::Malformed { path: repository.path(LIST), problem })
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// The names, in order.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

fn parse(text: &str) -> Result<KnownFailures, String> {
    let mut known = BTreeMap::new();
    let mut reason = None;
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        if let Some(given) = line.strip_prefix("# ") {
            reason = Some(given.trim().to_owned());
            continue;
        }
        let reason = reason.clone().ok_or_else(|| format!("line {} has no reason above it", at + 1))?;
        if known.insert(line.trim().to_owned(), reason).is_some() {
            return Err(format!("line {} names a test twice", at + 1));
        }
    }
    Ok(KnownFailures(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_has_the_reason_above_it() {
        let known = parse("# files\na › b\na › c\n\n# other\nd › e #2\n").unwrap();
        assert_eq!(known.0["a › c"], "files");
        assert_eq!(known.0["d › e #2"], "other");
        assert!(parse("a › b\n").is_err());
        assert!(parse("# one\na › b\na › b\n").is_err());
    }

    #[test]
    fn the_committed_list_is_valid() {
        KnownFailures::read(&Repository::find()).unwrap();
    }
}
