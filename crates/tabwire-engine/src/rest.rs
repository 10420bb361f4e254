//! What the page agent says of a document after an action. Decides nothing.

use serde::Deserialize;
use serde_json::Value;
use tabwire_wire::{ErrorCode, Failure};

/// What the page agent says of the document.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Rest {
    pub(crate) url: String,
    #[serde(deserialize_with = "crate::snapshot::read_title")]
    pub(crate) title: String,
    /// Elements and texts that came, went or changed.
    pub(crate) contents: u64,
    /// Milliseconds until animations that the action began are over.
    #[serde(rename = "animationsEnd")]
    pub(crate) animations_end: Option<u64>,
    /// What the element holds afterwards, and whether it is what was wanted.
    pub(crate) value: Option<Value>,
    pub(crate) matches: Option<bool>,
    /// Whether the input that ends the action has arrived, if that was asked.
    pub(crate) arrived: Option<bool>,
    /// What the pointer met in place of the element.
    pub(crate) guard: Option<Guard>,
    /// How many downloads the browser was told to begin.
    pub(crate) saving: usize,
}

/// What the agent's guard saw of the pointer.
#[derive(Debug, Deserialize)]
pub(crate) struct Guard {
    state: String,
    by: Option<Met>,
}

/// What the pointer met.
#[derive(Debug, Deserialize)]
pub(crate) struct Met {
    role: String,
    name: String,
}

impl Guard {
    /// The failure of input that would have reached another element and was stopped.
    pub(crate) fn to_failure(&self, arrived: Option<bool>) -> Option<Failure> {
        if self.state == "unused" && arrived == Some(false) {
            let message = "The press did not arrive at the element; it may have gone elsewhere.";
            return Some(
                Failure::new(ErrorCode::NotActionable, message)
                    .with_hint("Take a `tabwire snapshot` to see what happened, then try again."),
            );
        }
        if self.state != "blocked" {
            return None;
        }
        let by = self
            .by
            .as_ref()
            .map_or_else(|| "something else".to_owned(), |met| format!("{} {:?}", met.role, met.name));
        let message =
            format!("The element moved or was covered at the last moment; {by} would have been hit.");
        Some(
            Failure::new(ErrorCode::NotActionable, message)
                .with_hint("Nothing was pressed. Take a new `tabwire snapshot` and try again."),
        )
    }
}
