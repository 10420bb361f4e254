//! A snapshot as lines of text.
//!
//! A line is `- role "name" [e12] state=value`. Adjacent nodes of one role share a line and its role: `- link "Home"
//! [e1] /, "Docs" [e2] /docs`. A node with a few plain children has them on its own line after a colon, the cells of a
//! row with bars between them.

use super::line::{Density, LineWriter, Position, Refs};
use crate::snapshot::model::node::Node;
use crate::snapshot::model::role::RoleKind;
use crate::snapshot::model::tree::Tree;
use crate::snapshot::refs::{ElementHandle, ElementRef, RefTable};

/// Characters of a line with several elements.
const SNAPSHOT_LINE: usize = 160;

/// Characters beyond which a snapshot is compact: several elements on a line, fewer refs and link targets.
const SNAPSHOT_VERBOSE: usize = 3_000;

/// The density of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Spacing {
    /// Verbose if it is short, else compact.
    #[default]
    Fitting,
    /// Verbose.
    Spacious,
}

/// Writes nodes as lines and assigns refs to shown elements.
pub(crate) fn write_lines(nodes: &[Node], refs: &mut RefTable, spacing: Spacing) -> String {
    let tree = Tree::new(nodes);
    let density = match spacing {
        Spacing::Spacious => Density::Spacious,
        Spacing::Fitting if floor(nodes) > SNAPSHOT_VERBOSE => Density::Dense,
        Spacing::Fitting if !is_short(&tree) => Density::Dense,
        Spacing::Fitting => Density::Spacious,
    };
    let mut mint = |handle: &ElementHandle| refs.mint(handle);
    TextForm::write(&tree, &mut mint, density, usize::MAX)
}

/// Whether the verbose form is short; assigns no refs.
fn is_short(tree: &Tree<'_>) -> bool {
    let mut sample = |_: &ElementHandle| ElementRef::SAMPLE;
    TextForm::write(tree, &mut sample, Density::Spacious, SNAPSHOT_VERBOSE).len() <= SNAPSHOT_VERBOSE
}

/// Lower bound of the text length of these nodes.
fn floor(nodes: &[Node]) -> usize {
    nodes.iter().map(|node| node.name.as_str().len() + usize::from(node.handle.is_some())).sum()
}

/// The length of the text; assigns no refs.
pub(crate) fn measure(tree: &Tree<'_>, density: Density) -> usize {
    let mut sample = |_: &ElementHandle| ElementRef::SAMPLE;
    TextForm::write(tree, &mut sample, density, usize::MAX).len()
}

struct TextForm<'t, 'r> {
    tree: &'t Tree<'t>,
    lines: LineWriter<'r>,
    out: String,
    /// Nothing is written beyond this many bytes.
    ceiling: usize,
}

impl<'t, 'r> TextForm<'t, 'r> {
    /// Writes the text, or its start when it exceeds the ceiling.
    fn write(tree: &'t Tree<'t>, refs: &'r mut Refs<'r>, density: Density, ceiling: usize) -> String {
        let out = String::with_capacity(SNAPSHOT_VERBOSE * 2);
        let mut form = TextForm { tree, lines: LineWriter { refs, density, is_trial: false }, out, ceiling };
        form.write_siblings(tree.top().collect(), 0);
        form.out
    }

    /// Recursion is bounded: nodes are never deeper than `SNAPSHOT_DEPTH`.
    fn write_siblings(&mut self, siblings: Vec<usize>, indent: usize) {
        let siblings: Vec<usize> = siblings.into_iter().map(|at| self.dissolved(at)).collect();
        let mut rest = siblings.as_slice();
        while let Some(first) = rest.first().copied().filter(|_| self.out.len() <= self.ceiling) {
            let run = self.run_length(rest);
            for _ in 0..indent {
                self.out.push_str("  ");
            }
            self.out.push_str("- ");
            if run > 1 {
                let line = self.run_line(&rest[..run]);
                self.out.push_str(&line);
                self.out.push('\n');
            } else {
                self.write_node(first, indent);
            }
            rest = &rest[run..];
        }
    }

    /// A list item with one plain child is replaced by the child.
    fn dissolved(&self, at: usize) -> usize {
        let node = self.tree.node(at);
        if node.role.as_str() != "listitem" || !node.name.is_empty() || node.is_acted() {
            return at;
        }
        self.tree.only_child(at).filter(|child| self.is_plain(*child)).unwrap_or(at)
    }

    /// Whether a node has no children and is not a note.
    fn is_plain(&self, at: usize) -> bool {
        self.tree.is_leaf(at) && self.tree.node(at).note.is_none()
    }

    /// How many siblings share a line because they have one role.
    fn run_length(&mut self, siblings: &[usize]) -> usize {
        let role = &self.tree.node(siblings[0]).role;
        if !matches!(role.kind(), RoleKind::ActionResult | RoleKind::Part) && role.as_str() != "img" {
            return 1;
        }
        let mut length = 0;
        let mut count = 0;
        for at in siblings {
            let node = self.tree.node(*at);
            length += node.name.as_str().len()
                + 12
                + node.value.as_ref().map_or(0, |value| value.as_str().len() + 8);
            if node.role != *role || !self.is_plain(*at) || (count > 0 && length > SNAPSHOT_LINE) {
                break;
            }
            count += 1;
        }
        count.max(1)
    }

    /// Nodes of one role on one line.
    fn run_line(&mut self, run: &[usize]) -> String {
        let mut line = String::new();
        for (place, at) in run.iter().enumerate() {
            if place > 0 {
                line.push_str(if self.lines.density == Density::Dense { " " } else { ", " });
            }
            let position = if place == 0 { Position::Leading } else { Position::Following };
            self.lines.write(&mut line, self.tree.node(*at), position, false, false);
        }
        line
    }

    /// A node and its children: on its line if they are few, else on lines below.
    fn write_node(&mut self, at: usize, indent: usize) {
        let node = self.tree.node(at);
        let children: Vec<usize> = self.tree.children(at).map(|child| self.dissolved(child)).collect();
        // Tried without refs first, so that refs are assigned in reading order.
        self.lines.is_trial = true;
        let fits = !children.is_empty() && self.inline(at, &children).is_some();
        self.lines.is_trial = false;
        let repeats = fits && children.len() == 1 && {
            let child = self.tree.node(children[0]);
            child.name == node.name && child.role.kind() == RoleKind::ActionResult
        };
        self.lines.write(&mut self.out, node, Position::First, !children.is_empty(), repeats);
        if fits && let Some(inline) = self.inline(at, &children) {
            self.out.push_str(": ");
            self.out.push_str(&inline);
            self.out.push('\n');
        } else {
            self.out.push('\n');
            self.write_siblings(children, indent + 1);
        }
    }

    /// The children of a node as the rest of its line; none when they are too many or not plain.
    fn inline(&mut self, at: usize, children: &[usize]) -> Option<String> {
        let mut line = String::new();
        let node = self.tree.node(at);
        // A row without an element has no cells.
        if node.role.as_str() == "row" && node.handle.is_some() {
            for (place, cell) in children.iter().enumerate() {
                if place > 0 {
                    line.push_str(" | ");
                }
                self.write_cell(&mut line, *cell)?;
            }
            return (line.len() <= 2 * SNAPSHOT_LINE || !self.lines.is_trial).then_some(line);
        }
        self.write_inline(&mut line, children)?;
        (line.len() <= SNAPSHOT_LINE || !self.lines.is_trial).then_some(line)
    }

    fn write_cell(&mut self, line: &mut String, at: usize) -> Option<()> {
        let node = self.tree.node(at);
        if !node.role.is_cell() || node.is_acted() || !node.states.is_empty() {
            return self.write_inline(line, &[at]);
        }
        if self.tree.is_leaf(at) {
            line.push_str(&node.name.quoted().to_string());
            return Some(());
        }
        let children: Vec<usize> = self.tree.children(at).collect();
        self.write_inline(line, &children)
    }

    fn write_inline(&mut self, line: &mut String, children: &[usize]) -> Option<()> {
        let mut rest = children;
        while let Some(first) = rest.first() {
            if !self.is_plain(*first) {
                return None;
            }
            if rest.len() < children.len() {
                line.push_str(", ");
            }
            let run = self.run_length(rest);
            if run > 1 {
                let written = self.run_line(&rest[..run]);
                line.push_str(&written);
            } else {
                self.lines.write(line, self.tree.node(*first), Position::First, false, false);
            }
            rest = &rest[run..];
        }
        Some(())
    }
}
