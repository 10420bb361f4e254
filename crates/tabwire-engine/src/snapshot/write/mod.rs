//! Writers for snapshots: text lines and JSON, within a budget.

pub(crate) mod budget;
pub(crate) mod json;
pub(crate) mod line;
pub(crate) mod text;
