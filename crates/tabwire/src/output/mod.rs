//! Prints results and prompts the user.

pub(crate) mod exit;
pub(crate) mod printer;
pub(crate) mod progress;
pub(crate) mod prompt;
pub(crate) mod result_table;
pub(crate) mod spinner;
pub(crate) mod table;
