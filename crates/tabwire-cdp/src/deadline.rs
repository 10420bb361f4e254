//! A point in time at which a wait times out.

use std::time::Duration;

use tokio::time::Instant;

/// Default timeout of a command: 30 s.
const COMMAND_DEADLINE: Duration = Duration::from_secs(30);

/// When a wait times out, and how long it was from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    at: Instant,
    after: Duration,
}

impl Deadline {
    /// Times out this long from now. A duration that the clock cannot represent becomes a year.
    #[must_use]
    pub fn after(after: Duration) -> Self {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
        let after = after.min(YEAR);
        Self { at: Instant::now() + after, after }
    }

    /// Times out at this instant.
    #[must_use]
    pub fn at(at: Instant) -> Self {
        Self { at, after: at.saturating_duration_since(Instant::now()) }
    }

    /// The instant of the timeout.
    #[must_use]
    pub fn instant(self) -> Instant {
        self.at
    }

    /// The requested duration of the wait.
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
