//! Numbers for nodes: CDP's `backendNodeId` for BiDi's `sharedId`.

use std::collections::{BTreeMap, VecDeque};

/// Nodes with a number. The oldest lose theirs.
const NODES: usize = 50_000;

/// A node and the execution context in which it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeEntry {
    pub(crate) shared: String,
    pub(crate) context: i64,
}

/// The nodes with numbers.
#[derive(Debug, Default)]
pub(crate) struct NodeTable {
    last: i64,
    by_number: BTreeMap<i64, NodeEntry>,
    by_shared: BTreeMap<String, i64>,
    order: VecDeque<i64>,
}

impl NodeTable {
    pub(crate) fn number_of(&mut self, shared: &str, context: i64) -> i64 {
        if let Some(number) = self.by_shared.get(shared) {
            return *number;
        }
        if self.order.len() >= NODES
            && let Some(oldest) = self.order.pop_front()
            && let Some(gone) = self.by_number.remove(&oldest)
        {
            self.by_shared.remove(&gone.shared);
        }
        self.last += 1;
        self.by_number.insert(self.last, NodeEntry { shared: shared.to_owned(), context });
        self.by_shared.insert(shared.to_owned(), self.last);
        self.order.push_back(self.last);
        self.last
    }

    pub(crate) fn find(&self, number: i64) -> Option<&NodeEntry> {
        self.by_number.get(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_keeps_its_number_and_the_table_is_bounded() {
        let mut nodes = NodeTable::default();
        let first = nodes.number_of("a", 1);
        assert_eq!(nodes.number_of("a", 2), first);
        for node in 0..NODES {
            nodes.number_of(&format!("n{node}"), 1);
        }
        assert_eq!(nodes.by_number.len(), NODES);
        assert!(nodes.find(first).is_none());
        assert_ne!(nodes.number_of("a", 1), first);
    }
}
