//! What locators and pages need: queries, expectations, readiness, input.

pub(super) mod aria_tree;
pub(super) mod expect;
pub(super) mod input;
pub(super) mod pick_options;
pub(super) mod query;
pub(super) mod ready;
