//! `open`, `tabs`, `eval`, `close`: asks the daemon for an action and prints its result.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_wire::Failure;
use tabwire_wire::api::{ActionAnswer, ActionRequest, SessionOptions};

use super::Context;
use crate::daemon_start::ask_daemon;
use crate::printer::{shorten, table};
use crate::spinner::spin;

/// Asks for one action and tells the user what the daemon wants known.
pub(crate) fn ask_action(
    context: &Context<'_>,
    name: &str,
    label: &str,
    params: Value,
    options: SessionOptions,
) -> Result<ActionAnswer, Failure> {
    let timeout_ms = context.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let request = ActionRequest { session: context.session.clone(), options, params, timeout_ms };
    let timeout = context.timeout.unwrap_or(Duration::from_secs(30));
    let answer = spin(label, !context.printer.is_json(), || {
        ask_daemon(
            context.environment,
            "POST",
            &format!("/v1/actions/{name}"),
            Some(&json!(request)),
            timeout,
        )
    })?;
    let answer: ActionAnswer = serde_json::from_value(answer).map_err(|error| unreadable(&error))?;
    for notice in &answer.notices {
        context.printer.notice(notice);
    }
    Ok(answer)
}

pub(crate) fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::new(
        tabwire_wire::ErrorCode::Internal,
        format!("The daemon's answer is not understood: {error}."),
    )
    .with_hint("The daemon may be of another version; run `tabwire daemon stop`.")
}

fn text<'a>(result: &'a Value, field: &str) -> &'a str {
    result.get(field).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn open(context: &Context<'_>, params: Value, options: SessionOptions) -> Result<(), Failure> {
    let answer = ask_action(context, "open", "opening the page", params, options)?;
    context.printer.answer(&json!(answer), || {
        let result = &answer.result;
        let mut lines = vec![format!("{}  {}", text(result, "tab"), text(result, "url"))];
        if !text(result, "title").is_empty() {
            lines.push(format!("# {}", text(result, "title")));
        }
        if !text(result, "text").is_empty() {
            lines.push(String::new());
            lines.push(text(result, "text").to_owned());
        }
        if result.get("truncated").and_then(Value::as_bool) == Some(true) {
            lines.push("… (cut; read more with `tabwire eval document.body.innerText`)".to_owned());
        }
        lines.join("\n")
    });
    Ok(())
}

pub(super) fn tabs(context: &Context<'_>, options: SessionOptions) -> Result<(), Failure> {
    let answer = ask_action(context, "tabs", "listing the tabs", Value::Null, options)?;
    context.printer.answer(&json!(answer), || {
        let none = Vec::new();
        let tabs = answer.result.get("tabs").and_then(Value::as_array).unwrap_or(&none);
        let mut rows = vec![vec![String::new(), "TAB".to_owned(), "TITLE".to_owned(), "URL".to_owned()]];
        rows.extend(tabs.iter().map(|tab| {
            let mark = if tab.get("current").and_then(Value::as_bool) == Some(true) { "*" } else { "" };
            vec![
                mark.to_owned(),
                text(tab, "tab").to_owned(),
                shorten(text(tab, "title"), 40),
                shorten(text(tab, "url"), 80),
            ]
        }));
        table(&rows)
    });
    Ok(())
}

pub(super) fn eval(context: &Context<'_>, params: Value, options: SessionOptions) -> Result<(), Failure> {
    let answer = ask_action(context, "eval", "evaluating", params, options)?;
    context.printer.answer(&json!(answer), || {
        let result = &answer.result;
        match (result.get("value"), result.get("described").and_then(Value::as_str)) {
            (_, Some(described)) => described.to_owned(),
            (Some(Value::String(text)), None) => text.clone(),
            (Some(value), None) => serde_json::to_string_pretty(value).unwrap_or_default(),
            (None, None) => String::new(),
        }
    });
    Ok(())
}

pub(super) fn close(context: &Context<'_>, params: Value) -> Result<(), Failure> {
    let answer = ask_action(context, "close", "closing", params, SessionOptions::default())?;
    context.printer.answer(&json!(answer), || {
        let result = &answer.result;
        match text(result, "tab") {
            "" => format!("Session {} is closed; its browser: {}.", answer.session, text(result, "browser")),
            tab => format!("Tab {tab} is closed."),
        }
    });
    Ok(())
}
