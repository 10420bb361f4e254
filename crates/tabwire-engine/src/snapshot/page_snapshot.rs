//! A page at one moment: what all its frames answered, stitched together. Knows nothing of lines.

use std::collections::HashMap;

use tabwire_wire::FrameId;

use super::limits::SNAPSHOT_DEPTH;
use super::node::{Node, Note};
use super::page_text::PageText;
use super::walk_answer::{Left, Scroll, WalkAnswer, WalkNode};

/// What asking one frame gave.
#[derive(Debug)]
pub(crate) struct FrameReading {
    pub(crate) frame: FrameId,
    /// Its walk, or why there is none, in a few words.
    pub(crate) outcome: Result<WalkAnswer, String>,
}

/// A page at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) url: PageText,
    pub(crate) title: PageText,
    pub(crate) scroll: Scroll,
    pub(crate) left: Left,
    /// Depth first.
    pub(crate) nodes: Vec<Node>,
}

/// A walk of which some nodes are still to be taken.
struct Open {
    frame: FrameId,
    document: super::ref_table::DocumentName,
    nodes: std::vec::IntoIter<WalkNode>,
    depth: u32,
    remoteness: u16,
}

impl Snapshot {
    /// Puts each frame's answer where its frame stands in the one above. The first answer is the page's own.
    pub(crate) fn assemble(first: WalkAnswer, frame: FrameId, others: Vec<FrameReading>) -> Self {
        let mut others: HashMap<FrameId, Result<WalkAnswer, String>> =
            others.into_iter().map(|reading| (reading.frame, reading.outcome)).collect();
        let mut snapshot =
            Self { url: first.url, title: first.title, scroll: first.scroll, left: first.left, nodes: Vec::new() };
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
            let depth = walk.depth.saturating_add(walked.0);
            let inner = walked.4.frame.clone();
            let mut node = Node::from_walk(walked, capped(depth), &walk.frame, &walk.document);
            node.remoteness = node.remoteness.saturating_add(walk.remoteness);
            let remoteness = node.remoteness;
            let inside = inner.map(|inner| (others.remove(&inner), inner));
            match inside {
                None => snapshot.nodes.push(node),
                Some((Some(Ok(answer)), frame)) => {
                    snapshot.nodes.push(node);
                    snapshot.left.spent |= answer.left.spent;
                    let nodes = answer.nodes.into_iter();
                    open.push(Open { frame, document: answer.document, nodes, depth: depth + 1, remoteness });
                }
                Some((outcome, _)) => {
                    let reason = outcome.and_then(Result::err).unwrap_or_else(|| "it did not answer".to_owned());
                    node.note = Some(Note::Unread(PageText::cut(&reason, 160)));
                    snapshot.nodes.push(node);
                }
            }
        }
        snapshot
    }
}

fn capped(depth: u32) -> u16 {
    u16::try_from(depth).unwrap_or(u16::MAX).min(SNAPSHOT_DEPTH)
}
