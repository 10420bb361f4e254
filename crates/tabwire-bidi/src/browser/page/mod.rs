//! Commands on a tab, and what a page shows: settings, screenshots, dialogs, file choosers, its log.

pub(super) mod clip;
pub(super) mod emulation;
pub(super) mod files;
pub(super) mod log;
pub(super) mod page_command;
pub(super) mod permissions;
pub(super) mod prompts;
pub(super) mod screenshot;
