//! Answers that were too long for one go, kept for a client until newer ones take their place.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tabwire_wire::{ErrorCode, Failure};

use crate::limits::{ANSWER_CHARACTERS, KEPT_ANSWERS, KEPT_CHARACTERS};

/// A stretch of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) text: String,
    /// How to go on, when something follows.
    pub(crate) next: Option<String>,
    /// Characters before this stretch, and in all.
    pub(crate) from: usize,
    pub(crate) whole: usize,
}

#[derive(Debug, Default)]
struct Shelves {
    kept: VecDeque<(u64, String)>,
    count: u64,
    /// The policy under which they were read.
    policy: u64,
}

/// The long answers of one client.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    shelves: Mutex<Shelves>,
}

impl Shelf {
    fn shelves(&self) -> MutexGuard<'_, Shelves> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets everything that was read under another policy: a site may not be allowed any more.
    pub(crate) fn follow(&self, policy: u64) {
        let mut shelves = self.shelves();
        if std::mem::replace(&mut shelves.policy, policy) != policy {
            shelves.kept.clear();
        }
    }

    /// The first stretch of an answer, all of it when it is short.
    pub(crate) fn first(&self, text: String) -> Stretch {
        let whole = text.chars().count();
        if whole <= ANSWER_CHARACTERS {
            return Stretch { text, next: None, from: 0, whole };
        }
        let mut shelves = self.shelves();
        shelves.count += 1;
        let number = shelves.count;
        if shelves.kept.len() == KEPT_ANSWERS {
            shelves.kept.pop_front();
        }
        let kept: String = text.chars().take(KEPT_CHARACTERS).collect();
        let first = cut(&kept, number, 0);
        shelves.kept.push_back((number, kept));
        first
    }

    /// The stretch that a handle stands for.
    pub(crate) fn next(&self, handle: &str) -> Result<Stretch, Failure> {
        let gone = || {
            Failure::new(ErrorCode::BadArgs, format!("There is no answer to go on with by `{handle}`."))
                .with_hint("Only the last cut answers are kept, until the policy changes. Ask anew, for a smaller part.")
        };
        let (number, from) = handle.split_once('.').ok_or_else(gone)?;
        let number: u64 = number.strip_prefix('a').and_then(|number| number.parse().ok()).ok_or_else(gone)?;
        let from: usize = from.parse().map_err(|_| gone())?;
        let shelves = self.shelves();
        let (_, text) = shelves.kept.iter().find(|(kept, _)| *kept == number).ok_or_else(gone)?;
        Ok(cut(text, number, from))
    }
}

fn cut(text: &str, number: u64, from: usize) -> Stretch {
    let whole = text.chars().count();
    let stretch: String = text.chars().skip(from).take(ANSWER_CHARACTERS).collect();
    let end = from.saturating_add(ANSWER_CHARACTERS);
    let next = (end < whole).then(|| format!("a{number}.{end}"));
    Stretch { text: stretch, next, from, whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_comes_in_stretches_and_is_whole_in_the_end() {
        let shelf = Shelf::default();
        assert_eq!(shelf.first("short".to_owned()).next, None);
        let long: String =
            (0..ANSWER_CHARACTERS * 2 + 10).map(|n| if n % 7 == 0 { 'ä' } else { 'x' }).collect();
        let mut stretch = shelf.first(long.clone());
        let mut read = stretch.text.clone();
        while let Some(handle) = &stretch.next {
            stretch = shelf.next(handle).expect("kept");
            read.push_str(&stretch.text);
        }
        assert_eq!(read, long);
        for _ in 0..KEPT_ANSWERS {
            shelf.first(long.clone());
        }
        assert!(shelf.next("a1.45000").is_err(), "the oldest went");
        assert!(shelf.next("nonsense").is_err());
    }

    #[test]
    fn l5_an_answer_that_was_read_under_another_policy_is_not_continued() {
        let shelf = Shelf::default();
        shelf.follow(1);
        let handle = shelf.first("x".repeat(ANSWER_CHARACTERS + 1)).next.expect("a handle");
        shelf.follow(1);
        assert!(shelf.next(&handle).is_ok());
        shelf.follow(2);
        assert!(shelf.next(&handle).is_err());
    }
}
