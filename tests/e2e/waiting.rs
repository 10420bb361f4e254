//! Waiting for a condition with a deadline. Knows nothing of what is waited for.

use std::time::{Duration, Instant};

/// How long between two looks at something that has no event.
const LOOK: Duration = Duration::from_millis(20);

/// Waits for a condition; panics with the sentence at the deadline.
pub(crate) fn eventually(what: &str, seconds: u64, mut condition: impl FnMut() -> bool) {
    let found = find_eventually(seconds, || condition().then_some(()));
    assert!(found.is_some(), "{what}: not within {seconds} s");
}

/// Waits for something to be there; nothing at the deadline.
pub(crate) fn find_eventually<T>(seconds: u64, mut find: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    loop {
        if let Some(found) = find() {
            return Some(found);
        }
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::park_timeout(LOOK);
    }
}
