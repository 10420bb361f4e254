//! Searches a whole page and shows matches in context.
//!
//! The page is read in portions, so that a large one is never in memory as a whole.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId};

use super::model::node::Node;
use super::model::page_snapshot::capped;
use super::model::tree::Tree;
use super::model::walk_node::WalkNode;
use super::pattern::Pattern;
use super::refs::{DocumentName, ElementKey, RefTable};
use super::text::fence;
use super::text::link_target::LinkTarget;
use super::text::page_text::PageText;
use super::write::json::write_nodes;
use super::write::line::searchable;
use super::write::text::{Spacing, write_lines};

/// A matching row or list item of at most this many nodes is shown as a whole.
const SEARCH_ROW: usize = 16;

/// Characters of a page that are searched in one step.
const SEARCH_PORTION: usize = 1024 * 1024;

/// A running search.
#[derive(Debug)]
pub(crate) struct Search {
    pattern: Pattern,
    frames: Vec<FoundInFrame>,
    /// Matches shown, and all matches.
    shown: usize,
    total: usize,
    /// Rows and items that may match too and were not visited.
    uncounted: usize,
    /// The maximum of matches that are shown.
    limit: usize,
}

/// The matches in one frame.
#[derive(Debug)]
struct FoundInFrame {
    frame: FrameId,
    url: LinkTarget,
    title: PageText,
    nodes: Vec<Node>,
}

/// A portion of a page from `agent.find`.
#[derive(Debug, Deserialize)]
struct Portion {
    document: DocumentName,
    url: String,
    #[serde(deserialize_with = "super::text::bounded::read_page_title")]
    title: PageText,
    nodes: Vec<WalkNode>,
    above: usize,
    next: Option<u32>,
    #[serde(default)]
    uncounted: usize,
}

impl Search {
    /// Starts a search.
    pub(crate) fn new(pattern: Pattern, limit: usize) -> Self {
        Self { pattern, frames: Vec::new(), shown: 0, total: 0, uncounted: 0, limit }
    }

    /// The argument of `agent.find`: everything from a position on, in an element if one is given.
    pub(crate) fn argument(&self, from: u32, within: Option<ElementKey>) -> Value {
        let words = self.pattern.words();
        json!({ "from": from, "characters": SEARCH_PORTION, "within": within, "words": words })
    }

    /// Takes the result of a frame. Returns where its next portion starts; none at the end.
    ///
    /// # Errors
    /// When it is not what the agent sends.
    pub(crate) fn take(&mut self, frame: &FrameId, response: &Value) -> Result<Option<u32>, Failure> {
        let text = response.as_str().unwrap_or_default();
        let portion: Portion = serde_json::from_str(text).map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("Unexpected result of the page agent: {error}."))
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
            // Context that an earlier portion has shown is not repeated.
            let is_known = |node: &Node| last.nodes.iter().any(|known| known.handle == node.handle);
            let found: Vec<Node> =
                found.into_iter().filter(|node| node.handle.is_none() || !is_known(node)).collect();
            last.nodes.extend(found);
        }
        Ok(next)
    }

    /// The matching nodes with their ancestors; rows and list items with a match are included as a whole.
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
            if self.shown >= self.limit {
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

    /// The matches as text within a fence. Assigns refs to shown elements.
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

    /// The matches as JSON. Assigns refs to all elements.
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
