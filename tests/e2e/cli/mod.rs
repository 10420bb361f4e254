//! The command line: usage, output, completion, configuration, `doctor` and `log`.

pub(crate) mod cancel;
pub(crate) mod cli_output;
pub(crate) mod colors;
pub(crate) mod completion;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod log;
pub(crate) mod usage;
