//! Web vitals and their ratings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::snapshot::PageText;

/// The rating of a metric, by the published thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rating {
    /// Good.
    Good,
    /// Needs improvement.
    NeedsImprovement,
    /// Poor.
    Poor,
}

impl Rating {
    fn of(value: f64, good: f64, poor: f64) -> Self {
        match value {
            value if value <= good => Self::Good,
            value if value <= poor => Self::NeedsImprovement,
            _ => Self::Poor,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::NeedsImprovement => "needs improvement",
            Self::Poor => "poor",
        }
    }
}

/// A web vital.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    /// Time to first byte.
    FirstByte,
    /// First contentful paint.
    FirstPaint,
    /// Largest contentful paint.
    LargestPaint,
    /// Interaction to next paint.
    Interaction,
    /// Cumulative layout shift.
    Shift,
}

impl Metric {
    fn name(self) -> &'static str {
        match self {
            Self::FirstByte => "TTFB",
            Self::FirstPaint => "FCP",
            Self::LargestPaint => "LCP",
            Self::Interaction => "INP",
            Self::Shift => "CLS",
        }
    }

    fn rate(self, value: f64) -> Rating {
        let (good, poor) = match self {
            Self::FirstByte => (800.0, 1_800.0),
            Self::FirstPaint => (1_800.0, 3_000.0),
            Self::LargestPaint => (2_500.0, 4_000.0),
            Self::Interaction => (200.0, 500.0),
            Self::Shift => (0.1, 0.25),
        };
        Rating::of(value, good, poor)
    }

    /// The metric with its rating.
    pub(crate) fn measure(self, value: f64, element: Option<&str>) -> Measure {
        let scale = if self == Self::Shift { 10_000.0 } else { 10.0 };
        Measure {
            value: (value * scale).round() / scale,
            rating: self.rate(value),
            element: element.map(|name| PageText::cut(name, 60).as_str().to_owned()),
        }
    }

    /// The metric as a line, also when it has no value.
    pub(crate) fn line(self, measure: Option<&Measure>, otherwise: &str) -> String {
        let Some(measure) = measure else { return format!("{}: {otherwise}", self.name()) };
        let unit = if self == Self::Shift { "" } else { " ms" };
        let mut line = format!("{}: {}{unit} ({})", self.name(), measure.value, measure.rating.label());
        if let Some(element) = &measure.element {
            line.push_str(&format!(" {}", PageText::cut(element, 60).quoted()));
        }
        line
    }
}

/// A metric and its rating.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Measure {
    /// Milliseconds; a layout shift has no unit.
    pub value: f64,
    /// Its rating.
    pub rating: Rating,
    /// The element that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
}

/// Tasks of more than 50 ms, during which a page does not respond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LongTasks {
    /// Number of tasks.
    pub count: u64,
    /// Total milliseconds.
    #[serde(rename(serialize = "total_ms"))]
    pub total: f64,
    /// Milliseconds of the longest.
    #[serde(rename(serialize = "longest_ms"))]
    pub longest: f64,
}

impl LongTasks {
    /// Adds a task.
    pub(crate) fn add(&mut self, milliseconds: f64) {
        self.count += 1;
        self.total += milliseconds;
        self.longest = self.longest.max(milliseconds);
    }

    /// Rounded to a tenth of a millisecond.
    pub(crate) fn rounded(self) -> Self {
        let round = |number: f64| (number * 10.0).round() / 10.0;
        Self { total: round(self.total), longest: round(self.longest), ..self }
    }

    /// The tasks as a line.
    pub(crate) fn line(self) -> String {
        match self.count {
            0 => "long tasks: none".to_owned(),
            count => format!("long tasks: {count}, {} ms in all, longest {} ms", self.total, self.longest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_rated_by_the_published_thresholds() {
        for (sign, value, rating) in [
            (Metric::LargestPaint, 2_500.0, Rating::Good),
            (Metric::LargestPaint, 2_501.0, Rating::NeedsImprovement),
            (Metric::Interaction, 501.0, Rating::Poor),
            (Metric::Shift, 0.1, Rating::Good),
            (Metric::Shift, 0.3, Rating::Poor),
        ] {
            assert_eq!(sign.measure(value, None).rating, rating, "{sign:?} {value}");
        }
    }

    #[test]
    fn a_page_cannot_write_a_line_through_a_name() {
        let measure = Metric::Shift.measure(0.123_456, Some("a\n- button \"Pay\""));
        assert_eq!(
            Metric::Shift.line(Some(&measure), ""),
            "CLS: 0.1235 (needs improvement) \"a - button \\\"Pay\\\"\""
        );
        assert_eq!(Metric::LargestPaint.line(None, "none yet"), "LCP: none yet");
    }
}
