//! `connect` and `disconnect`: sessions on browsers that somebody else runs.

use serde_json::{Value, json};
use tabwire_wire::api::{ActionRequest, SessionOptions};
use tabwire_wire::{ErrorCode, Failure};

use super::Context;
use super::action::ask_action;
use super::session::start_with;
use crate::session_flags::read_headers;

/// Asks the daemon to look for a browser by itself.
const ANY: &str = "auto";

pub(super) fn connect(
    context: &Context<'_>,
    address: Option<String>,
    headers: Vec<String>,
) -> Result<(), Failure> {
    let options = SessionOptions {
        cdp: Some(address.unwrap_or_else(|| ANY.to_owned())),
        headers: read_headers(headers)?,
        ..SessionOptions::default()
    };
    start_with(context, "session_start", "connecting (the browser may ask for consent)", options, false)
}

pub(super) fn disconnect(context: &Context<'_>) -> Result<(), Failure> {
    let ask = |action: &str| {
        let request = ActionRequest { params: Value::Null, ..ActionRequest::default() };
        ask_action(context, action, "asking", request)
    };
    let status = ask("session_status")?.result;
    if status["ownership"] == "launched" {
        let message = format!("Session {} has a browser that Tabwire launched.", context.session);
        return Err(Failure::new(ErrorCode::BadArgs, message)
            .with_hint("`tabwire session stop` ends it; only attached browsers are let go."));
    }
    if status["active"] != true {
        let message = format!("Session {} is attached to no browser.", context.session);
        return Err(Failure::new(ErrorCode::NoBackend, message).with_hint("`tabwire connect` attaches it."));
    }
    let answer = ask("session_stop")?;
    context.printer.answer(&json!(answer), || {
        format!("Session {} let go of its browser, which goes on.", context.session)
    });
    Ok(())
}
