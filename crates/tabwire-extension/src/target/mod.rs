//! The state of tabs, pages and child targets.

pub(crate) mod debuggee;
pub(crate) mod tab;
