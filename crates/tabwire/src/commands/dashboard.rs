//! `dashboard`: opens the dashboard in the user's browser.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{Failure, SessionKey};
use tabwire_client::request_daemon;

use super::policy::require_terminal;
use crate::commands::{Context, opener};

/// Timeout of a request that needs no browser.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Opens the dashboard; with `--session`, at the live view of that session.
pub(super) fn run(context: &Context<'_>, print: bool, without_terminal: bool) -> Result<(), Failure> {
    require_terminal(without_terminal, "tabwire dashboard")?;
    let session = context.named_session.clone().map(|name| SessionKey::new(context.project_key(), name));
    if !print {
        // Arguments of processes are readable by every user, and the URL opens the dashboard: the opener gets a file.
        let response = request_entry(context, session.as_ref(), true)?;
        if response["file"].as_str().is_some_and(opener::open) {
            context
                .printer
                .result(&json!({"opened": true}), || "Opened the dashboard in your browser.".to_owned());
            return Ok(());
        }
    }
    let response = request_entry(context, session.as_ref(), false)?;
    let url = response["url"].as_str().unwrap_or_default();
    context.printer.result(&response, || url.to_owned());
    Ok(())
}

/// A URL of the dashboard at the live view of the context's session. It works once.
pub(super) fn live_view(context: &Context<'_>) -> Result<String, Failure> {
    let response = request_entry(context, Some(&context.key()), false)?;
    Ok(response["url"].as_str().unwrap_or_default().to_owned())
}

fn request_entry(
    context: &Context<'_>,
    session: Option<&SessionKey>,
    as_file: bool,
) -> Result<Value, Failure> {
    let timeout = context.timeout.unwrap_or(TIMEOUT);
    let body = json!({"session": session.map(ToString::to_string), "file": as_file});
    request_daemon(&context.socket(), "POST", "/v1/dashboard", Some(&body), timeout)
}
