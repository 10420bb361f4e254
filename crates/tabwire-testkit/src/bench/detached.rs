//! Starts programs in their own session, as Playwright and Puppeteer start browsers.

use std::ffi::OsStr;
use std::process::Command;

/// A command that starts a program in its own session.
///
/// Linux shares the processors between sessions (autogroup), so a browser in the benchmark's session would have other
/// response times than a user's browser.
#[must_use]
pub fn detached(program: impl AsRef<OsStr>) -> Command {
    if !cfg!(target_os = "linux") {
        return Command::new(program);
    }
    let mut command = Command::new("setsid");
    command.arg(program.as_ref());
    command
}
