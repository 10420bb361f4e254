//! Counts of what went astray on a connection. Decides nothing.

use std::sync::atomic::{AtomicU64, Ordering};

/// Live counts, raised by the router.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) answers_unknown: AtomicU64,
    pub(crate) answers_misrouted: AtomicU64,
    pub(crate) frames_malformed: AtomicU64,
    pub(crate) frames_oversize: AtomicU64,
    pub(crate) events_unclaimed: AtomicU64,
}

/// What went astray on a connection so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Astray {
    /// Answers nobody waited for: late, doubled or invented (F18, F19).
    pub answers_unknown: u64,
    /// Answers that named another cdp session than the one asked; never delivered.
    pub answers_misrouted: u64,
    /// Frames that could not be read (F16).
    pub frames_malformed: u64,
    /// Frames above the ceiling (F14).
    pub frames_oversize: u64,
    /// Events of cdp sessions nobody holds any more.
    pub events_unclaimed: u64,
}

impl Counters {
    pub(crate) fn raise(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Astray {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Astray {
            answers_unknown: read(&self.answers_unknown),
            answers_misrouted: read(&self.answers_misrouted),
            frames_malformed: read(&self.frames_malformed),
            frames_oversize: read(&self.frames_oversize),
            events_unclaimed: read(&self.events_unclaimed),
        }
    }
}
