//! Snapshots: a page as short text that a model can read and act on.
//!
//! The page agent walks the page (`page/agent/walk/`). This module joins the results of all frames, assigns refs,
//! applies a budget and writes lines. Every string of a page passes through `PageText` or `LinkTarget` before it is
//! written.

pub(crate) mod compare;
pub(crate) mod model;
pub(crate) mod pattern;
pub(crate) mod refs;
pub(crate) mod request;
pub(crate) mod search;
pub(crate) mod take;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod write;

pub(crate) use compare::baseline::Baseline;
pub(crate) use compare::memory::{Comparison, SnapshotLines, SnapshotMemory};
pub(crate) use model::page_snapshot::{FrameReading, Snapshot};
pub(crate) use model::walk_result::WalkResult;
pub(crate) use pattern::Pattern;
pub(crate) use refs::{DocumentName, ElementHandle, ElementKey, ElementRef, RefMeaning, RefTable};
pub(crate) use request::{Extent, Selection, SnapshotRequest};
pub(crate) use search::Search;
pub(crate) use text::bounded::{address, quoted_lines, read_lines, read_title, title, worded};
pub use text::bounded::{bounded_failure, line_address, page_outline, plain_line};
pub(crate) use text::fence::enclose;
pub(crate) use text::link_target::LinkTarget;
pub(crate) use text::page_lines::harmless_lines;
pub use text::page_lines::{plain_lines, plain_value};
pub(crate) use text::page_text::{PageText, is_invisible, is_joined, is_mark};
