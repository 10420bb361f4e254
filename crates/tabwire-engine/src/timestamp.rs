//! UTC timestamps as text, without leap seconds.

use std::time::{SystemTime, UNIX_EPOCH};

/// A point in time, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timestamp {
    milliseconds: u64,
}

impl Timestamp {
    /// The current time.
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { milliseconds: u64::try_from(since.as_millis()).unwrap_or_default() }
    }

    /// Year, month and day.
    fn date(self) -> (u64, u64, u64) {
        // Years start in March here, so that the leap day is the last day.
        let days = self.milliseconds / 86_400_000 + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        (year + era * 400 + u64::from(month <= 2), month, day)
    }

    fn clock(self) -> (u64, u64, u64) {
        let seconds = self.milliseconds / 1_000 % 86_400;
        (seconds / 3_600, seconds / 60 % 60, seconds % 60)
    }

    /// `2026-11-15T10:02:03.004Z`.
    pub(crate) fn whole(self) -> String {
        let ((year, month, day), (hour, minute, second)) = (self.date(), self.clock());
        let rest = self.milliseconds % 1_000;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{rest:03}Z")
    }

    /// `20261115-100203`, for file names.
    pub(crate) fn short(self) -> String {
        let ((year, month, day), (hour, minute, second)) = (self.date(), self.clock());
        format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_written_as_dates() {
        for (seconds, written) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (1_767_225_600, "2026-01-01T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(Timestamp { milliseconds: seconds * 1_000 }.whole(), written);
        }
        assert_eq!(Timestamp { milliseconds: 1_709_251_199_000 }.short(), "20240229-235959");
    }
}
