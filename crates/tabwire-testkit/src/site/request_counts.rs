//! Counts requests by path.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::limits;

/// Counts requests by path, independent of host name, method and query.
#[derive(Debug, Default)]
pub(super) struct RequestCounts {
    counts: Mutex<BTreeMap<String, u64>>,
}

impl RequestCounts {
    /// Counts one more request.
    pub(super) fn add(&self, path: &str) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !counts.contains_key(path);
        let name = if is_new && counts.len() >= limits::COUNTED_PATHS { "" } else { path };
        let count = counts.entry(name.to_owned()).or_default();
        *count = count.saturating_add(1);
    }

    /// The number of requests for a path.
    pub(super) fn of(&self, path: &str) -> u64 {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_path_and_bounded() {
        let request_counts = RequestCounts::default();
        request_counts.add("/a");
        request_counts.add("/a");
        assert_eq!((request_counts.of("/a"), request_counts.of("/b")), (2, 0));
        for number in 0..limits::COUNTED_PATHS {
            request_counts.add(&format!("/many/{number}"));
        }
        request_counts.add("/a");
        assert_eq!((request_counts.of("/a"), request_counts.of("")), (3, 1));
    }
}
