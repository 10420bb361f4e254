//! Checks that a browser can be found and started, and suggests how to install one.

use super::CheckInputs;
use super::finding::{Finding, run};
use crate::commands::Context;
use crate::commands::action;
use crate::config::Key;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::time::Instant;
use tabwire_api::api::ActionRequest;
use tabwire_api::{Failure, SessionName};
use tabwire_browser::{BrowserEngine, FoundBrowser, finder, limits};

const CODE: &str = "browser";

/// Package managers, with the command that installs a browser.
const INSTALLERS: [(&str, &str); 6] = [
    ("apt-get", "apt-get install chromium"),
    ("dnf", "dnf install chromium"),
    ("pacman", "pacman -S chromium"),
    ("zypper", "zypper install chromium"),
    ("apk", "apk add chromium"),
    ("brew", "brew install --cask chromium"),
];

/// The browser that a launch would use.
pub(super) fn find(inputs: &CheckInputs<'_>) -> Result<FoundBrowser, Failure> {
    let wanted = inputs.context.configuration.text(Key::Browser).map(|set| set.value);
    Ok(finder::find(wanted, inputs.context.environment.path.as_deref())?)
}

pub(super) fn check(inputs: &CheckInputs<'_>) -> Finding {
    let path_env = inputs.context.environment.path.as_deref();
    let found = match find(inputs) {
        Ok(found) => found,
        Err(failure) => return Finding::wrong(CODE, failure.message, remedy(path_env)),
    };
    match finder::version(&found.path, Instant::now() + limits::VERSION_DEADLINE) {
        Ok(version) => {
            let sentence = format!("{version} is at {}.", found.path.display());
            match found.engine() {
                BrowserEngine::Chromium => Finding::ok(CODE, sentence),
                BrowserEngine::Firefox => Finding::ok(CODE, format!("{sentence} What it lacks: {}", gaps())),
            }
        }
        Err(error) => {
            let remedy = "Start it in a terminal to see why, or set TABWIRE_BROWSER to another one.";
            Finding::wrong(CODE, Failure::from(error).message, remedy)
        }
    }
}

/// What Firefox cannot do, from the table that commands use.
fn gaps() -> String {
    tabwire_bidi::gaps::sentences().collect::<Vec<_>>().join(" ")
}

fn remedy(path_env: Option<&OsStr>) -> String {
    if let Some(other) = finder::find_all(path_env).first() {
        let path = other.path.display();
        return format!(
            "Set TABWIRE_BROWSER to {path}, which is installed, or install the one you want{}.",
            install_command(path_env)
        );
    }
    format!("Install one{}, or set TABWIRE_BROWSER to a browser's executable.", install_command(path_env))
}

/// The command that installs a browser on this system, in parentheses; empty if unknown.
fn install_command(path_env: Option<&OsStr>) -> String {
    let folders: Vec<_> = path_env.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let exists =
        |program: &str| folders.iter().any(|folder: &std::path::PathBuf| folder.join(program).is_file());
    match INSTALLERS.iter().find(|(program, _)| exists(program)) {
        Some((_, command)) => format!(" (`{command}`)"),
        None => String::new(),
    }
}

const LAUNCH: &str = "launch";

pub(super) fn check_launch(context: &Context<'_>) -> Finding {
    // Several doctors may run at once.
    let Ok(name) = SessionName::new(&format!("doctor-{}", std::process::id())) else {
        return Finding::ok(LAUNCH, "Skipped: no session name is available.");
    };
    let session = context.in_session(Some(name));
    let started = Instant::now();
    let result = round_trip(&session);
    // Also after a failure.
    let ended = run_action(&session, "session_delete", "ending the browser", Value::Null);
    match result.and(ended) {
        Ok(_) => {
            let time = started.elapsed().as_millis();
            Finding::ok(LAUNCH, format!("A browser was started, used and ended in {time} ms."))
        }
        Err(failure) => {
            let remedy = failure.remedy.unwrap_or_else(|| run("Run {}.", "tabwire daemon logs"));
            Finding::wrong(LAUNCH, failure.message, remedy)
        }
    }
}

fn round_trip(session: &Context<'_>) -> Result<(), Failure> {
    run_action(session, "open", "starting a browser", json!({"url": "about:blank"}))?;
    let result = run_action(session, "eval", "evaluating", json!({"expression": "6 * 7"}))?;
    if result.get("value") == Some(&json!(42)) {
        return Ok(());
    }
    let message = "The browser returned a wrong result.";
    Err(Failure::new(tabwire_api::ErrorCode::Internal, message)
        .with_remedy("Try another browser: set TABWIRE_BROWSER to its executable."))
}

fn run_action(session: &Context<'_>, action: &str, label: &str, params: Value) -> Result<Value, Failure> {
    let request = ActionRequest { params, ..ActionRequest::default() };
    Ok(action::run_action(session, action, label, request)?.result)
}
