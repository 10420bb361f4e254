//! Code that scripts run in pages: evaluations, functions that pages can call, CDP commands.

pub(super) mod binding;
pub(super) mod cdp_command;
pub(super) mod evaluate;
pub(super) mod kept_console;
