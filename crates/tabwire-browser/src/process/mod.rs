//! Processes: their identity and their memory.

pub(crate) mod identity;
pub(crate) mod memory;
