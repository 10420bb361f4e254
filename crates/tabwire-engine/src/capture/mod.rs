//! Captures: files that document what an action did.

pub(crate) mod recorder;
pub(crate) mod set;
pub(crate) mod store;
