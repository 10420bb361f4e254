//! A dialog that a page opened and that keeps everything else waiting.

use serde::{Deserialize, Deserializer, Serialize};
use tabwire_policy::Capability;
use tabwire_wire::{ErrorCode, Failure};

use crate::frame_policy::{FramePolicy, site_of};
use crate::limits::{DIALOG_CHARACTERS, QUOTED_CHARACTERS};
use crate::snapshot::{plain_lines, quoted_lines};

/// An open dialog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all(deserialize = "camelCase", serialize = "snake_case"))]
pub(crate) struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    #[serde(rename(deserialize = "type", serialize = "kind"))]
    pub kind: String,
    /// What it says, cut at a limit.
    #[serde(deserialize_with = "read_message")]
    pub message: String,
    /// The page that opened it.
    pub url: String,
    /// What a prompt proposes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_prompt: Option<String>,
}

/// What stands for a text that may not be shown.
const WITHHELD: &str = "(withheld by the policy)";

/// Pages choose how long it is.
fn read_message<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let cut = text.char_indices().nth(DIALOG_CHARACTERS).map_or(text.len(), |(end, _)| end);
    let mut message = plain_lines(&text[..cut]).into_owned();
    if cut < text.len() {
        message.push('…');
    }
    Ok(message)
}

impl Dialog {
    /// The dialog as it may be shown: without its text when the frame that opened it may not be read.
    pub(crate) fn judged(self, policy: &FramePolicy) -> Self {
        if !self.url.starts_with("http") || policy.allows(&self.url, Capability::Read) {
            return self;
        }
        let default_prompt = self.default_prompt.map(|_| String::new());
        Self { message: WITHHELD.to_owned(), url: site_of(&self.url), default_prompt, ..self }
    }

    /// Its kind and what it says, on one line.
    pub(crate) fn phrase(&self) -> String {
        format!("{} {}", self.kind, self.quoted())
    }

    fn quoted(&self) -> String {
        quoted_lines(&self.message, QUOTED_CHARACTERS)
    }

    /// The failure of everything that would have to wait for the dialog.
    pub(crate) fn to_failure(&self) -> Failure {
        let message = match self.kind.as_str() {
            "beforeunload" => "The page asks whether it may be left.".to_owned(),
            kind => format!("The page has an open {kind}: {}.", self.quoted()),
        };
        Failure::new(ErrorCode::DialogOpen, message)
            .with_hint("Answer it with `tabwire dialog accept` or `tabwire dialog dismiss`.")
    }
}
