//! Programs in a session of their own, as Playwright and Puppeteer start browsers.

use std::ffi::OsStr;
use std::process::Command;

/// A command that starts a program in a session of its own.
///
/// Linux gives every session its own share of the processors, so a browser in the session of whoever measures answers
/// in other times than the one people have.
#[must_use]
pub fn detached(program: impl AsRef<OsStr>) -> Command {
    if !cfg!(target_os = "linux") {
        return Command::new(program);
    }
    let mut command = Command::new("setsid");
    command.arg(program.as_ref());
    command
}
