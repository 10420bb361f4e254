//! Tables of the emulated browser: CDP sessions, browsing contexts, realms, nodes.

pub(crate) mod context;
pub(crate) mod node;
pub(crate) mod realm;
pub(crate) mod session;
