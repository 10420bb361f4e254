//! A search through everything on a page: what matches, with what it stands in. Knows nothing of how frames are asked.
//!
//! The page is read in portions, so that a large one is never held as a whole.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tabwire_wire::{ErrorCode, Failure, FrameId};

use super::fence;
use super::json_form::write_nodes;
use super::line::searchable;
use super::link_target::LinkTarget;
use super::node::Node;
use super::page_snapshot::capped;
use super::page_text::PageText;
use super::pattern::Pattern;
use super::ref_table::{DocumentName, ElementKey, RefTable};
use super::text_form::{Spacing, write_lines};
use super::tree::Tree;
use super::walk_node::WalkNode;
use crate::limits::{SEARCH_MATCHES, SEARCH_PORTION, SEARCH_ROW};

/// A search under way.
#[derive(Debug)]
pub(crate) struct Search {
    pattern: Pattern,
    frames: Vec<FoundInFrame>,
    /// Matches shown, and matches in all.
    shown: usize,
    total: usize,
    /// Rows and items that may match too and were not looked at.
    uncounted: usize,
}

/// What was found in one frame.
#[derive(Debug)]
struct FoundInFrame {
    frame: FrameId,
    url: LinkTarget,
    title: PageText,
    nodes: Vec<Node>,
}

/// A portion of a page as `agent.find` gives it.
#[derive(Debug, Deserialize)]
struct Portion {
    document: DocumentName,
    url: String,
    #[serde(deserialize_with = "super::bounded::read_page_title")]
    title: PageText,
    nodes: Vec<WalkNode>,
    above: usize,
    next: Option<u32>,
    #[serde(default)]
    uncounted: usize,
}

impl Search {
    /// Starts a search.
    pub(crate) fn new(pattern: Pattern) -> Self {
        Self { pattern, frames: Vec::new(), shown: 0, total: 0, uncounted: 0 }
    }

    /// The argument of `agent.find`: everything from here on, in the element if one is given.
    pub(crate) fn argument(&self, from: u32, within: Option<ElementKey>) -> Value {
        let words = self.pattern.words();
        json!({ "from": from, "characters": SEARCH_PORTION, "within": within, "words": words })
    }

    /// Takes a frame's answer. Returns where its next portion starts; none when that was the last.
    ///
    /// # Errors
    /// When it is not what the agent sends.
    pub(crate) fn take(&mut self, frame: &FrameId, answer: &Value) -> Result<Option<u32>, Failure> {
        let text = answer.as_str().unwrap_or_default();
        let portion: Portion = serde_json::from_str(text).map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("What the page answered is not readable: {error}."))
        })?;
        let next = portion.next;
        if next.is_none() {
            self.uncounted += portion.uncounted;
        }
        let (above, url, title, document) = (portion.above, portion.url, portion.title, portion.document);
        let nodes: Vec<Node> = portion
            .nodes
            .into_iter()
            .map(|walked| {
                let depth = capped(walked.depth);
                Node::from_walk(walked, depth, frame, &document)
            })
            .collect();
        let found = self.pick(nodes, above);
        if self.frames.last().is_none_or(|last| last.frame != *frame) {
            let url = LinkTarget::new(&url);
            self.frames.push(FoundInFrame { frame: frame.clone(), url, title, nodes: Vec::new() });
        }
        if let Some(last) = self.frames.last_mut() {
            // What an earlier portion has shown already is not shown again as the surroundings of this one.
            let is_known = |node: &Node| last.nodes.iter().any(|known| known.handle == node.handle);
            let found: Vec<Node> =
                found.into_iter().filter(|node| node.handle.is_none() || !is_known(node)).collect();
            last.nodes.extend(found);
        }
        Ok(next)
    }

    /// The nodes that match, with what they stand in; of a row or list item that has a match, everything.
    fn pick(&mut self, nodes: Vec<Node>, above: usize) -> Vec<Node> {
        let mut kept = vec![false; nodes.len()];
        let mut path: Vec<usize> = Vec::new();
        let tree = Tree::new(&nodes);
        for (at, node) in nodes.iter().enumerate() {
            while path.last().is_some_and(|last| nodes[*last].depth >= node.depth) {
                path.pop();
            }
            path.push(at);
            if at < above || node.is_note() || !self.pattern.matches(&searchable(node)) {
                continue;
            }
            self.total += 1;
            if self.shown >= SEARCH_MATCHES {
                continue;
            }
            self.shown += 1;
            for place in &path {
                kept[*place] = true;
            }
            if let Some(row) = path.iter().rev().find(|place| is_row(&nodes[**place])) {
                let end = tree.end(*row);
                if end - row <= SEARCH_ROW {
                    kept[*row..end].fill(true);
                }
            }
        }
        nodes.into_iter().zip(kept).filter_map(|(node, kept)| kept.then_some(node)).collect()
    }

    /// What was found, as text within a fence. Gives refs to what is shown with one.
    pub(crate) fn to_text(&self, refs: &mut RefTable) -> String {
        let mut body = format!("({})\n", self.summary());
        for (place, found) in self.frames.iter().enumerate() {
            if found.nodes.is_empty() {
                continue;
            }
            if place > 0 {
                body.push_str(&format!("- (in the frame {})\n", found.url.short()));
            }
            body.push_str(&write_lines(&found.nodes, refs, Spacing::Spacious));
        }
        fence::enclose(&self.heading(), &body)
    }

    /// What was found, as JSON. Gives refs to all elements.
    pub(crate) fn to_json(&self, refs: &mut RefTable) -> Value {
        let frames: Vec<Value> = self
            .frames
            .iter()
            .filter(|found| !found.nodes.is_empty())
            .map(|found| {
                let tree = Tree::new(&found.nodes);
                let mut object = Map::new();
                object.insert("url".to_owned(), json!(found.url));
                object.insert("nodes".to_owned(), json!(write_nodes(&tree, tree.top(), refs)));
                Value::Object(object)
            })
            .collect();
        json!({ "matches": self.total, "more": self.uncounted > 0, "shown": self.shown, "frames": frames })
    }

    fn summary(&self) -> String {
        match (self.total, self.shown) {
            (0, _) => "nothing matches".to_owned(),
            (1, _) => "1 match".to_owned(),
            (total, shown) if total == shown => format!("{total} matches"),
            (total, shown) if self.uncounted > 0 => {
                format!("the first {shown} of more than {total} matches; search for more words to see others")
            }
            (total, shown) => {
                format!("the first {shown} of {total} matches; search for more words to see others")
            }
        }
    }

    fn heading(&self) -> String {
        self.frames
            .first()
            .map_or_else(String::new, |first| format!("{} {}", first.url.short(), first.title.quoted()))
    }
}

fn is_row(node: &Node) -> bool {
    matches!(node.role.as_str(), "row" | "listitem" | "option" | "article")
}
