//! Rows of the audit log, from a request to its row.

pub(crate) mod entry;
pub(crate) mod event;
pub(crate) mod events;
pub(crate) mod parameters;
pub(crate) mod results;
pub(crate) mod writer;
