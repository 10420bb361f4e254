//! How often each path was asked for. Knows nothing of answers.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::limits;

/// Counts requests by path, whatever their host name, method and query.
#[derive(Debug, Default)]
pub(super) struct Visits {
    counts: Mutex<BTreeMap<String, u64>>,
}

impl Visits {
    /// Counts one more request.
    pub(super) fn add(&self, path: &str) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !counts.contains_key(path);
        let name = if is_new && counts.len() >= limits::COUNTED_PATHS { "" } else { path };
        let count = counts.entry(name.to_owned()).or_default();
        *count = count.saturating_add(1);
    }

    /// Tells how many requests a path had.
    pub(super) fn of(&self, path: &str) -> u64 {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_are_counted_by_path_and_bounded() {
        let visits = Visits::default();
        visits.add("/a");
        visits.add("/a");
        assert_eq!((visits.of("/a"), visits.of("/b")), (2, 0));
        for number in 0..limits::COUNTED_PATHS {
            visits.add(&format!("/many/{number}"));
        }
        visits.add("/a");
        assert_eq!((visits.of("/a"), visits.of("")), (3, 1));
    }
}
