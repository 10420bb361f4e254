//! The intended differences, from `known_differences.toml`.

use serde::Deserialize;

use crate::accessibility::comparison::Difference;

/// All intended differences.
#[derive(Debug, Deserialize)]
pub(crate) struct KnownDifferences {
    difference: Vec<Known>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    page: String,
    element: String,
    what: String,
    chrome: String,
    ours: String,
    reason: String,
}

impl Known {
    fn is(&self, found: &Difference) -> bool {
        let known = [&self.page, &self.element, &self.what, &self.chrome, &self.ours];
        known == [&found.page, &found.element, &found.what, &found.chrome, &found.ours]
    }
}

impl KnownDifferences {
    pub(crate) fn read() -> Self {
        toml::from_str(include_str!("known_differences.toml")).expect("the file's form")
    }

    /// Whether a difference is known.
    pub(crate) fn lists(&self, found: &Difference) -> bool {
        self.difference.iter().any(|known| known.is(found))
    }

    /// Fails unless exactly the known differences were found.
    pub(crate) fn check(&self, found: &[Difference]) {
        for known in &self.difference {
            assert!(known.reason.len() > 30, "{} {}: a reason worth reading", known.page, known.element);
        }
        let new = found.iter().filter(|found| !self.lists(found));
        let gone = self.difference.iter().filter(|known| !found.iter().any(|found| known.is(found)));
        let new: Vec<String> = new.map(|found| format!("not listed: {found:?}")).collect();
        let gone: Vec<String> = gone.map(|known| format!("listed but gone: {known:?}")).collect();
        assert!(new.is_empty() && gone.is_empty(), "\n{}\n{}", new.join("\n"), gone.join("\n"));
    }
}
