//! A dialog that a page opened and that keeps everything else waiting.

use serde::{Deserialize, Serialize};
use tabwire_wire::{ErrorCode, Failure};

/// An open dialog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all(deserialize = "camelCase", serialize = "snake_case"))]
pub(crate) struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    #[serde(rename(deserialize = "type", serialize = "kind"))]
    pub kind: String,
    /// What it says.
    pub message: String,
    /// The page that opened it.
    pub url: String,
    /// What a prompt proposes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_prompt: Option<String>,
}

impl Dialog {
    /// The failure of everything that would have to wait for the dialog.
    pub(crate) fn to_failure(&self) -> Failure {
        let message = match self.kind.as_str() {
            "beforeunload" => "The page asks whether it may be left.".to_owned(),
            kind => format!("The page has an open {kind}: {:?}.", self.message),
        };
        Failure::new(ErrorCode::DialogOpen, message)
            .with_hint("Answer it with `tabwire dialog accept` or `tabwire dialog dismiss`.")
    }
}
