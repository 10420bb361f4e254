//! Recent frame navigations, so that a response is checked against every URL that was shown while it was
//! pending.

use std::collections::VecDeque;

/// Frame navigations kept, to check responses that were pending meanwhile.
const FRAME_MOVES: usize = 4_096;

#[derive(Clone, Debug)]
struct Move {
    at: u64,
    page: String,
    target: String,
    frame: String,
    url: Box<str>,
}

/// The latest navigations of all frames; bounded.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameMoves {
    clock: u64,
    moves: VecDeque<Move>,
    /// The latest navigation that was dropped.
    forgotten: u64,
}

impl FrameMoves {
    /// A number that changes with every change of a frame.
    pub(crate) const fn clock(&self) -> u64 {
        self.clock
    }

    /// A frame has changed without a navigation.
    pub(crate) fn tick(&mut self) {
        self.clock += 1;
    }

    /// Records that a frame shows a URL now.
    pub(crate) fn note(&mut self, page: &str, target: &str, frame: &str, url: &str) {
        self.tick();
        if self.moves.len() >= FRAME_MOVES
            && let Some(oldest) = self.moves.pop_front()
        {
            self.forgotten = oldest.at;
        }
        let (page, target, frame) = (page.to_owned(), target.to_owned(), frame.to_owned());
        self.moves.push_back(Move { at: self.clock, page, target, frame, url: url.into() });
    }

    fn since(&self, since: Option<u64>, is_meant: impl Fn(&Move) -> bool) -> Option<Vec<&str>> {
        let Some(since) = since else { return Some(Vec::new()) };
        if self.forgotten > since {
            return None;
        }
        let new = self.moves.iter().rev().take_while(|moved| moved.at > since);
        Some(new.filter(|moved| is_meant(moved)).map(|moved| &*moved.url).collect())
    }

    /// The URLs that frames of a target showed since then; none when the record does not reach back that far.
    pub(crate) fn of_target(&self, target: &str, since: Option<u64>) -> Option<Vec<&str>> {
        self.since(since, |moved| moved.target == target)
    }

    /// The URLs that frames of a page showed since then.
    pub(crate) fn of_page(&self, page: &str, since: Option<u64>) -> Option<Vec<&str>> {
        self.since(since, |moved| moved.page == page)
    }

    /// The URLs that a frame showed since then.
    pub(crate) fn of_frame(&self, frame: &str, since: Option<u64>) -> Option<Vec<&str>> {
        self.since(since, |moved| moved.frame == frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_since_a_clock_value_are_listed_until_dropped() {
        let mut moves = FrameMoves::default();
        moves.note("p", "p", "a", "https://a.test/");
        let since = Some(moves.clock());
        moves.note("p", "i", "b", "https://b.test/");
        moves.note("q", "q", "c", "https://c.test/");
        assert_eq!(moves.of_page("p", since), Some(vec!["https://b.test/"]));
        assert_eq!(moves.of_target("p", since), Some(vec![]));
        assert_eq!(moves.of_frame("c", since), Some(vec!["https://c.test/"]));
        assert_eq!(moves.of_page("p", None), Some(vec![]));
        for _ in 0..2 * FRAME_MOVES {
            moves.note("x", "x", "x", "https://x.test/");
        }
        assert_eq!(moves.of_page("p", since), None);
    }
}
