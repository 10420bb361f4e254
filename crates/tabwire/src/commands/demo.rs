//! `demo`: finds a browser, installs one if there is none, and opens the demo page.

use std::io::{BufRead, IsTerminal, Write};
use std::process::{Command, Stdio};

use serde_json::json;
use tabwire_api::api::SessionOptions;
use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::finder;

use super::{Context, action};
use crate::config::Key;

pub(super) fn run(context: &Context<'_>, yes: bool) -> Result<(), Failure> {
    let environment = context.environment;
    let browser = context.configuration.text(Key::Browser).map(|set| set.value);
    let found = finder::find(browser, environment.path.as_deref());
    match found {
        Ok(found) => context.printer.progress(&format!("browser: {}", found.path.display())),
        Err(error) if browser.is_some() => return Err(error.into()),
        Err(_) => install(context, yes || environment.is_ci)?,
    }
    action::open(context, json!({}), (false, false), SessionOptions::default(), false)?;
    context.printer.progress("opened the demo page in a headless browser; the session stays open: try `tabwire eval document.title`, then `tabwire close`");
    Ok(())
}

fn install(context: &Context<'_>, sure: bool) -> Result<(), Failure> {
    if !cfg!(target_os = "linux") || !std::path::Path::new("/usr/bin/apt-get").exists() {
        return Err(Failure::new(ErrorCode::NoBackend, "No Chrome, Chromium, Edge or Brave was found.")
            .with_remedy("Install one (macOS: `brew install --cask chromium`), or set TABWIRE_BROWSER to its executable."));
    }
    if !sure && !confirmed()? {
        return Err(Failure::new(ErrorCode::NoBackend, "No browser was found, and none was installed.")
            .with_remedy("Run it again with --yes, or set TABWIRE_BROWSER to a browser's executable."));
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
