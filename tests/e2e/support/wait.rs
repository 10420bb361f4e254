//! Polls a condition until a deadline.

use std::time::{Duration, Instant};

/// Shortest and longest time between two polls. In between it is a tenth of the time waited so far: a command that
/// ends at once is noticed at once, and a long wait does not keep a processor busy.
const POLL: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// Waits for a condition; panics with `what` at the deadline.
pub(crate) fn eventually(what: &str, seconds: u64, mut condition: impl FnMut() -> bool) {
    let found = find_eventually(seconds, || condition().then_some(()));
    assert!(found.is_some(), "{what}: not within {seconds} s");
}

/// Waits until `find` finds a value; `None` at the deadline.
pub(crate) fn find_eventually<T>(seconds: u64, mut find: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    let limit = Duration::from_secs(seconds);
    loop {
        if let Some(found) = find() {
            return Some(found);
        }
        let waited = start.elapsed();
        if waited >= limit {
            return None;
        }
        std::thread::park_timeout((waited / 10).clamp(POLL.0, POLL.1));
    }
}
