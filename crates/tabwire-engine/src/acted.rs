//! What an action that acted on an element answers.

use schemars::JsonSchema;
use serde::Serialize;

use crate::action::Render;
use crate::changes::Changes;

/// What was done, to what, and what changed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Acted {
    /// What was done, in words: `clicked`.
    pub did: String,
    /// The element it was done to: `button "Pay"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// What changed.
    #[serde(flatten)]
    pub changes: Changes,
}

impl Render for Acted {
    fn render(&self) -> String {
        let first = match &self.element {
            Some(element) => format!("{} {element}", self.did),
            None => self.did.clone(),
        };
        let mut lines = vec![first];
        lines.extend(self.changes.lines());
        lines.join("\n")
    }
}
