//! The source tree as checks and metrics read it: files, Rust code, test code, retired words.

pub(crate) mod retired_words;
pub(crate) mod rust_code;
pub(crate) mod source_tree;
pub(crate) mod test_code;
