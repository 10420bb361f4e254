//! The result of the page agent's walk.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, FrameId};

use super::role::Role;
use super::state::States;
use super::walk_node::WalkNode;
use crate::snapshot::refs::{DocumentName, ElementKey};
use crate::snapshot::text::field_value::FieldValue;
use crate::snapshot::text::link_target::LinkTarget;
use crate::snapshot::text::page_text::PageText;

/// The result for one frame and the same-origin frames below it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WalkResult {
    /// The document of the agent; refs belong to it.
    pub(crate) document: DocumentName,
    /// Its URL.
    pub(crate) url: String,
    /// Its title.
    #[serde(deserialize_with = "crate::snapshot::text::bounded::read_page_title")]
    pub(crate) title: PageText,
    /// Its scroll position and size.
    pub(crate) scroll: Scroll,
    /// Its nodes, depth first.
    pub(crate) nodes: Vec<WalkNode>,
    /// What was left out.
    #[serde(default)]
    pub(crate) left: WalkOmissions,
    /// Elements that may have a closed shadow root.
    #[serde(default)]
    pub(crate) hosts: Vec<ElementKey>,
}

impl WalkResult {
    /// Parses the result of `agent.snapshot` or `agent.find`.
    ///
    /// # Errors
    /// When it is not what the agent sends.
    pub(crate) fn read(response: &Value) -> Result<Self, Failure> {
        let text = response.as_str().unwrap_or_default();
        serde_json::from_str(text).map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("Unexpected result of the page agent: {error}."))
        })
    }
}

/// The size of a document and its visible part, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Scroll {
    pub(crate) x: i64,
    pub(crate) y: i64,
    pub(crate) width: i64,
    pub(crate) height: i64,
    pub(crate) viewport_width: i64,
    pub(crate) viewport_height: i64,
}

/// What a walk left out as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct WalkOmissions {
    /// The budget was used up before everything was visited.
    pub(crate) spent: bool,
    /// A modal dialog is open, and only it was walked.
    pub(crate) behind: bool,
}

/// Details that only some nodes have.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WalkDetails {
    pub(crate) states: States,
    pub(crate) level: Option<u32>,
    pub(crate) value: Option<FieldValue>,
    pub(crate) target: Option<LinkTarget>,
    pub(crate) options: Option<Options>,
    pub(crate) rows: Option<u32>,
    pub(crate) clickable: bool,
    pub(crate) concealed: Option<PageText>,
    /// The id of the frame that belongs here; empty when the agent does not know it.
    pub(crate) frame: Option<FrameId>,
    pub(crate) more: Option<WalkMore>,
}

/// The options of a closed drop-down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Options {
    /// Their number.
    Count(u32),
    /// Their labels.
    Labels(Vec<PageText>),
}

/// Children that were not shown.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WalkMore {
    /// Their parent element.
    pub(crate) key: ElementKey,
    #[serde(default)]
    pub(crate) above: u32,
    #[serde(default)]
    pub(crate) below: u32,
    #[serde(default)]
    pub(crate) inside: u32,
    /// Their role.
    #[serde(default)]
    pub(crate) unit: Option<Role>,
    /// The child to continue from.
    #[serde(default)]
    pub(crate) from: u32,
    /// Their number together with the shown ones.
    #[serde(default)]
    pub(crate) total: u32,
}
