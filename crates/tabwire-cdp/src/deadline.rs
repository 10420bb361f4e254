//! A point in time after which a wait gives up. Knows nothing of what is waited for.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits::COMMAND_DEADLINE;

/// When a wait gives up, and how long that was from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    at: Instant,
    after: Duration,
}

impl Deadline {
    /// Gives up this long from now; a length the clock cannot hold counts as a year.
    #[must_use]
    pub fn after(after: Duration) -> Self {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
        let after = after.min(YEAR);
        Self { at: Instant::now() + after, after }
    }

    /// Gives up at this moment.
    #[must_use]
    pub fn at(at: Instant) -> Self {
        Self { at, after: at.saturating_duration_since(Instant::now()) }
    }

    /// The moment of giving up.
    #[must_use]
    pub fn instant(self) -> Instant {
        self.at
    }

    /// The length of the wait as it was asked for.
    #[must_use]
    pub fn length(self) -> Duration {
        self.after
    }
}

impl Default for Deadline {
    /// The default command deadline, from now.
    fn default() -> Self {
        Self::after(COMMAND_DEADLINE)
    }
}

impl From<Duration> for Deadline {
    fn from(after: Duration) -> Self {
        Self::after(after)
    }
}

impl From<Instant> for Deadline {
    fn from(at: Instant) -> Self {
        Self::at(at)
    }
}
