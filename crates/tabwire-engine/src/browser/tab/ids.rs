//! Assigns numbers to tabs. A number is never reused, not even after a restart of the daemon.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};
use tabwire_api::{FrameId, TabId, TargetId, UpstreamKind};

/// Tab numbers that are reserved in advance, so that none is reused after a crash.
const TAB_NUMBERS_AHEAD: u32 = 64;

/// Closed tabs whose numbers are known.
const CLOSED_TABS: usize = 64;

/// The tab ids of one browser run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TabIds {
    upstream: UpstreamKind,
    epoch: u16,
    /// The next number.
    next: u32,
    /// Numbers below this may have been assigned by a daemon that was killed before it saved.
    reserved: u32,
    numbers: HashMap<TargetId, u32>,
    /// Tabs that closed, the newest last. A tab that the user's browser only hid for a time gets its number back.
    #[serde(default)]
    closed: VecDeque<(TargetId, u32)>,
    current: Option<TargetId>,
    /// The selected frame of each tab, unless it is the main frame.
    #[serde(default)]
    frames: HashMap<TargetId, FrameId>,
    /// Tabs that a command brought to the front of their window.
    #[serde(default)]
    brought_to_front: HashSet<TargetId>,
}

impl TabIds {
    /// No tabs yet.
    #[must_use]
    pub fn new(upstream: UpstreamKind, epoch: u16) -> Self {
        Self {
            upstream,
            epoch,
            next: 1,
            reserved: TAB_NUMBERS_AHEAD,
            numbers: HashMap::new(),
            closed: VecDeque::new(),
            current: None,
            frames: HashMap::new(),
            brought_to_front: HashSet::new(),
        }
    }

    /// Continues with tab ids that an earlier daemon saved.
    #[must_use]
    pub fn resumed(mut self) -> Self {
        self.next = self.next.max(self.reserved);
        self.reserved = self.next + TAB_NUMBERS_AHEAD;
        self
    }

    /// The id of a target's tab. Assigns one if it has none.
    pub fn id_of(&mut self, target: &TargetId) -> TabId {
        let number = match self.numbers.get(target) {
            Some(number) => *number,
            None => self.assign(target),
        };
        self.reserved = self.reserved.max(self.next + TAB_NUMBERS_AHEAD / 2);
        TabId { upstream: self.upstream, epoch: self.epoch, number }
    }

    fn assign(&mut self, target: &TargetId) -> u32 {
        let known = self.closed.iter().position(|(closed, _)| closed == target);
        let number = match known.and_then(|at| self.closed.remove(at)) {
            Some((_, number)) => number,
            None => {
                self.next += 1;
                self.next - 1
            }
        };
        self.numbers.insert(target.clone(), number);
        number
    }

    /// How many tabs have an id.
    pub(crate) fn count(&self) -> usize {
        self.numbers.len()
    }

    /// The id of a target's tab, if it has one.
    #[must_use]
    pub fn find_id(&self, target: &TargetId) -> Option<TabId> {
        let number = *self.numbers.get(target)?;
        Some(TabId { upstream: self.upstream, epoch: self.epoch, number })
    }

    /// The number of the browser run, part of every id.
    #[must_use]
    pub const fn epoch(&self) -> u16 {
        self.epoch
    }

    /// The targets that have an id.
    #[must_use]
    pub fn targets(&self) -> Vec<TargetId> {
        self.numbers.keys().cloned().collect()
    }

    /// The target of a tab id.
    #[must_use]
    pub fn find(&self, id: TabId) -> Option<TargetId> {
        self.numbers.iter().find(|(_, number)| **number == id.number).map(|(target, _)| target.clone())
    }

    /// Whether a tab id belongs to this browser run.
    #[must_use]
    pub fn is_of_this_run(&self, id: TabId) -> bool {
        id.epoch == self.epoch && id.upstream == self.upstream
    }

    /// The tab that commands use when they name none.
    #[must_use]
    pub fn current(&self) -> Option<&TargetId> {
        self.current.as_ref()
    }

    /// Makes a tab the current one.
    pub fn select(&mut self, target: TargetId) {
        self.current = Some(target);
    }

    /// A command brought a tab to the front of its window.
    pub fn brought_to_front(&mut self, target: TargetId) {
        self.brought_to_front.insert(target);
    }

    /// Whether a command brought a tab to the front of its window.
    #[must_use]
    pub fn was_brought_to_front(&self, target: &TargetId) -> bool {
        self.brought_to_front.contains(target)
    }

    /// The selected frame of a tab, unless it is the main frame.
    #[must_use]
    pub fn selected_frame(&self, target: &TargetId) -> Option<&FrameId> {
        self.frames.get(target)
    }

    /// Selects a frame of a tab; `None` for the main frame.
    pub fn select_frame(&mut self, target: &TargetId, frame: Option<FrameId>) {
        match frame {
            Some(frame) => self.frames.insert(target.clone(), frame),
            None => self.frames.remove(target),
        };
    }

    /// Removes closed tabs. Their numbers are not reused for other tabs.
    pub fn retain(&mut self, is_open: impl Fn(&TargetId) -> bool) {
        let gone = self.numbers.extract_if(|target, _| !is_open(target));
        self.closed.extend(gone);
        let excess = self.closed.len().saturating_sub(CLOSED_TABS);
        self.closed.drain(..excess);
        self.frames.retain(|target, _| is_open(target));
        self.brought_to_front.retain(&is_open);
        self.current = self.current.take().filter(&is_open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_never_reused_even_after_a_crash() {
        let mut ids = TabIds::new(UpstreamKind::Pipe, 0x7f);
        let saved = ids.clone();
        let first = ids.id_of(&TargetId::new("A"));
        assert_eq!(first.to_string(), "pipe:7f:1");
        assert_eq!(ids.id_of(&TargetId::new("A")), first);
        ids.retain(|_| false);
        assert_ne!(ids.id_of(&TargetId::new("B")), first);
        assert_eq!(ids.find(first), None);
        assert_eq!(ids.id_of(&TargetId::new("A")), first, "the same tab, shown again");
        // The daemon was killed before it saved the numbers.
        let mut resumed = saved.resumed();
        let later = resumed.id_of(&TargetId::new("C"));
        assert!(later.number > first.number + 1);
        assert_eq!(resumed.find(later), Some(TargetId::new("C")));
    }
}
