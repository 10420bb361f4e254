//! Navigation in a depth-first list of nodes.

use super::node::Node;

/// A list of nodes with the end of each one's descendants.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    nodes: &'a [Node],
    ends: Vec<usize>,
}

impl<'a> Tree<'a> {
    /// Finds where the descendants of every node end.
    pub(crate) fn new(nodes: &'a [Node]) -> Self {
        let mut ends = vec![nodes.len(); nodes.len()];
        let mut open: Vec<usize> = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            while let Some(last) = open.last().copied() {
                if nodes[last].depth < node.depth {
                    break;
                }
                ends[last] = at;
                open.pop();
            }
            open.push(at);
        }
        Self { nodes, ends }
    }

    /// The node at an index.
    pub(crate) fn node(&self, at: usize) -> &'a Node {
        &self.nodes[at]
    }

    /// The top-level nodes.
    pub(crate) fn top(&self) -> Siblings<'_> {
        Siblings { ends: &self.ends, next: 0, end: self.nodes.len() }
    }

    /// The children of a node.
    pub(crate) fn children(&self, at: usize) -> Siblings<'_> {
        Siblings { ends: &self.ends, next: at + 1, end: self.ends[at] }
    }

    /// Where the descendants of a node end.
    pub(crate) fn end(&self, at: usize) -> usize {
        self.ends[at]
    }

    /// Whether a node has no children.
    pub(crate) fn is_leaf(&self, at: usize) -> bool {
        self.ends[at] == at + 1
    }

    /// The only child of a node, if there is exactly one.
    pub(crate) fn only_child(&self, at: usize) -> Option<usize> {
        let mut children = self.children(at);
        let first = children.next()?;
        children.next().is_none().then_some(first)
    }
}

/// The nodes of one parent.
#[derive(Clone, Debug)]
pub(crate) struct Siblings<'a> {
    ends: &'a [usize],
    next: usize,
    end: usize,
}

impl Iterator for Siblings<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.next >= self.end {
            return None;
        }
        let at = self.next;
        self.next = self.ends[at];
        Some(at)
    }
}
