//! The documents that a page's frames showed recently. A frame may be added and removed while a screenshot is taken.

use std::collections::VecDeque;

/// Documents that are kept.
const KEPT_DOCUMENTS: usize = 256;

/// Bytes of a URL that are kept. Every policy refuses a longer one.
const URL_BYTES: usize = 64 * 1024;

/// A position in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DocumentMark(u64);

/// The policy URLs of the last documents.
#[derive(Debug, Default)]
pub(crate) struct DocumentHistory {
    urls: VecDeque<String>,
    count: u64,
}

impl DocumentHistory {
    pub(crate) fn add(&mut self, url: &str) {
        if self.urls.len() == KEPT_DOCUMENTS {
            self.urls.pop_front();
        }
        self.urls.push_back(url[..url.floor_char_boundary(URL_BYTES)].to_owned());
        self.count += 1;
    }

    pub(crate) const fn mark(&self) -> DocumentMark {
        DocumentMark(self.count)
    }

    /// The documents since a mark; `None` when some of them are no longer kept.
    pub(crate) fn since(&self, mark: DocumentMark) -> Option<Vec<String>> {
        let count = usize::try_from(self.count.saturating_sub(mark.0)).unwrap_or(usize::MAX);
        let skipped = self.urls.len().checked_sub(count)?;
        Some(self.urls.iter().skip(skipped).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_listed_since_a_mark_until_too_many_came() {
        let mut shown = DocumentHistory::default();
        shown.add("a");
        let mark = shown.mark();
        assert_eq!(shown.since(mark), Some(Vec::new()));
        shown.add("b");
        shown.add("c");
        assert_eq!(shown.since(mark), Some(vec!["b".to_owned(), "c".to_owned()]));
        for _ in 0..KEPT_DOCUMENTS {
            shown.add("d");
        }
        assert_eq!(shown.since(mark), None);
    }
}
