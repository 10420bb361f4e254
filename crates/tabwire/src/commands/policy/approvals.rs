//! `approvals`: lists the approval requests of agents, and answers them.

use std::collections::BTreeSet;
use std::io::{BufRead as _, IsTerminal as _};
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_engine::plain_line;

use super::{request_policy, require_terminal};
use crate::cli::policy_command::{ApprovalAnswer, ApprovalsCommand};
use crate::commands::Context;

/// Longer than the daemon holds one request open.
const WATCH_TIMEOUT: Duration = Duration::from_secs(40);

pub(crate) fn run(context: &Context<'_>, command: Option<&ApprovalsCommand>) -> Result<(), Failure> {
    match command {
        Some(ApprovalsCommand::Answer { id, answer, without_terminal }) => {
            require_terminal(
                *without_terminal,
                &format!("tabwire approvals answer {id} {}", answer.as_str()),
            )?;
            let answered = send_answer(context, id, *answer)?;
            context.printer.result(&answered, || format!("{id}: {}.", answer.as_str()));
            Ok(())
        }
        None if context.printer.is_terminal_text() && std::io::stdin().is_terminal() => watch(context),
        None => {
            let response = request_policy(context, "approvals", json!({}), WATCH_TIMEOUT)?;
            context.printer.result(&response, || {
                let requests: Vec<String> = pending(&response).map(described).collect();
                if requests.is_empty() { "No approval requests.".to_owned() } else { requests.join("\n") }
            });
            Ok(())
        }
    }
}

/// Waits for requests and prompts the user for each, until Ctrl-C.
fn watch(context: &Context<'_>) -> Result<(), Failure> {
    context.printer.notice("Waiting for approval requests; Ctrl-C ends it.");
    let mut seen = BTreeSet::new();
    loop {
        let response = request_policy(context, "approvals", json!({"wait": true}), WATCH_TIMEOUT)?;
        for question in pending(&response) {
            let id = question["id"].as_str().unwrap_or_default().to_owned();
            if !seen.insert(id.clone()) {
                continue;
            }
            context.printer.plain(&described(question));
            let Some(answer) = prompt_user(context)? else { return Ok(()) };
            match send_answer(context, &id, answer) {
                Ok(_) => context.printer.plain(&format!("{id}: {}.", answer.as_str())),
                // The request may have timed out.
                Err(failure) => context.printer.notice(&failure.message),
            }
        }
    }
}

/// Prompts the user; `None` at the end of stdin.
fn prompt_user(context: &Context<'_>) -> Result<Option<ApprovalAnswer>, Failure> {
    loop {
        context
            .printer
            .plain("  [o]nce, for this [s]ession, always for this a[g]ent, [a]lways for every agent, [n]o?");
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line).unwrap_or_default() == 0 {
            return Ok(None);
        }
        let answer = match line.trim().to_ascii_lowercase().as_str() {
            "o" | "once" => ApprovalAnswer::Once,
            "s" | "session" => ApprovalAnswer::Session,
            "g" | "agent" => ApprovalAnswer::Agent,
            "a" | "always" => ApprovalAnswer::Always,
            "n" | "no" => ApprovalAnswer::No,
            _ => continue,
        };
        return Ok(Some(answer));
    }
}

fn send_answer(context: &Context<'_>, id: &str, answer: ApprovalAnswer) -> Result<Value, Failure> {
    request_policy(context, "answer", json!({"id": id, "answer": answer.as_str()}), WATCH_TIMEOUT)
}

fn pending(response: &Value) -> impl Iterator<Item = &Value> {
    response["pending"].as_array().into_iter().flatten()
}

/// One request as text. Agents choose their names and reasons, so these are bounded, and names are quoted.
fn described(question: &Value) -> String {
    let text = |field: &str| plain_line(question[field].as_str().unwrap_or_default(), 200);
    format!(
        "{}: {:?}, {:?}, wants to {} on {} ({}), in session {}; {} s left\n  {}",
        text("id"),
        text("agent"),
        text("who"),
        text("action"),
        text("site"),
        text("capability"),
        text("session"),
        question["seconds_left"],
        text("why"),
    )
}
