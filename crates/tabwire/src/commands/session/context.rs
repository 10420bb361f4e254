//! `context`: shows and changes the values that a session remembers between commands.

use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_api::api::ActionRequest;

use crate::cli::session_command::ContextCommand;
use crate::commands::Context;
use crate::commands::action::run_action;

pub(crate) fn run(context: &Context<'_>, command: ContextCommand) -> Result<(), Failure> {
    let (action, params) = match command {
        ContextCommand::Show => ("context_show", Value::Null),
        ContextCommand::Set { url, target, output, base } => {
            ("context_set", json!({"url": url, "target": target, "output": output, "base_url": base}))
        }
        ContextCommand::Clear => ("context_clear", Value::Null),
    };
    let request = ActionRequest { params, ..ActionRequest::default() };
    let response = run_action(context, action, "asking", request)?;
    context.printer.result(&response, || describe(&response.result));
    Ok(())
}

fn describe(remembered: &Value) -> String {
    let rows = [
        ("address", "url"),
        ("target", "target"),
        ("file", "output"),
        ("base URL", "base_url"),
        ("frame", "frame"),
        ("tab", "tab"),
    ];
    let rows: Vec<String> = rows
        .into_iter()
        .filter_map(|(name, field)| Some(format!("{name:<9}{}", remembered.get(field)?.as_str()?)))
        .collect();
    if rows.is_empty() { "The session remembers nothing.".to_owned() } else { rows.join("\n") }
}
