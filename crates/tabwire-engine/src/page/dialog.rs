//! JavaScript dialogs and file choosers. An open dialog blocks the page: Chrome runs no command until it is closed.

use serde::{Deserialize, Deserializer, Serialize};
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step};
use tabwire_cdp::CdpSession;
use tabwire_policy::Capability;

use crate::frames::policy::{FramePolicy, site_of};
use crate::limits::QUOTED_CHARACTERS;
use crate::snapshot::{plain_lines, quoted_lines};

/// Characters of a dialog's text.
const DIALOG_CHARACTERS: usize = 2_000;

/// An open dialog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all(deserialize = "camelCase", serialize = "snake_case"))]
pub(crate) struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    #[serde(rename(deserialize = "type", serialize = "kind"))]
    pub kind: String,
    /// Its text, cut at `DIALOG_CHARACTERS`.
    #[serde(deserialize_with = "read_message")]
    pub message: String,
    /// The URL of the document that opened it.
    pub url: String,
    /// The default value of a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_prompt: Option<String>,
}

/// Replaces a text that the policy withholds.
const WITHHELD: &str = "(withheld by the policy)";

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
    /// The dialog without its text when the policy does not allow reading the frame that opened it.
    pub(crate) fn redacted(self, policy: &FramePolicy) -> Self {
        if !self.url.starts_with("http") || policy.allows(&self.url, Capability::Read) {
            return self;
        }
        let default_prompt = self.default_prompt.map(|_| String::new());
        Self { message: WITHHELD.to_owned(), url: site_of(&self.url), default_prompt, ..self }
    }

    /// Its kind and text on one line.
    pub(crate) fn phrase(&self) -> String {
        format!("{} {}", self.kind, self.quoted())
    }

    fn quoted(&self) -> String {
        quoted_lines(&self.message, QUOTED_CHARACTERS)
    }

    /// The failure of a command that the dialog blocks.
    pub(crate) fn to_failure(&self) -> Failure {
        let message = match self.kind.as_str() {
            "beforeunload" => "The page asks for confirmation before it is left (beforeunload).".to_owned(),
            kind => format!("The page has an open {kind}: {}.", self.quoted()),
        };
        Failure::new(ErrorCode::DialogOpen, message)
            .with_remedy(Remedy::new("Accept or dismiss it with {}.", [Step::action("dialog")]))
    }
}

/// An open file chooser.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileChooser {
    /// The frame of its file input.
    pub(crate) frame_id: FrameId,
    /// `selectSingle` or `selectMultiple`.
    pub(crate) mode: String,
    /// The file input; `None` for `showOpenFilePicker`.
    pub(crate) backend_node_id: Option<i64>,
    /// The session that reported it.
    #[serde(skip)]
    pub(crate) session: Option<CdpSession>,
}

impl FileChooser {
    pub(crate) fn on(mut self, session: &CdpSession) -> Self {
        self.session = Some(session.clone());
        self
    }

    /// Whether it takes several files.
    pub(crate) fn is_multiple(&self) -> bool {
        self.mode == "selectMultiple"
    }
}
