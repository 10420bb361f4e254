//! A clock that counts only the time in which this process ran. No response reaches a process that is stopped or
//! suspended with its machine, so that time must not count against the peer.

use std::time::{Duration, Instant};

/// Interval of deadline checks.
pub(crate) const TICK: Duration = Duration::from_secs(1);

/// Gap between two reads of the clock above which the process counts as suspended meanwhile: three ticks.
const SUSPEND_GAP: Duration = Duration::from_secs(3);

/// A clock for deadlines of peers. It must be read at least once in each tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunClock {
    last: Instant,
    /// How long the process was suspended so far.
    lost: Duration,
}

impl RunClock {
    pub(crate) const fn new(now: Instant) -> Self {
        Self { last: now, lost: Duration::ZERO }
    }

    /// Converts a time of the machine's clock.
    pub(crate) fn read(&mut self, now: Instant) -> Instant {
        let gap = now.saturating_duration_since(self.last);
        if gap > SUSPEND_GAP {
            self.lost += gap - TICK;
            tracing::info!(seconds = gap.as_secs(), "the process was suspended");
        }
        self.last = now;
        now.checked_sub(self.lost).unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f34_suspended_time_does_not_count() {
        let begun = Instant::now();
        let mut clock = RunClock::new(begun);
        let mut real = begun;
        let mut after = |seconds: u64| {
            real += Duration::from_secs(seconds);
            clock.read(real).duration_since(begun)
        };
        assert_eq!(after(1), Duration::from_secs(1));
        assert_eq!(after(1), Duration::from_secs(2));
        assert_eq!(after(3600), Duration::from_secs(3), "an hour of sleep is one tick");
        assert_eq!(after(1), Duration::from_secs(4));
        assert_eq!(after(20), Duration::from_secs(5));
    }
}
