//! Opens files as the desktop does.

use std::process::{Command, Stdio};

/// Opens a file or a URL with the system's opener; returns whether that worked.
pub(super) fn open(target: &str) -> bool {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(target).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
