//! The documents that a page's frames have shown lately. A frame may come and go while a picture is taken.

use std::collections::VecDeque;

/// How many documents are remembered.
const REMEMBERED: usize = 256;

/// Characters of a URL that are remembered; a longer one is refused by every policy.
const URL_BYTES: usize = 64 * 1024;

/// A moment in the sequence of shown documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShownMark(u64);

/// The last documents that were shown, by the URLs they are judged by.
#[derive(Debug, Default)]
pub(crate) struct ShownDocuments {
    urls: VecDeque<String>,
    count: u64,
}

impl ShownDocuments {
    /// A document is shown.
    pub(crate) fn add(&mut self, url: &str) {
        if self.urls.len() == REMEMBERED {
            self.urls.pop_front();
        }
        self.urls.push_back(url[..url.floor_char_boundary(URL_BYTES)].to_owned());
        self.count += 1;
    }

    /// Now.
    pub(crate) const fn mark(&self) -> ShownMark {
        ShownMark(self.count)
    }

    /// The documents that were shown since then; none when there were more than are remembered.
    pub(crate) fn since(&self, mark: ShownMark) -> Option<Vec<String>> {
        let count = usize::try_from(self.count.saturating_sub(mark.0)).unwrap_or(usize::MAX);
        let skipped = self.urls.len().checked_sub(count)?;
        Some(self.urls.iter().skip(skipped).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_told_from_a_moment_on_until_there_were_too_many() {
        let mut shown = ShownDocuments::default();
        shown.add("a");
        let mark = shown.mark();
        assert_eq!(shown.since(mark), Some(Vec::new()));
        shown.add("b");
        shown.add("c");
        assert_eq!(shown.since(mark), Some(vec!["b".to_owned(), "c".to_owned()]));
        for _ in 0..REMEMBERED {
            shown.add("d");
        }
        assert_eq!(shown.since(mark), None);
    }
}
