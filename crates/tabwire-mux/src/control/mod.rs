//! The control session and the state of the link.

pub(crate) mod link;
pub(crate) mod loss;
pub(crate) mod probe;
pub(crate) mod recovery;
pub(crate) mod session;
