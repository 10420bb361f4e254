//! Installs a browser for `demo`, where apt-get can.

use std::io::{BufRead, IsTerminal, Write};
use std::process::{Command, Stdio};

use tabwire_api::{ErrorCode, Failure};

use crate::commands::Context;

/// Installs Debian's Chromium; asks first unless `sure`.
pub(super) fn install(context: &Context<'_>, sure: bool) -> Result<(), Failure> {
    if !cfg!(target_os = "linux") || !std::path::Path::new("/usr/bin/apt-get").exists() {
        return Err(Failure::new(ErrorCode::NoBackend, "No Chrome, Chromium, Edge or Brave was found.")
            .with_remedy("Install Chrome, Chromium, Edge or Brave (macOS: `brew install --cask chromium`), or set TABWIRE_BROWSER to an executable."));
    }
    if !sure && !confirmed()? {
        return Err(Failure::new(ErrorCode::NoBackend, "No browser was found, and none was installed.")
            .with_remedy("Install Chrome, Chromium, Edge or Brave, run it again with --yes to install Debian's Chromium, or set TABWIRE_BROWSER to an executable."));
    }
    context.printer.progress("installing Debian's chromium with apt-get");
    for arguments in [&["update", "-qq"][..], &["install", "-y", "-qq", "chromium"][..]] {
        apt_get(arguments)?;
    }
    context.printer.progress("installed chromium");
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a question to the person at the terminal")]
fn confirmed() -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    eprint!("No browser was found. Install Debian's chromium with apt-get? [y/N] ");
    let _ = std::io::stderr().flush();
    let mut response = String::new();
    std::io::stdin().lock().read_line(&mut response).map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("Cannot read from the terminal: {error}."))
    })?;
    Ok(matches!(response.trim(), "y" | "Y" | "yes"))
}

fn apt_get(arguments: &[&str]) -> Result<(), Failure> {
    let failed = |what: String| {
        Failure::new(ErrorCode::NoBackend, format!("apt-get {} failed: {what}.", arguments.join(" ")))
            .with_remedy("Install a browser by hand, or set TABWIRE_BROWSER to its executable.")
    };
    let root = rustix::process::geteuid().is_root();
    let mut command = if root { Command::new("apt-get") } else { Command::new("sudo") };
    if !root {
        command.arg("apt-get");
    }
    let status = command
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|error| failed(error.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
}
