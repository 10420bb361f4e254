//! The command line: usage, output, completion, configuration, `doctor` and `log`.

pub(crate) mod cancel;
pub(crate) mod cli_output;
pub(crate) mod colors;
pub(crate) mod completion;
pub(crate) mod config;
pub(crate) mod dashboard;
pub(crate) mod dashboard_access;
pub(crate) mod dashboard_views;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod first_minute;
pub(crate) mod log;
pub(crate) mod usage;
