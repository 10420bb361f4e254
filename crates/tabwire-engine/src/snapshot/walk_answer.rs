//! What the page agent's walk answers, as data. Knows nothing of how it is asked for or shown.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tabwire_wire::{ErrorCode, Failure, FrameId};

use super::link_target::LinkTarget;
use super::page_text::PageText;
use super::ref_table::{DocumentName, ElementKey};
use super::role::Role;
use super::state::States;
use super::walk_node::WalkNode;

/// The walk's answer for one frame and the frames below that it could read.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WalkAnswer {
    /// The document whose agent answered; refs belong to it.
    pub(crate) document: DocumentName,
    /// Where the document is.
    pub(crate) url: String,
    /// What it is called.
    #[serde(deserialize_with = "super::bounded::read_page_title")]
    pub(crate) title: PageText,
    /// How far it is scrolled, and how large it is.
    pub(crate) scroll: Scroll,
    /// What is on it, depth first.
    pub(crate) nodes: Vec<WalkNode>,
    /// What was left out.
    #[serde(default)]
    pub(crate) left: Left,
}

impl WalkAnswer {
    /// Reads what `agent.snapshot` or `agent.find` returned.
    ///
    /// # Errors
    /// When it is not what the agent sends.
    pub(crate) fn read(answer: &Value) -> Result<Self, Failure> {
        let text = answer.as_str().unwrap_or_default();
        serde_json::from_str(text).map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("The page's snapshot is not readable: {error}."))
        })
    }
}

/// A document's size and the part of it in view, in CSS pixels.
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
pub(crate) struct Left {
    /// The budget was spent before everything was visited.
    pub(crate) spent: bool,
    /// A modal dialog is open, and only it was walked.
    pub(crate) behind: bool,
}

/// What only some nodes have.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WalkDetails {
    pub(crate) states: States,
    pub(crate) level: Option<u32>,
    pub(crate) value: Option<PageText>,
    pub(crate) target: Option<LinkTarget>,
    pub(crate) options: Option<Options>,
    pub(crate) rows: Option<u32>,
    pub(crate) clickable: bool,
    pub(crate) concealed: Option<PageText>,
    /// The frame that belongs here; empty when the agent does not know which.
    pub(crate) frame: Option<FrameId>,
    pub(crate) more: Option<WalkMore>,
}

/// What can be chosen in a closed list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Options {
    /// So many.
    Count(u32),
    /// These.
    Labels(Vec<PageText>),
}

/// Children that were not shown.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WalkMore {
    /// The element they are in.
    pub(crate) key: ElementKey,
    #[serde(default)]
    pub(crate) above: u32,
    #[serde(default)]
    pub(crate) below: u32,
    #[serde(default)]
    pub(crate) inside: u32,
    /// What they are.
    #[serde(default)]
    pub(crate) unit: Option<Role>,
    /// The child to go on from.
    #[serde(default)]
    pub(crate) from: u32,
    /// How many there are with those shown.
    #[serde(default)]
    pub(crate) total: u32,
}
