//! `demo`: finds a browser, installs one if there is none, opens the demo page, and runs a script there while it records.

mod install;

use std::io::IsTerminal;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_api::api::{ActionRequest, SessionOptions};
use tabwire_browser::finder;

use super::{Context, action, dashboard, script};
use crate::config::Key;

/// What the script does on the demo page.
const SCRIPT: &str = include_str!("../../../web/demo-script.js");

/// Milliseconds between the script's keys and clicks while a person watches.
const WATCHED_DELAY: u32 = 350;

/// Seconds in which a person can open the live view before the script starts.
const VIEWER_SECONDS: i64 = 20;

pub(super) fn run(context: &Context<'_>, yes: bool) -> Result<(), Failure> {
    let environment = context.environment;
    let browser = context.configuration.text(Key::Browser).map(|set| set.value);
    let found = finder::find(browser, environment.path.as_deref());
    match found {
        Ok(found) => context.printer.progress(&format!("browser: {}", found.path.display())),
        Err(error) if browser.is_some() => return Err(error.into()),
        Err(_) => install::install(context, yes || environment.is_ci)?,
    }
    action::open(context, json!({}), (false, false), SessionOptions::default(), false)?;
    context.printer.progress("opened the demo page in a headless browser; the session stays open");
    // The link grants the dashboard: as for `tabwire dashboard`, only a person at a terminal gets it.
    let is_watched = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if is_watched {
        let url = dashboard::live_view(context)?;
        context.printer.progress(&format!("watch it in your browser; this link works once: {url}"));
        if !yes && context.printer.shows_progress() {
            wait_for_viewer(context);
        }
    }
    let recording = record_script(context, if is_watched { WATCHED_DELAY } else { 0 })?;
    let path = recording["path"].as_str().unwrap_or_default();
    context.printer.progress(&format!(
        "the script is done; its recording: {path} (a moving picture, which a browser shows)"
    ));
    context.printer.progress(
        "next: `tabwire snapshot` reads the page, `tabwire dashboard` shows all sessions, `tabwire close` ends this one",
    );
    Ok(())
}

/// Gives a person the time to open the link: until Enter, or for a while.
fn wait_for_viewer(context: &Context<'_>) {
    let start =
        format!("open the link, then press Enter; the script starts by itself after {VIEWER_SECONDS} s");
    context.printer.progress(&start);
    let (stdin, limit) = (std::io::stdin(), Timespec { tv_sec: VIEWER_SECONDS, tv_nsec: 0 });
    if poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&limit)).is_ok_and(|ready| ready > 0) {
        // The end of the input starts it too.
        let _ = stdin.read_line(&mut String::new());
    }
}

/// Runs the script and records the tab meanwhile. Returns the recording.
fn record_script(context: &Context<'_>, delay: u32) -> Result<Value, Failure> {
    record(context, "start")?;
    context.printer.progress("a script fills in the form and counts to three");
    let done = script::execute_code(context, format!("const delay = {delay};\n{SCRIPT}"));
    // Also after a failed script: the next demo starts another one.
    let recording = record(context, "stop");
    done?;
    recording
}

fn record(context: &Context<'_>, verb: &str) -> Result<Value, Failure> {
    let request = ActionRequest { params: json!({"verb": verb}), ..ActionRequest::default() };
    let response = action::run_action(context, "record", "recording", request)?;
    Ok(response.result)
}
