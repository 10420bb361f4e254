//! Options of a snapshot.

use serde_json::{Value, json};

use super::refs::ElementKey;
use super::write::text::Spacing;
use crate::limits::{SNAPSHOT_CHARACTERS, SNAPSHOT_TOKENS};

/// Characters per token, for budgets in tokens.
const CHARACTERS_PER_TOKEN: usize = 4;

/// Options of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SnapshotRequest {
    pub(crate) extent: Extent,
    pub(crate) selection: Selection,
    /// The root element; none for the whole page.
    pub(crate) within: Option<ElementKey>,
    /// The child of that element to start from, counted from 1.
    pub(crate) from: Option<u32>,
    /// Most levels.
    pub(crate) depth: Option<u32>,
}

/// The amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What is nearest to the viewport, up to this many tokens.
    Tokens(usize),
    /// Everything, up to a hard limit.
    Full,
}

impl Default for Extent {
    fn default() -> Self {
        Self::Tokens(SNAPSHOT_TOKENS)
    }
}

/// The kinds of elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Selection {
    /// Structure, text and interactive elements.
    #[default]
    Everything,
    /// Interactive elements, with the headings and landmarks around them.
    Interactive,
}

impl SnapshotRequest {
    /// The argument of `agent.snapshot`.
    pub(crate) fn argument(&self) -> Value {
        json!({
            "budget": self.characters(),
            "full": self.extent == Extent::Full,
            "interactive": self.selection == Selection::Interactive,
            "within": self.within,
            "from": self.from,
            "depth": self.depth,
        })
    }

    /// The same for a child frame, which has its own elements.
    pub(crate) fn for_inner_frame(&self) -> Self {
        Self { within: None, from: None, ..self.clone() }
    }

    /// Most characters of the text.
    pub(crate) fn characters(&self) -> usize {
        match self.extent {
            Extent::Tokens(tokens) => tokens.saturating_mul(CHARACTERS_PER_TOKEN).min(SNAPSHOT_CHARACTERS),
            Extent::Full => SNAPSHOT_CHARACTERS,
        }
    }

    /// The density of the text.
    pub(crate) fn spacing(&self) -> Spacing {
        match self.extent {
            Extent::Tokens(_) => Spacing::Fitting,
            Extent::Full => Spacing::Spacious,
        }
    }
}
