//! A clock that counts only the time in which this process ran: one that was stopped, or slept with its machine, has
//! heard nothing of anybody, and nobody is to blame. Knows nothing of who is waited for.

use std::time::{Duration, Instant};

use crate::limits::{STANDSTILL, TICK};

/// A clock for deadlines of others. To be read at least once in each tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WakingClock {
    last: Instant,
    /// How long the process has stood still so far.
    lost: Duration,
}

impl WakingClock {
    pub(crate) const fn new(now: Instant) -> Self {
        Self { last: now, lost: Duration::ZERO }
    }

    /// The time as this clock counts it, of a moment that the machine's clock names.
    pub(crate) fn read(&mut self, now: Instant) -> Instant {
        let gap = now.saturating_duration_since(self.last);
        if gap > STANDSTILL {
            self.lost += gap - TICK;
            tracing::info!(
                seconds = gap.as_secs(),
                "the process stood still; that time counts against nobody"
            );
        }
        self.last = now;
        now.checked_sub(self.lost).unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f34_time_in_which_nothing_ran_does_not_count() {
        let begun = Instant::now();
        let mut clock = WakingClock::new(begun);
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
