//! A page at one moment: the results of all frames, joined.

use std::collections::HashMap;

use serde_json::Value;
use tabwire_api::FrameId;

use super::node::{Node, Note};
use super::tree::Tree;
use super::walk_node::WalkNode;
use super::walk_result::{Scroll, WalkOmissions, WalkResult};
use crate::limits::{PAGE_URL_CHARACTERS, SNAPSHOT_CHARACTERS};
use crate::snapshot::refs::{DocumentName, RefTable};
use crate::snapshot::request::{Extent, SnapshotRequest};
use crate::snapshot::text::fence;
use crate::snapshot::text::link_target::LinkTarget;
use crate::snapshot::text::page_text::PageText;
use crate::snapshot::write::line::Density;
use crate::snapshot::write::text::{self, write_lines};
use crate::snapshot::write::{budget, json};

/// Most levels of nesting. Deeper elements are on the last level.
const SNAPSHOT_DEPTH: u16 = 32;

/// The result of one frame.
#[derive(Debug)]
pub(crate) struct FrameReading {
    pub(crate) frame: FrameId,
    /// Its walk, or the reason why there is none.
    pub(crate) outcome: Result<WalkResult, String>,
}

/// A page at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// The document of the main frame, or of the requested one.
    pub(crate) document: DocumentName,
    pub(crate) url: LinkTarget,
    pub(crate) title: PageText,
    pub(crate) scroll: Scroll,
    pub(crate) left: WalkOmissions,
    /// Depth first.
    pub(crate) nodes: Vec<Node>,
}

/// A walk whose remaining nodes are not yet in the snapshot.
struct Open {
    frame: FrameId,
    document: DocumentName,
    nodes: std::vec::IntoIter<WalkNode>,
    depth: u32,
    remoteness: u16,
}

impl Snapshot {
    /// Puts the result of each frame at its place in the parent. The first result is the main frame's.
    pub(crate) fn assemble(first: WalkResult, frame: FrameId, others: Vec<FrameReading>) -> Self {
        let mut others: HashMap<FrameId, Result<WalkResult, String>> =
            others.into_iter().map(|reading| (reading.frame, reading.outcome)).collect();
        let mut snapshot = Self {
            document: first.document.clone(),
            url: LinkTarget::new(&first.url),
            title: first.title,
            scroll: first.scroll,
            left: first.left,
            nodes: Vec::new(),
        };
        let mut open = vec![Open {
            frame,
            document: first.document,
            nodes: first.nodes.into_iter(),
            depth: 0,
            remoteness: 0,
        }];
        while let Some(walk) = open.last_mut() {
            let Some(walked) = walk.nodes.next() else {
                open.pop();
                continue;
            };
            let depth = walk.depth.saturating_add(walked.depth);
            let inner = walked.details.frame.clone();
            let mut node = Node::from_walk(walked, capped(depth), &walk.frame, &walk.document);
            node.remoteness = node.remoteness.saturating_add(walk.remoteness);
            let remoteness = node.remoteness;
            let inside = inner.map(|inner| (others.remove(&inner), inner));
            match inside {
                None => snapshot.nodes.push(node),
                Some((Some(Ok(response)), frame)) => {
                    snapshot.nodes.push(node);
                    snapshot.left.spent |= response.left.spent;
                    let nodes = response.nodes.into_iter();
                    open.push(Open {
                        frame,
                        document: response.document,
                        nodes,
                        depth: depth + 1,
                        remoteness,
                    });
                }
                Some((outcome, _)) => {
                    let reason =
                        outcome.and_then(Result::err).unwrap_or_else(|| "it did not respond".to_owned());
                    node.note = Some(Note::Unread(PageText::cut(&reason, 160)));
                    snapshot.nodes.push(node);
                }
            }
        }
        snapshot
    }

    /// Removes nodes beyond the budget, farthest from the viewport first.
    pub(crate) fn fit(&mut self, request: &SnapshotRequest) {
        let density = densest(request);
        let measure = |nodes: &[Node]| text::measure(&Tree::new(nodes), density);
        let (nodes, went) = budget::fit(std::mem::take(&mut self.nodes), request.characters(), measure);
        self.nodes = nodes;
        self.left.spent |= went;
    }

    /// Estimated length of the text, without assigning refs.
    pub(crate) fn length(&self, request: &SnapshotRequest) -> usize {
        text::measure(&Tree::new(&self.nodes), densest(request))
    }

    /// The snapshot as text within its fence. Assigns refs to shown elements.
    pub(crate) fn to_text(&self, refs: &mut RefTable, request: &SnapshotRequest) -> String {
        let mut body = write_lines(&self.nodes, refs, request.spacing());
        if self.left.behind {
            body.push_str("- (a modal dialog is open; the rest of the page is behind it)\n");
        }
        if self.left.spent && request.extent == Extent::Full {
            body.push_str(&format!("- (cut at {SNAPSHOT_CHARACTERS} characters, the most a snapshot has)\n"));
        } else if self.nodes.is_empty() {
            body.push_str("- (nothing visible)\n");
        }
        fence::enclose(&self.heading(), &body)
    }

    /// The snapshot as nested JSON. Assigns refs to all elements.
    pub(crate) fn to_json(&self, refs: &mut RefTable) -> Value {
        json::write_json(self, refs)
    }

    /// URL, title and visible part of the page.
    pub(crate) fn heading(&self) -> String {
        let mut heading = self.url.within(PAGE_URL_CHARACTERS).to_string();
        if !self.title.is_empty() {
            heading.push_str(&format!(" {}", self.title.quoted()));
        }
        let Scroll { y, height, viewport_height, .. } = self.scroll;
        if height > viewport_height {
            heading.push_str(&format!(" view={y}-{}/{height}", y.saturating_add(viewport_height)));
        }
        heading
    }
}

/// The density of a long snapshot.
fn densest(request: &SnapshotRequest) -> Density {
    match request.extent {
        Extent::Tokens(_) => Density::Dense,
        Extent::Full => Density::Spacious,
    }
}

/// A depth, capped at the limit.
pub(crate) fn capped(depth: u32) -> u16 {
    u16::try_from(depth).unwrap_or(u16::MAX).min(SNAPSHOT_DEPTH)
}
