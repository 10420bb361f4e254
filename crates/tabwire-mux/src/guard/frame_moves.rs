//! Where frames went lately, so that a response is judged by every frame that was there while it was under way.

use std::collections::VecDeque;

use crate::limits::FRAME_MOVES;

#[derive(Clone, Debug)]
struct Move {
    at: u64,
    page: String,
    target: String,
    frame: String,
    url: Box<str>,
}

/// The latest moves of all frames; bounded.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameMoves {
    clock: u64,
    moves: VecDeque<Move>,
    /// The latest move that was forgotten.
    forgotten: u64,
}

impl FrameMoves {
    /// A number that changes with every change of a frame.
    pub(crate) const fn clock(&self) -> u64 {
        self.clock
    }

    /// A frame has changed in another way than by going somewhere.
    pub(crate) fn tick(&mut self) {
        self.clock += 1;
    }

    /// A frame shows a URL now.
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

    /// Where frames of a target went since then; none when that is not known any more.
    pub(crate) fn of_target(&self, target: &str, since: Option<u64>) -> Option<Vec<&str>> {
        self.since(since, |moved| moved.target == target)
    }

    /// Where frames of a page went since then.
    pub(crate) fn of_page(&self, page: &str, since: Option<u64>) -> Option<Vec<&str>> {
        self.since(since, |moved| moved.page == page)
    }

    /// Where a frame went since then.
    pub(crate) fn of_frame(&self, frame: &str, since: Option<u64>) -> Option<Vec<&str>> {
        self.since(since, |moved| moved.frame == frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_since_a_moment_are_told_until_they_are_forgotten() {
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
