//! Partitions: the separate browser views that clients share.

pub(crate) mod context_table;
pub(crate) mod default_context;
pub(crate) mod lifecycle;
pub(crate) mod table;
