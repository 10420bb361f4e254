//! `connect` and `disconnect`: attach a session to a running browser, and detach it.

use serde_json::Value;
use tabwire_api::api::{ActionRequest, SessionOptions};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};

use super::start_with;
use crate::cli::session_flags::read_headers;
use crate::commands::Context;
use crate::commands::action::run_action;

/// The daemon searches for a running browser.
const ANY: &str = "auto";

pub(crate) fn connect(
    context: &Context<'_>,
    address: Option<String>,
    headers: Vec<String>,
    restart: bool,
) -> Result<(), Failure> {
    let options = SessionOptions {
        cdp: Some(address.unwrap_or_else(|| ANY.to_owned())),
        headers: read_headers(headers)?,
        ..SessionOptions::default()
    };
    start_with(
        context,
        "session_start",
        "connecting (the browser may ask for consent)",
        options,
        restart,
        None,
    )
}

pub(crate) fn disconnect(context: &Context<'_>) -> Result<(), Failure> {
    let run = |action: &str| {
        let request = ActionRequest { params: Value::Null, ..ActionRequest::default() };
        run_action(context, action, "disconnecting", request)
    };
    let status = run("session_status")?.result;
    if status["ownership"] == "launched" || status["ownership"] == "rented" {
        let how = if status["ownership"] == "launched" { "launched" } else { "rented" };
        let message = format!("Session {} has a browser that Tabwire {how}.", context.session);
        return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
            "Run {} to close it. Only attached browsers can be disconnected.",
            [Step::command("tabwire session stop")],
        )));
    }
    if status["active"] != true {
        let message = format!("Session {} has no browser.", context.session);
        return Err(Failure::new(ErrorCode::NoBackend, message)
            .with_remedy(Remedy::new("Run {}.", [Step::command("tabwire connect")])));
    }
    let response = run("session_stop")?;
    context.printer.result(&response, || {
        format!("Session {} is detached from its browser, which keeps running.", context.session)
    });
    Ok(())
}
