//! Checks of documents: links, generated pages, and lists that must match the code.

pub(super) mod dependency_lines;
pub(super) mod generated_pages;
pub(super) mod markdown_links;
pub(super) mod recipe_versions;

use super::Finding;
