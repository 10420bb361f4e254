//! Targets of one browser.

pub(crate) mod registry;
pub(crate) mod table;
