//! What the command line prints, and how it asks the user.

pub(crate) mod exit;
pub(crate) mod printer;
pub(crate) mod progress;
pub(crate) mod prompt;
pub(crate) mod result_table;
pub(crate) mod spinner;
mod table;
