//! Snapshots: what is on a page as short text a model can read and act on.
//!
//! The page agent walks (`page/agent/walk.js`); this module asks nothing itself. It stitches the frames' answers
//! together, gives refs, keeps to a budget and writes lines. Every string of a page passes through `PageText` or
//! `LinkTarget` before it is anywhere near a line.

mod baseline;
mod bounded;
mod budget;
mod delta;
mod edit_script;
mod fence;
mod json_form;
mod line;
mod link_target;
mod node;
mod page_lines;
mod page_snapshot;
mod page_text;
mod pattern;
mod ref_table;
mod request;
mod role;
mod search;
mod snapshot_memory;
mod state;
#[cfg(test)]
mod stories;
mod text_form;
mod tree;
mod walk_answer;
mod walk_node;

pub(crate) use baseline::Baseline;
pub(crate) use bounded::{address, quoted_lines, read_lines, read_title, title, worded};
pub use bounded::{bounded_failure, line_address, page_outline, plain_line};
pub(crate) use fence::enclose;
pub(crate) use link_target::LinkTarget;
pub(crate) use page_lines::harmless_lines;
pub use page_lines::{plain_lines, plain_value};
pub(crate) use page_snapshot::{FrameReading, Snapshot};
pub(crate) use page_text::{PageText, is_invisible, is_joined, is_mark};
pub(crate) use pattern::Pattern;
pub(crate) use ref_table::{DocumentName, ElementHandle, ElementKey, ElementRef, RefMeaning, RefTable};
pub(crate) use request::{Extent, Selection, SnapshotRequest};
pub(crate) use search::Search;
pub(crate) use snapshot_memory::{Comparison, SnapshotLines, SnapshotMemory};
pub(crate) use walk_answer::WalkAnswer;
