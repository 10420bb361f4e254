//! One thing on a page as a snapshot holds it. Knows nothing of lines or budgets.

use super::link_target::LinkTarget;
use super::page_text::PageText;
use super::ref_table::{DocumentName, ElementHandle, ElementKey};
use super::role::{Role, RoleKind};
use super::state::States;
use super::walk_answer::{Options, WalkMore};
use super::walk_node::WalkNode;
use tabwire_wire::FrameId;

/// One thing on a page: an element, a text, or a note on what was left out.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) depth: u16,
    pub(crate) role: Role,
    pub(crate) name: PageText,
    /// None for texts and notes.
    pub(crate) handle: Option<ElementHandle>,
    pub(crate) states: States,
    pub(crate) level: Option<u32>,
    pub(crate) value: Option<PageText>,
    pub(crate) target: Option<LinkTarget>,
    pub(crate) options: Option<Options>,
    pub(crate) rows: Option<u32>,
    pub(crate) clickable: bool,
    /// Why a person cannot see it although it is there.
    pub(crate) concealed: Option<PageText>,
    pub(crate) note: Option<Note>,
    /// How far from the viewport it is; 0 in it.
    pub(crate) remoteness: u16,
}

/// What a line says about the snapshot itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// Things before those shown.
    Above(Missing),
    /// Things after those shown.
    Below(Missing),
    /// Things in between.
    Inside(Missing),
    /// A frame that could not be read, and why.
    Unread(PageText),
}

/// Things that were not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// The element they are in.
    pub(crate) container: Option<ElementHandle>,
    pub(crate) count: u32,
    /// How many there are with those shown; 0 when that is not known.
    pub(crate) total: u32,
    /// What they are.
    pub(crate) unit: Option<Role>,
    /// The child to go on from, counted from 1; 0 when there is no order to go by.
    pub(crate) from: u32,
}

impl Node {
    /// Takes a node of a walk that was done in this frame.
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

    /// A line that says what was left out.
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

    /// Whether it can be acted on.
    pub(crate) fn is_acted(&self) -> bool {
        self.clickable || self.role.kind() == RoleKind::Acted
    }

    /// Whether it is a line of ours and no thing of the page.
    pub(crate) fn is_note(&self) -> bool {
        self.role.as_str().is_empty()
    }
}

impl Note {
    fn from_walk(more: WalkMore, handle_of: impl Fn(ElementKey) -> Option<ElementHandle>) -> Self {
        let missing = |count| Missing {
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
