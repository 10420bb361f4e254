//! The data model of a snapshot, read from the page agent's walk.

pub(crate) mod node;
pub(crate) mod page_snapshot;
pub(crate) mod role;
pub(crate) mod state;
pub(crate) mod tree;
pub(crate) mod walk_node;
pub(crate) mod walk_result;
