//! How good a page's network is made to be. Knows nothing of how the browser is told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::action::Render;

/// How fast a network is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Pace {
    /// Milliseconds that are added to every answer.
    pub(crate) latency: f64,
    /// Kilobits a second that come in; none means no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) download: Option<f64>,
    /// Kilobits a second that go out; none means no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) upload: Option<f64>,
}

/// How good the network is made to be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Conditions {
    pub(crate) offline: bool,
    pub(crate) pace: Option<Pace>,
}

impl Conditions {
    /// Whether anything is made worse than it is.
    pub(crate) fn is_default(&self) -> bool {
        !self.offline && self.pace.is_none()
    }

    /// The conditions as the browser's command takes them: bytes a second, -1 for no limit.
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

/// How good a tab's network is, as answers tell it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct NetworkState {
    /// Whether there is none.
    offline: bool,
    /// How slow it is made; none when it is as fast as it is.
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
