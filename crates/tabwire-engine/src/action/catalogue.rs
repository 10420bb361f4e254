//! The registry as JSON: names, effects, descriptions and schemas of all actions.

use serde_json::{Value, json};

use crate::action::Definition;
use crate::action::registry::{ACTIONS, SESSION_ACTIONS};

/// Every action with its schemas, for the HTTP API and the reference.
#[must_use]
pub fn catalogue() -> Value {
    Value::Array(ACTIONS.iter().chain(SESSION_ACTIONS).map(describe).collect())
}

fn describe(action: &Definition) -> Value {
    let mut parameters = (action.parameters)();
    let description = take_text(&mut parameters, "description");
    json!({
        "name": action.name,
        "command": action.command_name(),
        "effect": action.effect,
        "description": description,
        "examples": action.examples,
        "parameters": lean(parameters),
        "output": lean((action.output)()),
    })
}

fn take_text(schema: &mut Value, member: &str) -> Value {
    schema.as_object_mut().and_then(|members| members.remove(member)).unwrap_or(Value::Null)
}

/// A schema without `$schema`, titles and number formats.
fn lean(mut schema: Value) -> Value {
    strip(&mut schema);
    schema
}

fn strip(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_noise = |name: &str, value: &Value| match name {
                "$schema" => true,
                "title" => value.is_string(),
                "format" => value.as_str().is_some_and(|format| {
                    format.starts_with("uint")
                        || format.starts_with("int")
                        || format == "double"
                        || format == "float"
                }),
                _ => false,
            };
            members.retain(|name, value| !is_noise(name, value));
            members.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_action_is_described_once_with_its_parameters() {
        let actions = catalogue();
        let actions = actions.as_array().expect("a list");
        let names: HashSet<&str> = actions.iter().filter_map(|action| action["name"].as_str()).collect();
        assert_eq!(names.len(), ACTIONS.len() + SESSION_ACTIONS.len(), "a name occurs twice");
        for action in actions {
            let name = &action["name"];
            assert!(
                action["description"].as_str().is_some_and(|text| text.len() > 10),
                "{name} says nothing"
            );
            assert_eq!(action["parameters"]["type"], "object", "{name}");
            let Some(parameters) = action["parameters"]["properties"].as_object() else { continue };
            for (parameter, schema) in parameters {
                assert!(schema["description"].is_string(), "{name}: {parameter} says nothing");
            }
        }
    }

    #[test]
    fn every_parameter_can_be_given_on_the_command_line() {
        for action in ACTIONS {
            let command = (action.arguments)(clap::Command::new("action"));
            let on_line: HashSet<String> = command
                .get_arguments()
                .flat_map(|argument| {
                    let flag = argument.get_long().map(|flag| flag.replace('-', "_"));
                    flag.into_iter().chain([argument.get_id().to_string()])
                })
                .collect();
            let schema = (action.parameters)();
            for parameter in schema["properties"]
                .as_object()
                .map(|all| all.keys().cloned().collect::<Vec<_>>())
                .unwrap_or_default()
            {
                // A terminal prompts for it: other users can read command lines.
                let is_secret = parameter == "passphrase";
                assert!(
                    is_secret || on_line.contains(&parameter),
                    "{}: {parameter} is not on the command line",
                    action.name
                );
            }
        }
    }
}
