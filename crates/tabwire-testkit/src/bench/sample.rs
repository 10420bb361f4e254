//! Timings of one operation, and their statistics.

use std::time::Duration;

/// Timings of one operation.
#[derive(Debug, Default)]
pub struct Sample(Vec<Duration>);

impl Sample {
    /// Adds a timing.
    pub fn add(&mut self, taken: Duration) {
        self.0.push(taken);
    }

    /// A quantile of the timings.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index"
        )]
        let at = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
        sorted.get(at).copied().unwrap_or_default()
    }

    /// The median.
    #[must_use]
    pub fn median(&self) -> Duration {
        self.quantile(0.5)
    }

    /// The 99th percentile.
    #[must_use]
    pub fn p99(&self) -> Duration {
        self.quantile(0.99)
    }

    /// The shortest timing.
    #[must_use]
    pub fn minimum(&self) -> Duration {
        self.quantile(0.0)
    }
}

/// Microseconds, for tables.
#[must_use]
pub fn micros(duration: Duration) -> String {
    format!("{:.1} µs", duration.as_secs_f64() * 1e6)
}

/// One duration as a multiple of another.
#[must_use]
pub fn ratio(ours: Duration, theirs: Duration) -> String {
    format!("{:.2}x", ours.as_secs_f64() / theirs.as_secs_f64().max(1e-9))
}
