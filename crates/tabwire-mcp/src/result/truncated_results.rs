//! Results that are too long for one response, kept for a client until newer ones replace them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tabwire_api::{ErrorCode, Failure};

use crate::limits::RESULT_CHARACTERS;

/// Truncated results that are kept per connection. The oldest is removed first.
const KEPT_RESPONSES: usize = 16;

/// Most characters of one kept result. Longer results lose their end, with a note.
const KEPT_CHARACTERS: usize = 2_000_000;

/// A part of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResultPart {
    pub(crate) text: String,
    /// The handle of the next part, if there is one.
    pub(crate) next: Option<String>,
    /// Characters before this part, and in the whole result.
    pub(crate) from: usize,
    pub(crate) whole: usize,
}

#[derive(Debug, Default)]
struct KeptResults {
    kept: VecDeque<(u64, String)>,
    count: u64,
    /// The policy under which they were read.
    policy: u64,
}

/// The truncated results of one client.
#[derive(Debug, Default)]
pub(crate) struct TruncatedResults {
    kept_results: Mutex<KeptResults>,
}

impl TruncatedResults {
    fn kept_results(&self) -> MutexGuard<'_, KeptResults> {
        self.kept_results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops results that were read under another policy: a site may be denied now.
    pub(crate) fn follow(&self, policy: u64) {
        let mut kept_results = self.kept_results();
        if std::mem::replace(&mut kept_results.policy, policy) != policy {
            kept_results.kept.clear();
        }
    }

    /// The first part of a result; all of it if it is short.
    pub(crate) fn first(&self, text: String) -> ResultPart {
        let whole = text.chars().count();
        if whole <= RESULT_CHARACTERS {
            return ResultPart { text, next: None, from: 0, whole };
        }
        let mut kept_results = self.kept_results();
        kept_results.count += 1;
        let number = kept_results.count;
        if kept_results.kept.len() == KEPT_RESPONSES {
            kept_results.kept.pop_front();
        }
        let kept: String = text.chars().take(KEPT_CHARACTERS).collect();
        let first = cut(&kept, number, 0);
        kept_results.kept.push_back((number, kept));
        first
    }

    /// The part that a handle names.
    pub(crate) fn next(&self, handle: &str) -> Result<ResultPart, Failure> {
        let gone = || {
            Failure::new(ErrorCode::BadArgs, format!("No truncated result has the handle `{handle}`."))
                .with_remedy("Only the last truncated results are kept, until the policy changes. Call the tool again, for a smaller part.")
        };
        let (number, from) = handle.split_once('.').ok_or_else(gone)?;
        let number: u64 = number.strip_prefix('a').and_then(|number| number.parse().ok()).ok_or_else(gone)?;
        let from: usize = from.parse().map_err(|_| gone())?;
        let kept_results = self.kept_results();
        let (_, text) = kept_results.kept.iter().find(|(kept, _)| *kept == number).ok_or_else(gone)?;
        Ok(cut(text, number, from))
    }
}

fn cut(text: &str, number: u64, from: usize) -> ResultPart {
    let whole = text.chars().count();
    let stretch: String = text.chars().skip(from).take(RESULT_CHARACTERS).collect();
    let end = from.saturating_add(RESULT_CHARACTERS);
    let next = (end < whole).then(|| format!("a{number}.{end}"));
    ResultPart { text: stretch, next, from, whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_result_is_complete_after_all_parts() {
        let truncated = TruncatedResults::default();
        assert_eq!(truncated.first("short".to_owned()).next, None);
        let long: String =
            (0..RESULT_CHARACTERS * 2 + 10).map(|n| if n % 7 == 0 { 'ä' } else { 'x' }).collect();
        let mut stretch = truncated.first(long.clone());
        let mut read = stretch.text.clone();
        while let Some(handle) = &stretch.next {
            stretch = truncated.next(handle).expect("kept");
            read.push_str(&stretch.text);
        }
        assert_eq!(read, long);
        for _ in 0..KEPT_RESPONSES {
            truncated.first(long.clone());
        }
        assert!(truncated.next("a1.45000").is_err(), "the oldest is removed");
        assert!(truncated.next("nonsense").is_err());
    }

    #[test]
    fn l5_result_read_under_another_policy_is_not_continued() {
        let truncated = TruncatedResults::default();
        truncated.follow(1);
        let handle = truncated.first("x".repeat(RESULT_CHARACTERS + 1)).next.expect("a handle");
        truncated.follow(1);
        assert!(truncated.next(&handle).is_ok());
        truncated.follow(2);
        assert!(truncated.next(&handle).is_err());
    }
}
