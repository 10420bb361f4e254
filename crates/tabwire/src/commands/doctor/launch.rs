//! A full round trip: starts a browser in a session of its own, opens a page, evaluates, and ends it all.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_wire::api::ActionRequest;
use tabwire_wire::{Failure, SessionName};

use super::super::Context;
use super::super::action::ask_action;
use super::finding::Finding;

const CODE: &str = "launch";

pub(super) fn check(context: &Context<'_>) -> Finding {
    // A name that no other doctor uses at the same time.
    let Ok(name) = SessionName::new(&format!("doctor-{}", std::process::id())) else {
        return Finding::ok(CODE, "No browser was started: there is no name for a session.");
    };
    let session = context.in_session(Some(name));
    let started = Instant::now();
    let tried = round_trip(&session);
    // Whatever came of it, nothing is left.
    let ended = ask(&session, "session_delete", "ending the browser", Value::Null);
    match tried.and(ended) {
        Ok(_) => {
            let time = started.elapsed().as_millis();
            Finding::ok(CODE, format!("A browser was started, used and ended in {time} ms."))
        }
        Err(failure) => {
            let remedy = failure.hint.unwrap_or_else(|| "Look at `tabwire daemon logs`.".to_owned());
            Finding::wrong(CODE, failure.message, remedy)
        }
    }
}

fn round_trip(session: &Context<'_>) -> Result<(), Failure> {
    ask(session, "open", "starting a browser", json!({"url": "about:blank"}))?;
    let answer = ask(session, "eval", "evaluating", json!({"expression": "6 * 7"}))?;
    if answer.get("value") == Some(&json!(42)) {
        return Ok(());
    }
    let message = "The browser answered, but not what it was asked.";
    Err(Failure::new(tabwire_wire::ErrorCode::Internal, message)
        .with_hint("Try another browser: set TABWIRE_BROWSER to its executable."))
}

fn ask(session: &Context<'_>, action: &str, label: &str, params: Value) -> Result<Value, Failure> {
    let request = ActionRequest { params, ..ActionRequest::default() };
    Ok(ask_action(session, action, label, request)?.result)
}
