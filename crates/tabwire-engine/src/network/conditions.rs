//! Emulated network conditions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::action::Render;

/// The speed of a network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Pace {
    /// Added latency in milliseconds.
    pub(crate) latency: f64,
    /// Download limit in kilobits per second; none for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) download: Option<f64>,
    /// Upload limit in kilobits per second; none for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) upload: Option<f64>,
}

/// Emulated network conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Conditions {
    pub(crate) offline: bool,
    pub(crate) pace: Option<Pace>,
}

impl Conditions {
    /// Whether anything is emulated.
    pub(crate) fn is_default(&self) -> bool {
        !self.offline && self.pace.is_none()
    }

    /// The parameters of the CDP command: bytes per second, -1 for no limit.
    pub(crate) fn to_params(self) -> Value {
        let bytes = |kilobits: Option<f64>| kilobits.map_or(-1.0, |kilobits| kilobits * 1000.0 / 8.0);
        json!({
            "offline": self.offline,
            "latency": self.pace.map_or(0.0, |pace| pace.latency),
            "downloadThroughput": bytes(self.pace.and_then(|pace| pace.download)),
            "uploadThroughput": bytes(self.pace.and_then(|pace| pace.upload)),
        })
    }
}

/// The network conditions of a tab, in a result.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct NetworkState {
    /// Whether the tab is offline.
    offline: bool,
    /// The emulated speed; none when it is not limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pace: Option<Pace>,
}

impl From<Conditions> for NetworkState {
    fn from(conditions: Conditions) -> Self {
        Self { offline: conditions.offline, pace: conditions.pace }
    }
}

impl Render for NetworkState {
    fn render(&self) -> String {
        let online = if self.offline { "offline" } else { "online" };
        let rate = |rate: Option<f64>| rate.map_or("no limit".to_owned(), |rate| format!("{rate} kbit/s"));
        match &self.pace {
            Some(pace) => format!(
                "{online}, throttled: latency {} ms, download {}, upload {}",
                pace.latency,
                rate(pace.download),
                rate(pace.upload)
            ),
            None => format!("{online}, not throttled"),
        }
    }
}
