//! The daemon log.

pub(crate) mod file;
pub(crate) mod sink;
