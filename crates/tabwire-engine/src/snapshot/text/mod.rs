//! Sanitises page text for output.

pub(crate) mod bounded;
pub(crate) mod fence;
pub(crate) mod field_value;
pub(crate) mod link_target;
pub(crate) mod page_lines;
pub(crate) mod page_text;
pub(crate) mod terminal;
