//! The parameters of an action, as the attributes of its fields declare them.
//!
//! A field declares what its text can be with `#[schemars(extend("x-carries" = "..."))]`. The log class follows from
//! that, or from a closed type; `x-log` overrides it. `x-secret` says what a capture may write of the value.

use serde_json::Value;
use tabwire_api::LogVisibility;

/// What a capture may write of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// The value is a secret.
    Secret,
    /// The value is typed text: a secret unless the page shows it.
    Typed,
    /// The value is a list of keys: a secret if they went into a masked field.
    Keys,
    /// The flag requests secrets in the result, so the result is one.
    Reveals,
}

impl Secrecy {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "secret" => Some(Self::Secret),
            "typed" => Some(Self::Typed),
            "keys" => Some(Self::Keys),
            "reveals" => Some(Self::Reveals),
            _ => None,
        }
    }
}

/// One parameter of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Whether the action runs without it.
    pub is_required: bool,
    /// What its text can be, from `x-carries`: `url`, `target`, `file_written`.
    pub carries: Option<String>,
    /// How much of its value the audit log shows. A parameter without a class is not logged, and fails a test.
    pub log: Option<LogVisibility>,
    /// What a capture may write of its value; all of it if absent.
    pub secrecy: Option<Secrecy>,
}

impl Parameter {
    /// Whether the parameter's text is of a class.
    #[must_use]
    pub fn carries(&self, class: &str) -> bool {
        self.carries.as_deref() == Some(class)
    }
}

/// Reads the parameters of a schema.
pub(crate) fn read_parameters(schema: &Value) -> Vec<Parameter> {
    let definitions = schema.get("$defs").unwrap_or(&Value::Null);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let read = properties.map(|(name, property)| {
        let attribute = |key: &str| property.get(key).and_then(Value::as_str);
        Parameter {
            name: name.clone(),
            is_required: is_required(name),
            carries: attribute("x-carries").map(str::to_owned),
            log: log_visibility(property, definitions),
            secrecy: attribute("x-secret").and_then(Secrecy::parse),
        }
    });
    read.collect()
}

/// How much of a parameter's value the audit log shows: `x-log`, else by `x-carries`, else by its type. None when the
/// parameter takes any text and does not say which.
fn log_visibility(property: &Value, definitions: &Value) -> Option<LogVisibility> {
    let attribute = |key: &str| property.get(key).and_then(Value::as_str);
    if let Some(name) = attribute("x-log") {
        return LogVisibility::parse(name);
    }
    let Some(class) = attribute("x-carries") else {
        return (!takes_any_text(property, definitions)).then_some(LogVisibility::Keyword);
    };
    let visibility = match class {
        "target" | "target_or_url" => LogVisibility::Target,
        "url" => LogVisibility::Url,
        "origin" => LogVisibility::Origin,
        "tab" | "permission" => LogVisibility::Keyword,
        "text" | "pattern" | "code" | "domain" | "header" | "request" | "response" => LogVisibility::Hidden,
        "file_read" | "file_written" | "file_given" | "file_written_or_given" => LogVisibility::Path,
        _ => return None,
    };
    let is_list = property.get("type").is_some_and(|kind| kind.to_string().contains("\"array\""));
    let is_counted = is_list && matches!(visibility, LogVisibility::Hidden | LogVisibility::Origin);
    Some(if is_counted { LogVisibility::Count } else { visibility })
}

/// Whether a parameter accepts any text, unlike a number, a flag or a word of a fixed list.
fn takes_any_text(schema: &Value, definitions: &Value) -> bool {
    let schema = resolve(schema, definitions);
    let mut choices =
        ["anyOf", "oneOf"].iter().filter_map(|name| schema.get(*name)?.as_array()).flatten().peekable();
    if choices.peek().is_some() {
        return choices.any(|choice| takes_any_text(choice, definitions));
    }
    if schema.get("enum").is_some() || schema.get("const").is_some() {
        return false;
    }
    let kinds = match schema.get("type") {
        // A schema without a type accepts everything.
        None => return true,
        Some(Value::Array(kinds)) => kinds.as_slice(),
        Some(kind) => std::slice::from_ref(kind),
    };
    kinds.iter().filter_map(Value::as_str).any(|kind| match kind {
        "string" | "object" => true,
        "array" => {
            let items = schema.get("items").into_iter();
            let tuple = schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
            items.chain(tuple).any(|item| takes_any_text(item, definitions))
        }
        _ => false,
    })
}

/// A schema with its reference followed.
fn resolve<'a>(schema: &'a Value, definitions: &'a Value) -> &'a Value {
    match schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        Some(name) => resolve(&definitions[name], definitions),
        None => schema,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{ACTIONS, SCRIPT_ACTIONS, SESSION_ACTIONS};

    #[test]
    fn every_parameter_of_every_action_has_a_log_class() {
        for action in ACTIONS.iter().chain(SESSION_ACTIONS).chain(SCRIPT_ACTIONS) {
            for parameter in action.parameter_list().iter() {
                let fault = "add x-carries or x-log to the field";
                assert!(parameter.log.is_some(), "{} {}: {fault}", action.name, parameter.name);
            }
        }
    }

    #[test]
    fn t39_typed_and_secret_parameters_are_hidden_in_the_log() {
        let secrets =
            ["value", "text", "password", "form", "expression", "script", "body", "post_data", "user"];
        for action in ACTIONS {
            for parameter in action.parameter_list().iter() {
                let is_secret =
                    secrets.contains(&parameter.name.as_str()) || parameter.name.contains("passphrase");
                let is_hidden = parameter.log == Some(LogVisibility::Hidden);
                assert!(!is_secret || is_hidden, "{} {}", action.name, parameter.name);
                let has_secret = matches!(parameter.secrecy, Some(secrecy) if secrecy != Secrecy::Reveals);
                let is_shown = !matches!(parameter.log, Some(LogVisibility::Hidden | LogVisibility::Count));
                assert!(!has_secret || !is_shown, "{} {}", action.name, parameter.name);
            }
        }
    }

    #[test]
    fn a_text_parameter_without_a_class_is_not_logged() {
        let schema = json!({"properties": {
            "name": {"type": "string"},
            "count": {"type": ["integer", "null"]},
            "names": {"type": "array", "items": {"type": "string"}, "x-carries": "text"},
            "site": {"type": "string", "x-carries": "origin", "x-log": "hidden"},
        }, "required": ["name"]});
        let read = read_parameters(&schema);
        let log = |name: &str| read.iter().find(|one| one.name == name).expect(name).log;
        assert_eq!(log("name"), None);
        assert_eq!(log("count"), Some(LogVisibility::Keyword));
        assert_eq!(log("names"), Some(LogVisibility::Count));
        assert_eq!(log("site"), Some(LogVisibility::Hidden));
    }
}
