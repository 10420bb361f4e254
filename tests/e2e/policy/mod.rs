//! Guarded sessions: what the policy refuses to actions, CDP clients and pages.

mod actions;
mod cdp;
pub(crate) mod files;
pub(crate) mod flow;
pub(crate) mod frames;
pub(crate) mod grants;
pub(crate) mod hostile;
pub(crate) mod network;
pub(crate) mod project;
pub(crate) mod requests;
pub(crate) mod terminal;
pub(crate) mod threats;
