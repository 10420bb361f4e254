//! `approvals`: what agents ask for, and a person's answers.

use std::collections::BTreeSet;
use std::io::{BufRead as _, IsTerminal as _};
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_engine::plain_line;
use tabwire_wire::Failure;

use super::Context;
use super::policy::{ask_policy, require_terminal};
use crate::policy_command::{Answer, ApprovalsCommand};

/// Longer than the daemon waits for a question in one request.
const WATCH: Duration = Duration::from_secs(40);

pub(super) fn run(context: &Context<'_>, command: Option<&ApprovalsCommand>) -> Result<(), Failure> {
    match command {
        Some(ApprovalsCommand::Answer { id, answer, without_terminal }) => {
            require_terminal(
                *without_terminal,
                &format!("tabwire approvals answer {id} {}", answer.as_str()),
            )?;
            let answered = hand_in(context, id, *answer)?;
            context.printer.answer(&answered, || format!("{id}: {}.", answer.as_str()));
            Ok(())
        }
        None if context.printer.is_for_people() && std::io::stdin().is_terminal() => watch(context),
        None => {
            let answer = ask_policy(context, "approvals", json!({}), WATCH)?;
            context.printer.answer(&answer, || {
                let told: Vec<String> = pending(&answer).map(described).collect();
                if told.is_empty() { "Nobody asks for anything.".to_owned() } else { told.join("\n") }
            });
            Ok(())
        }
    }
}

/// Waits for questions and asks the person about each, until broken off.
fn watch(context: &Context<'_>) -> Result<(), Failure> {
    context.printer.notice("Waiting for what agents ask for; Ctrl-C ends it.");
    let mut seen = BTreeSet::new();
    loop {
        let answer = ask_policy(context, "approvals", json!({"wait": true}), WATCH)?;
        for question in pending(&answer) {
            let id = question["id"].as_str().unwrap_or_default().to_owned();
            if !seen.insert(id.clone()) {
                continue;
            }
            context.printer.plain(&described(question));
            let Some(answer) = ask_person(context)? else { return Ok(()) };
            match hand_in(context, &id, answer) {
                Ok(_) => context.printer.plain(&format!("{id}: {}.", answer.as_str())),
                // Its time may have been up; the next question is as good.
                Err(failure) => context.printer.notice(&failure.message),
            }
        }
    }
}

/// The person's answer; none when there is nobody any more.
fn ask_person(context: &Context<'_>) -> Result<Option<Answer>, Failure> {
    loop {
        context.printer.plain("  [o]nce, for this [s]ession, [a]lways, [n]o?");
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line).unwrap_or_default() == 0 {
            return Ok(None);
        }
        let answer = match line.trim().to_ascii_lowercase().as_str() {
            "o" | "once" => Answer::Once,
            "s" | "session" => Answer::Session,
            "a" | "always" => Answer::Always,
            "n" | "no" => Answer::No,
            _ => continue,
        };
        return Ok(Some(answer));
    }
}

fn hand_in(context: &Context<'_>, id: &str, answer: Answer) -> Result<Value, Failure> {
    ask_policy(context, "answer", json!({"id": id, "answer": answer.as_str()}), WATCH)
}

fn pending(answer: &Value) -> impl Iterator<Item = &Value> {
    answer["pending"].as_array().into_iter().flatten()
}

/// Who asks, what, where. What agents say of themselves is one bounded line; names are theirs to choose, so they
/// stand in quotes.
fn described(question: &Value) -> String {
    let text = |field: &str| plain_line(question[field].as_str().unwrap_or_default(), 200);
    format!(
        "{}: {:?} wants to {} on {} ({}), in session {}; {} s left\n  {}",
        text("id"),
        text("who"),
        text("action"),
        text("site"),
        text("capability"),
        text("session"),
        question["seconds_left"],
        text("why"),
    )
}
