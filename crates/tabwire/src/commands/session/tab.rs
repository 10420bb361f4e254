//! `tab`: leases of tabs.

use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_api::api::ActionRequest;

use crate::cli::session_command::TabCommand;
use crate::commands::Context;
use crate::commands::action::run_action;
use crate::commands::status::age;
use crate::output::printer::table;

pub(crate) fn run(context: &Context<'_>, command: &TabCommand) -> Result<(), Failure> {
    let (action, params) = match command {
        TabCommand::Lease { tab, length } => {
            ("tab_lease", json!({"tab": tab, "seconds": length.map(|length| length.as_secs())}))
        }
        TabCommand::Release { tab, force } => ("tab_release", json!({"tab": tab, "force": force})),
        TabCommand::Leases => ("tab_leases", Value::Null),
    };
    let request = ActionRequest { params, ..ActionRequest::default() };
    let response = run_action(context, action, "asking", request)?;
    context.printer.result(&response, || describe(command, &response.result));
    Ok(())
}

fn describe(command: &TabCommand, result: &Value) -> String {
    let word = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
    let left = |value: &Value| age(value["seconds_left"].as_u64().unwrap_or_default());
    match command {
        TabCommand::Lease { .. } => {
            format!(
                "Tab {} is leased to {} for {}.",
                word(result, "tab"),
                word(result, "owner"),
                left(result)
            )
        }
        TabCommand::Release { .. } if result["released"] == true => {
            format!("Tab {} is free.", word(result, "tab"))
        }
        TabCommand::Release { .. } => format!("Tab {} was not leased.", word(result, "tab")),
        TabCommand::Leases => {
            let leases = result["leases"].as_array().map(Vec::as_slice).unwrap_or_default();
            if leases.is_empty() {
                return "No tab is leased.".to_owned();
            }
            let mut rows = vec![["TAB", "OWNER", "LEFT"].map(str::to_owned).to_vec()];
            rows.extend(
                leases.iter().map(|lease| vec![word(lease, "tab"), word(lease, "owner"), left(lease)]),
            );
            table(&rows)
        }
    }
}
