//! One node of a snapshot.

use super::role::{Role, RoleKind};
use super::state::States;
use super::walk_node::WalkNode;
use super::walk_result::{Options, WalkMore};
use crate::snapshot::refs::{DocumentName, ElementHandle, ElementKey};
use crate::snapshot::text::field_value::FieldValue;
use crate::snapshot::text::link_target::LinkTarget;
use crate::snapshot::text::page_text::PageText;
use tabwire_api::FrameId;

/// One node: an element, a text, or a note about omissions.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) depth: u16,
    pub(crate) role: Role,
    pub(crate) name: PageText,
    /// None for texts and notes.
    pub(crate) handle: Option<ElementHandle>,
    pub(crate) states: States,
    pub(crate) level: Option<u32>,
    pub(crate) value: Option<FieldValue>,
    pub(crate) target: Option<LinkTarget>,
    pub(crate) options: Option<Options>,
    pub(crate) rows: Option<u32>,
    pub(crate) clickable: bool,
    /// Why it is invisible although it exists.
    pub(crate) concealed: Option<PageText>,
    pub(crate) note: Option<Note>,
    /// Distance level from the viewport; 0 in view.
    pub(crate) remoteness: u16,
}

/// A note about the snapshot itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// Nodes before the shown ones.
    Above(OmittedNodes),
    /// Nodes after the shown ones.
    Below(OmittedNodes),
    /// Nodes in between.
    Inside(OmittedNodes),
    /// A frame that could not be read, and why.
    Unread(PageText),
}

/// Omitted nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OmittedNodes {
    /// Their parent element.
    pub(crate) container: Option<ElementHandle>,
    pub(crate) count: u32,
    /// Their number together with the shown ones; 0 when it is unknown.
    pub(crate) total: u32,
    /// Their role.
    pub(crate) unit: Option<Role>,
    /// The child to continue from, counted from 1; 0 when they have no order.
    pub(crate) from: u32,
}

impl Node {
    /// Converts a node of a walk in this frame.
    pub(crate) fn from_walk(walked: WalkNode, depth: u16, frame: &FrameId, document: &DocumentName) -> Self {
        let WalkNode { role, name, key, remoteness, details, .. } = walked;
        let handle_of = |key: ElementKey| {
            (key.0 > 0).then(|| ElementHandle { frame: frame.clone(), document: document.clone(), key })
        };
        let is_nothing = role.as_str().is_empty() && details.more.is_none();
        Self {
            depth,
            role: if is_nothing { Role::new("unknown") } else { role },
            name,
            handle: handle_of(key),
            states: details.states,
            level: details.level,
            value: details.value,
            target: details.target,
            options: details.options,
            rows: details.rows,
            clickable: details.clickable,
            concealed: details.concealed,
            note: details.more.map(|more| Note::from_walk(more, handle_of)),
            remoteness,
        }
    }

    /// A note about omissions.
    pub(crate) fn of_note(note: Note, depth: u16) -> Self {
        Self {
            depth,
            role: Role::new(""),
            name: PageText::default(),
            handle: None,
            states: States::default(),
            level: None,
            value: None,
            target: None,
            options: None,
            rows: None,
            clickable: false,
            concealed: None,
            note: Some(note),
            remoteness: 0,
        }
    }

    /// Whether it is interactive.
    pub(crate) fn is_acted(&self) -> bool {
        self.clickable || self.role.kind() == RoleKind::ActionResult
    }

    /// Whether it is a note instead of page content.
    pub(crate) fn is_note(&self) -> bool {
        self.role.as_str().is_empty()
    }
}

impl Note {
    fn from_walk(more: WalkMore, handle_of: impl Fn(ElementKey) -> Option<ElementHandle>) -> Self {
        let missing = |count| OmittedNodes {
            container: handle_of(more.key),
            count,
            total: more.total,
            unit: more.unit.clone(),
            from: more.from,
        };
        if more.above > 0 {
            Self::Above(missing(more.above))
        } else if more.below > 0 {
            Self::Below(missing(more.below))
        } else {
            Self::Inside(missing(more.inside))
        }
    }
}
