//! `web/shared/wire.d.ts` and `web/dashboard/messages.d.ts`: the types of the daemon's messages for the checker of the
//! scripts of extension and dashboard, from the JSON schemas of the Rust types.

use std::fmt::Write;

use serde_json::{Map, Value};
use tabwire_extension::notification;

const HEAD: &str = "\
// The messages of the daemon for popup and options, as types for the checker.
// Written by `cargo xtask gen`. Do not edit: change crates/tabwire-extension/src/link/notification.rs instead.
";

const DASHBOARD_HEAD: &str = "\
// The messages of the dashboard's websockets, as types for the checker.
// Written by `cargo xtask gen`. Do not edit: change crates/tabwire-daemon/src/dashboard instead.
";

/// The types of the dashboard.
pub(crate) fn dashboard_text() -> String {
    let schema = tabwire_daemon::dashboard_schema();
    let mut file = DASHBOARD_HEAD.to_owned();
    for (name, part) in schema["$defs"].as_object().into_iter().flatten() {
        write_type(&mut file, name, part);
    }
    file
}

/// The types of the extension.
pub(crate) fn text() -> String {
    let schema = notification::schema();
    let mut file = HEAD.to_owned();
    write_type(&mut file, "Notification", &schema);
    for (name, part) in schema["$defs"].as_object().into_iter().flatten() {
        write_type(&mut file, name, part);
    }
    file
}

fn write_type(file: &mut String, name: &str, schema: &Value) {
    let comment = schema["description"].as_str().unwrap_or_default();
    // Writing to a String cannot fail.
    let _ = writeln!(file, "\n/** {comment} */");
    match schema["properties"].as_object() {
        Some(members) if schema["type"] == "object" && schema.get("$ref").is_none() => {
            let _ = writeln!(file, "export interface {name} {{");
            write_members(file, members, schema);
            file.push_str("}\n");
        }
        _ => {
            let _ = writeln!(file, "export type {name} = {};", type_of(schema));
        }
    }
}

fn write_members(file: &mut String, members: &Map<String, Value>, schema: &Value) {
    for (name, member) in members {
        let mark = mark(schema, name);
        if let Some(comment) = member["description"].as_str() {
            let _ = writeln!(file, "  /** {comment} */");
        }
        let _ = writeln!(file, "  {name}{mark}: {};", type_of(member));
    }
}

/// The mark of a member that may be left out.
fn mark(schema: &Value, name: &str) -> &'static str {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    if required.iter().any(|one| one == name) { "" } else { "?" }
}

/// The TypeScript type of a schema.
fn type_of(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default().to_owned();
        // The members beside it, such as the tag of a variant.
        return match schema["properties"].as_object() {
            Some(_) => format!("{name} & {}", plain_type(&Value::from("object"), schema)),
            None => name,
        };
    }
    if let Some(constant) = schema.get("const") {
        return constant.to_string();
    }
    for union in ["anyOf", "oneOf"] {
        if let Some(parts) = schema[union].as_array() {
            return parts.iter().map(type_of).collect::<Vec<_>>().join(" | ");
        }
    }
    if let Some(parts) = schema["prefixItems"].as_array() {
        return format!("[{}]", parts.iter().map(type_of).collect::<Vec<_>>().join(", "));
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    match &schema["type"] {
        Value::Array(kinds) => {
            kinds.iter().map(|kind| plain_type(kind, schema)).collect::<Vec<_>>().join(" | ")
        }
        kind => plain_type(kind, schema),
    }
}

fn plain_type(kind: &Value, schema: &Value) -> String {
    match kind.as_str().unwrap_or_default() {
        "integer" | "number" => "number".to_owned(),
        "array" => match type_of(&schema["items"]) {
            union if union.contains(" | ") => format!("({union})[]"),
            item => format!("{item}[]"),
        },
        "object" => {
            let members = schema["properties"].as_object().into_iter().flatten();
            let members: Vec<String> = members
                .map(|(name, member)| format!("{name}{}: {}", mark(schema, name), type_of(member)))
                .collect();
            format!("{{ {} }}", members.join("; "))
        }
        // Any JSON.
        "" => "unknown".to_owned(),
        other => other.to_owned(),
    }
}

#[test]
fn objects_unions_and_lists_become_types() {
    let file = text();
    for expected in [
        "export interface Notification {",
        "  approvals: Question[];",
        "  agent?: string | null;",
        "export type Term = \"always\" | { session: string } | { seconds_left: number };",
        "  read: Access;",
    ] {
        assert!(file.contains(expected), "{expected} is missing: {file}");
    }
}

#[test]
fn the_messages_of_the_dashboard_become_types() {
    let file = dashboard_text();
    for expected in [
        "export interface DashboardState {",
        "  sessions: SessionStatus[];",
        "  holds: [Scope, Hold][];",
        "export type Scope = \"all\" | { session: string } | { agent: string };",
        "{ name: \"policy_deny\"; site: string }",
        "  driver?: ShownDriver | null;",
    ] {
        assert!(file.contains(expected), "{expected} is missing: {file}");
    }
}
