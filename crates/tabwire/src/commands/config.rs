//! `config path`: the project, and where settings are read from.

use std::path::Path;

use serde_json::{Value, json};
use tabwire_wire::Failure;

use super::Context;
use crate::cli::ConfigCommand;

pub(super) fn run(context: &Context<'_>, command: &ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Path => path(context),
    }
    Ok(())
}

/// A file, and whether it is there.
fn described(path: &Path) -> Value {
    json!({"path": path, "exists": path.symlink_metadata().is_ok()})
}

fn path(context: &Context<'_>) {
    let user = context.environment.paths.config.join("config.toml");
    let project = context.project.as_ref();
    let answer = json!({
        "user": described(&user),
        "project": project.map(|project| described(&project.file())),
        "root": project.map(|project| &project.root),
        "key": project.map(|project| project.key.clone()).unwrap_or_default(),
    });
    context.printer.answer(&answer, || {
        let note = |file: &Value| if file["exists"] == true { "" } else { "  (not there)" };
        let mut lines = vec![format!("user     {}{}", user.display(), note(&answer["user"]))];
        match project {
            None => lines.push("project  none".to_owned()),
            Some(project) => {
                let note = note(&answer["project"]);
                lines.push(format!("project  {}{note}", project.file().display()));
                lines.push(format!("key      {}", project.key));
            }
        }
        lines.join("\n")
    });
}
