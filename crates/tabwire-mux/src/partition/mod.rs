//! Partitions: separate parts of one browser.

pub(crate) mod context_table;
pub(crate) mod default_context;
pub(crate) mod lifecycle;
mod membership;
pub(crate) mod table;
