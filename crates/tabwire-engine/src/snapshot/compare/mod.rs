//! Comparison of two snapshots.

pub(crate) mod baseline;
pub(crate) mod delta;
pub(crate) mod edit_script;
pub(crate) mod memory;
