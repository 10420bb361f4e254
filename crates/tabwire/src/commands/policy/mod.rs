//! `allow`, `deny`, `grants` and `policy`: shows and changes the policy.

pub(super) mod approvals;

use std::io::IsTerminal;
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};

use crate::cli::policy_command::{AllowOptions, GrantsCommand, PolicyCommand, Term};
use crate::commands::Context;
use crate::commands::status::age;
use crate::config::Key;
use crate::output::printer::table;
use tabwire_client::request_daemon;

/// Timeout of requests that need no browser.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends a policy request to the daemon.
pub(super) fn request_policy(
    context: &Context<'_>,
    verb: &str,
    mut body: Value,
    timeout: Duration,
) -> Result<Value, Failure> {
    if let Some(members) = body.as_object_mut() {
        members.insert("session".to_owned(), json!(context.session));
        members.insert("project".to_owned(), json!(context.project_key()));
    }
    let path = format!("/v1/policy/{verb}");
    request_daemon(&context.socket(), "POST", &path, Some(&body), context.timeout.unwrap_or(timeout))
}

/// Fails without a terminal: an agent must not grant itself what it was refused.
pub(super) fn require_terminal(without: bool, line: &str) -> Result<(), Failure> {
    if without || std::io::stdin().is_terminal() {
        return Ok(());
    }
    let message = "Only a user at a terminal can change the policy, and there is no terminal.";
    Err(Failure::new(ErrorCode::PolicyDenied, message)
        .with_remedy(format!("Ask the user to run `{line}` in a terminal.")))
}

pub(super) fn allow(context: &Context<'_>, options: &AllowOptions) -> Result<(), Failure> {
    let flags = [
        ("act", options.act),
        ("eval", options.eval),
        ("download", options.download),
        ("upload", options.upload),
        ("cdp", options.cdp),
        ("carry", options.carry),
    ];
    let given: Vec<&str> = flags.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
    let line =
        given.iter().fold(format!("tabwire allow {}", options.site), |line, flag| format!("{line} --{flag}"));
    require_terminal(options.without_terminal, &line)?;
    let term = match options.term {
        Term::Always => json!("always"),
        Term::Session => json!("session"),
        Term::For(length) => json!({"seconds": length.as_secs()}),
    };
    let body = json!({"site": options.site, "capabilities": given, "term": term, "agent": options.agent});
    let entry = request_policy(context, "allow", body, TIMEOUT)?;
    context.printer.result(&entry, || {
        let (what, site) = (list(&entry["capabilities"]), text(&entry, "site"));
        let whom = entry["agent"].as_str().map(|agent| format!(" for {agent:?}")).unwrap_or_default();
        format!("{}: {what} allowed on {site}{whom}, {}.", text(&entry, "id"), term_text(&entry["term"]))
    });
    Ok(())
}

pub(super) fn deny(context: &Context<'_>, site: &str) -> Result<(), Failure> {
    let entry = request_policy(context, "deny", json!({"site": site}), TIMEOUT)?;
    context.printer.result(&entry, || {
        format!(
            "{}: everything is denied on {}, whatever was granted.",
            text(&entry, "id"),
            text(&entry, "site")
        )
    });
    Ok(())
}

pub(super) fn grants(context: &Context<'_>, command: Option<&GrantsCommand>) -> Result<(), Failure> {
    match command.unwrap_or(&GrantsCommand::List) {
        GrantsCommand::List => {
            let response = request_policy(context, "grants", json!({}), TIMEOUT)?;
            context.printer.result(&response, || entries_text(&response["entries"]));
        }
        GrantsCommand::Revoke { which, without_terminal } => {
            require_terminal(*without_terminal, &format!("tabwire grants revoke {which}"))?;
            let response = request_policy(context, "revoke", json!({"which": which}), TIMEOUT)?;
            context.printer.result(&response, || {
                let gone = response["revoked"].as_array().map(Vec::as_slice).unwrap_or_default();
                let lines = gone.iter().map(|entry| {
                    format!(
                        "{} ({} {}) is revoked.",
                        text(entry, "id"),
                        text(entry, "stance"),
                        text(entry, "site")
                    )
                });
                lines.collect::<Vec<_>>().join("\n")
            });
        }
    }
    Ok(())
}

pub(super) fn policy(context: &Context<'_>, command: &PolicyCommand) -> Result<(), Failure> {
    match command {
        PolicyCommand::Show => {
            let response = request_policy(context, "show", json!({}), TIMEOUT)?;
            context.printer.result(&response, || show_text(&response));
        }
        PolicyCommand::Check { url, action, policy, agent } => {
            let usual = context.configuration.text(Key::Policy).map(|set| set.value.to_owned());
            let policy = policy.map(|policy| policy.as_str().to_owned()).or(usual);
            let body = json!({"url": url, "action": action, "policy": policy, "agent": agent});
            let response = request_policy(context, "check", body, TIMEOUT)?;
            context.printer.result(&response, || check_text(&response));
        }
    }
    Ok(())
}

fn check_text(response: &Value) -> String {
    let (action, place) = (text(response, "action"), text(response, "place"));
    let mut lines = vec![format!(
        "{}: {action} on {place} ({} session)",
        text(response, "decision"),
        text(response, "policy")
    )];
    for decision in response["decisions"].as_array().into_iter().flatten() {
        let (capability, word) = (text(decision, "capability"), text(decision, "decision"));
        lines.push(format!("  {capability}: {word}, by {}", text(decision, "decided_by")));
        if let Some(why) = decision["why"].as_str() {
            lines.push(format!("    {why}"));
        }
        if let Some(remedy) = decision["remedy"].as_str() {
            lines.push(format!("    to allow it: {remedy}"));
        }
    }
    lines.join("\n")
}

fn show_text(response: &Value) -> String {
    let rules = response["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut lines = vec![format!("policy file: {}", text(response, "file"))];
    if let Some(fault) = response["fault"].as_str() {
        lines.push(format!("{fault} Until it is fixed nothing is allowed. The previous rules:"));
    }
    if rules.is_empty() {
        lines.push("it has no rules".to_owned());
    } else {
        let mut rows = vec![["LINE", "SITE", "ALLOW", "ASK", "DENY"].map(str::to_owned).to_vec()];
        rows.extend(rules.iter().map(|rule| {
            let lists = ["allow", "ask", "deny"].map(|name| list(&rule[name]));
            let mut row = vec![rule["line"].to_string(), text(rule, "site").to_owned()];
            row.extend(lists);
            row
        }));
        lines.push(table(&rows));
    }
    let unlisted = if response["unlisted"] == "deny" { "refused" } else { "subject to approval" };
    lines.push(format!("requests without a rule or grant are {unlisted} in guarded sessions"));
    lines.push(String::new());
    lines.push(entries_text(&response["entries"]));
    lines.join("\n")
}

fn entries_text(entries: &Value) -> String {
    let entries = entries.as_array().map(Vec::as_slice).unwrap_or_default();
    if entries.is_empty() {
        return "Nothing was granted or denied.".to_owned();
    }
    let mut rows = vec![["ID", "SITE", "WHAT", "AGENT", "TERM"].map(str::to_owned).to_vec()];
    rows.extend(entries.iter().map(|entry| {
        let what = if entry["stance"] == "deny" { "denied".to_owned() } else { list(&entry["capabilities"]) };
        let agent = entry["agent"].as_str().unwrap_or("every agent").to_owned();
        let (id, site) = (text(entry, "id").to_owned(), text(entry, "site").to_owned());
        vec![id, site, what, agent, term_text(&entry["term"])]
    }));
    table(&rows)
}

fn term_text(term: &Value) -> String {
    match (term["seconds_left"].as_u64(), term["session"].as_str()) {
        (Some(seconds), _) => format!("for {}", age(seconds)),
        (None, Some(session)) => format!("for session {session}"),
        (None, None) => "always".to_owned(),
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn list(value: &Value) -> String {
    let words: Vec<&str> = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    words.join(", ")
}
