//! The page agent's report on a document after an action.

use serde::Deserialize;
use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};

/// The result of the agent function `settle`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SettleReport {
    pub(crate) url: String,
    #[serde(deserialize_with = "crate::snapshot::read_title")]
    pub(crate) title: String,
    /// Changes of any kind, attributes included.
    pub(crate) mutations: u64,
    /// Nodes that were added, removed or changed.
    pub(crate) contents: u64,
    /// Milliseconds until the animations that the action started end.
    #[serde(rename = "animationsEnd")]
    pub(crate) animations_end: Option<u64>,
    /// The element's value, and whether it is the expected one.
    pub(crate) value: Option<Value>,
    pub(crate) matches: Option<bool>,
    /// Whether the expected input event arrived, if one was named.
    pub(crate) arrived: Option<bool>,
    pub(crate) guard: Option<GuardReport>,
    /// Short messages that appeared since the last report.
    pub(crate) messages: Vec<String>,
    /// A text that says that the page is still at work.
    pub(crate) busy: Option<String>,
    /// How many downloads the document started.
    pub(crate) saving: usize,
}

/// What the agent's input guard saw. The guard stops a click that would hit another element.
#[derive(Debug, Deserialize)]
pub(crate) struct GuardReport {
    state: String,
    by: Option<HitElement>,
}

/// The element that the click would have hit.
#[derive(Debug, Deserialize)]
pub(crate) struct HitElement {
    role: String,
    name: String,
}

impl GuardReport {
    /// The failure of input that the guard stopped, or that never arrived.
    pub(crate) fn to_failure(&self, arrived: Option<bool>) -> Option<Failure> {
        let snapshot = || [Step::action("snapshot")];
        if self.state == "unused" && arrived == Some(false) {
            let message = "The click did not arrive at the element. Another element may have received it.";
            return Some(
                Failure::new(ErrorCode::NotActionable, message)
                    .with_remedy(Remedy::new("Run {} to see what happened, then retry.", snapshot())),
            );
        }
        if self.state != "blocked" {
            return None;
        }
        let by = self
            .by
            .as_ref()
            .map_or_else(|| "another element".to_owned(), |hit| format!("{} {:?}", hit.role, hit.name));
        let message = format!("The element moved or was covered before the click; {by} would have been hit.");
        Some(
            Failure::new(ErrorCode::NotActionable, message)
                .with_remedy(Remedy::new("Nothing was clicked. Run {} and try again.", snapshot())),
        )
    }
}
