//! The settings as a JSON schema for editors and as a reference page, both from the table.

use serde_json::{Map, Value as Json, json};

use super::project_rule::ProjectRule;
use super::setting::{Kind, Setting};
use super::settings::SETTINGS;
use super::value::{Value, expected};

/// The JSON schema of `config.toml` and `tabwire.toml`.
#[must_use]
pub fn configuration_schema() -> Json {
    let properties: Map<String, Json> =
        SETTINGS.iter().map(|setting| (setting.name.to_owned(), property(setting))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tabwire's configuration",
        "description": "A user's config.toml or a project's tabwire.toml.",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn property(setting: &Setting) -> Json {
    let mut schema = match setting.kind {
        Kind::SessionName => {
            json!({"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$"})
        }
        Kind::WebAddress => json!({"type": "string", "format": "uri", "pattern": "^https?://"}),
        Kind::NameOrPath => json!({"type": "string", "minLength": 1}),
        Kind::Endpoint => json!({"type": ["string", "integer"]}),
        Kind::Switch => json!({"type": "boolean"}),
        Kind::Choice(words) => json!({"enum": words}),
        Kind::Size => json!({"type": "string", "pattern": "^[0-9]+[x,][0-9]+$"}),
        Kind::Time => json!({"anyOf": [
            {"type": "number", "minimum": 0},
            {"type": "string", "pattern": "^[0-9.]+(ms|s|m|h)?$"},
        ]}),
        Kind::Port => json!({"type": "integer", "minimum": 0, "maximum": 65535}),
        Kind::Directories => json!({"type": "array", "items": {"type": "string", "minLength": 1}}),
        Kind::Flags => json!({"type": "array", "items": {"type": "string", "pattern": "^--"}}),
        Kind::Headers => json!({"type": "array", "items": {"type": "string"}}),
    };
    let rule = match &setting.project {
        ProjectRule::May => String::new(),
        ProjectRule::Never { .. } => " Not in a project's file.".to_owned(),
        ProjectRule::Judged { limits, .. } => format!(" In a project's file: {limits}."),
    };
    schema["description"] = json!(format!("{}{rule}", setting.meaning));
    let default = setting.default.and_then(|text| Value::from_text(setting.kind, text).ok());
    if let Some(default) = default {
        schema["default"] = default.to_json();
    }
    schema
}

/// The reference page of the settings.
#[must_use]
pub fn configuration_page() -> String {
    let mut page = String::from(
        "# Settings\n\n\
         <!-- Written by `cargo xtask gen`. Do not edit: change crates/tabwire/src/config/settings.rs instead. -->\n\n\
         What can be set in a user's `config.toml`, a project's `tabwire.toml`, the environment and by flag; the later one\n\
         wins. [Configuration](../configuration.md) explains it; [config.schema.json](config.schema.json) is for editors.\n",
    );
    for setting in SETTINGS {
        page.push_str(&format!("\n## `{}`\n\n{}\n\n", setting.name, setting.meaning));
        page.push_str(&format!("- Value: {}.\n", expected(setting.kind)));
        if let Some(default) = setting.default {
            page.push_str(&format!("- Default: `{default}`.\n"));
        }
        if let Some(variable) = setting.variable {
            page.push_str(&format!("- Environment variable: `{variable}`.\n"));
        }
        if let Some(flag) = setting.flag {
            page.push_str(&format!("- Flag: `{flag}`.\n"));
        }
        let rule = match &setting.project {
            ProjectRule::May => "yes".to_owned(),
            ProjectRule::Never { why } => format!("no; {why}"),
            ProjectRule::Judged { limits, .. } => limits.to_string(),
        };
        page.push_str(&format!("- In a project's file: {rule}.\n"));
    }
    page
}
