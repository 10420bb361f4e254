//! Assigns numbers to tabs. A number is never reused, not even after a restart of the daemon.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use tabwire_api::{FrameId, TabId, TargetId, UpstreamKind};

use crate::limits::TAB_NUMBERS_AHEAD;

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
    current: Option<TargetId>,
    /// The selected frame of each tab, unless it is the main frame.
    #[serde(default)]
    frames: HashMap<TargetId, FrameId>,
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
            current: None,
            frames: HashMap::new(),
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
        let number = *self.numbers.entry(target.clone()).or_insert_with(|| {
            let number = self.next;
            self.next += 1;
            number
        });
        self.reserved = self.reserved.max(self.next + TAB_NUMBERS_AHEAD / 2);
        TabId { upstream: self.upstream, epoch: self.epoch, number }
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

    /// Removes closed tabs. Their numbers are not reused.
    pub fn retain(&mut self, is_open: impl Fn(&TargetId) -> bool) {
        self.numbers.retain(|target, _| is_open(target));
        self.frames.retain(|target, _| is_open(target));
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
        // The daemon was killed before it saved the numbers.
        let mut resumed = saved.resumed();
        let later = resumed.id_of(&TargetId::new("C"));
        assert!(later.number > first.number + 1);
        assert_eq!(resumed.find(later), Some(TargetId::new("C")));
    }
}
