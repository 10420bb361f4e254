//! What of a page is wanted in a snapshot. Knows nothing of how the page is asked.

use serde_json::{Value, json};

use super::ref_table::ElementKey;
use super::text_form::Spacing;
use crate::limits::{CHARACTERS_PER_TOKEN, SNAPSHOT_CHARACTERS, SNAPSHOT_TOKENS};

/// What of a page is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SnapshotRequest {
    pub(crate) extent: Extent,
    pub(crate) selection: Selection,
    /// The element to look into; none for the whole page.
    pub(crate) within: Option<ElementKey>,
    /// The child of that element to start from, counted from 1.
    pub(crate) from: Option<u32>,
    /// Levels to go down.
    pub(crate) depth: Option<u32>,
}

/// How much is wanted.
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

/// Which things are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Selection {
    /// Structure, texts, and what can be acted on.
    #[default]
    Everything,
    /// What can be acted on, with the headings and landmarks around it.
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

    /// The same for a frame below: what is in it has its own elements.
    pub(crate) fn for_inner_frame(&self) -> Self {
        Self { within: None, from: None, ..self.clone() }
    }

    /// Characters the text may have.
    pub(crate) fn characters(&self) -> usize {
        match self.extent {
            Extent::Tokens(tokens) => tokens.saturating_mul(CHARACTERS_PER_TOKEN).min(SNAPSHOT_CHARACTERS),
            Extent::Full => SNAPSHOT_CHARACTERS,
        }
    }

    /// How densely the text is written.
    pub(crate) fn spacing(&self) -> Spacing {
        match self.extent {
            Extent::Tokens(_) => Spacing::Fitting,
            Extent::Full => Spacing::Spacious,
        }
    }
}
