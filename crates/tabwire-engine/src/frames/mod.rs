//! The frames of a page: their tree, the frame a caller selected, and the policy of each frame.

mod enter;
pub(crate) mod policy;
pub(crate) mod scope;
pub(crate) mod search;
pub(crate) mod shown_documents;
pub(crate) mod tree;
