//! Weak signals of a lost browser, and how they decide what a transport error means.
//!
//! A closing page sends the same events as a dying browser, so a signal counts only near a transport error.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How near a weak signal must be to a transport error to prove that the browser is gone.
const LOSS_WINDOW: Duration = Duration::from_secs(2);

/// Weak loss signals that are kept.
const LOSS_SIGNALS: usize = 10;

/// A weak disconnect signal: it proves a loss only together with a transport error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeakSignal {
    /// `Inspector.detached`.
    InspectorDetached,
    /// `Target.detachedFromTarget`.
    DetachedFromTarget,
}

/// What a transport error means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossVerdict {
    /// The browser is gone.
    Gone,
    /// The link broke; the browser may still be there.
    Unclear,
}

/// The last weak signals, with their times.
#[derive(Clone, Debug, Default)]
pub struct LossSignals {
    ring: VecDeque<(WeakSignal, Instant)>,
}

impl LossSignals {
    /// Records a signal; a full list drops the oldest.
    pub fn note(&mut self, signal: WeakSignal, at: Instant) {
        if self.ring.len() >= LOSS_SIGNALS {
            self.ring.pop_front();
        }
        self.ring.push_back((signal, at));
    }

    /// Whether a transport error at this time means that the browser is gone.
    #[must_use]
    pub fn verdict(&self, transport_error_at: Instant) -> LossVerdict {
        let near = |at: &Instant| {
            let apart = transport_error_at.saturating_duration_since(*at)
                + at.saturating_duration_since(transport_error_at);
            apart <= LOSS_WINDOW
        };
        if self.ring.iter().any(|(_, at)| near(at)) { LossVerdict::Gone } else { LossVerdict::Unclear }
    }

    /// The recorded signals, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (WeakSignal, Instant)> {
        self.ring.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn transport_error_means_gone_only_near_a_weak_signal() {
        let start = Instant::now();
        let mut signals = LossSignals::default();
        assert_eq!(signals.verdict(start), LossVerdict::Unclear);
        signals.note(WeakSignal::InspectorDetached, start);
        for (milliseconds, verdict) in [
            (0, LossVerdict::Gone),
            (1_999, LossVerdict::Gone),
            (2_000, LossVerdict::Gone),
            (2_001, LossVerdict::Unclear),
        ] {
            assert_eq!(signals.verdict(start + Duration::from_millis(milliseconds)), verdict);
        }
    }

    #[test]
    fn signal_just_after_the_error_counts() {
        let error = Instant::now();
        let mut signals = LossSignals::default();
        signals.note(WeakSignal::DetachedFromTarget, error + Duration::from_secs(1));
        assert_eq!(signals.verdict(error), LossVerdict::Gone);
        assert_eq!(signals.verdict(error + Duration::from_secs(4)), LossVerdict::Unclear);
    }

    #[test]
    fn only_the_last_ten_signals_are_recorded() {
        let start = Instant::now();
        let mut signals = LossSignals::default();
        for second in 0..15 {
            signals.note(WeakSignal::DetachedFromTarget, start + Duration::from_secs(second * 60));
        }
        assert_eq!(signals.iter().count(), LOSS_SIGNALS);
        assert_eq!(signals.verdict(start + Duration::from_secs(4 * 60)), LossVerdict::Unclear);
        assert_eq!(signals.verdict(start + Duration::from_secs(5 * 60)), LossVerdict::Gone);
    }
}
