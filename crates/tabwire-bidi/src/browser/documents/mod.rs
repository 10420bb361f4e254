//! Documents: contexts and their navigations, realms, scripts and nodes.

pub(super) mod contexts;
pub(super) mod describe_node;
mod geometry;
pub(super) mod navigation;
pub(super) mod preload;
pub(super) mod realms;
pub(super) mod script;
