//! Generates tool arguments from the JSON schemas, so that new actions are called too.

use serde_json::{Map, Value, json};

use crate::support::fixture_site::FixtureSite;

/// The text typed into a password field.
pub(crate) const PASSWORD: &str = "Pwd canary&<7b\"xQ4>3";

/// A value for an argument, by its name and type.
fn value(tool: &str, name: &str, schema: &Value, site: &FixtureSite) -> Value {
    match name {
        "url" => json!(site.page("/form")),
        "expression" => json!("document.documentElement.outerHTML + location + document.title"),
        "value" | "text" if tool != "find" => json!(PASSWORD),
        "name" => json!("shop"),
        "area" => json!("local"),
        "number" => json!(2),
        "point" => json!([60, 60]),
        _ => match schema["type"].as_str().unwrap_or_default() {
            "integer" | "number" => json!(1),
            "boolean" => json!(true),
            "array" => json!(["a"]),
            _ => json!("a"),
        },
    }
}

/// Flags that show secrets: those of the page only, never the vault's or Tabwire's own.
pub(crate) const REVEALING: [&str; 3] = ["reveal", "show_secrets", "values"];

/// Flags that stay unset: one removes the secret from the page, the other sends it to a page that shows it.
const UNSET: [&str; 2] = ["clear", "submit"];

/// Arguments for a tool: the required ones; those with each value of its first enum; those with every flag
/// set.
pub(crate) fn arguments(tool: &Value, site: &FixtureSite) -> Vec<Value> {
    let name = tool["name"].as_str().unwrap_or_default();
    let schema = &tool["inputSchema"];
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let mut plain = Map::new();
    for (argument, property) in
        properties.iter().filter(|(argument, _)| required.contains(&argument.as_str()))
    {
        plain.insert(argument.clone(), value(name, argument, property, site));
    }
    if properties.contains_key("selector") {
        plain.insert("selector".to_owned(), json!("#password"));
    }
    let mut all = vec![Value::Object(plain.clone())];
    let choice = ["verb", "action", "what", "area"].into_iter().find(|name| properties.contains_key(*name));
    for word in
        choice.into_iter().flat_map(|name| properties[name]["enum"].as_array().cloned().unwrap_or_default())
    {
        let mut chosen = plain.clone();
        chosen.insert(choice.unwrap_or_default().to_owned(), word);
        all.push(Value::Object(chosen));
    }
    let flags = properties
        .iter()
        .filter(|(name, property)| property["type"] == "boolean" && !UNSET.contains(&name.as_str()));
    let (revealing, others): (Vec<_>, Vec<_>) =
        flags.partition(|(name, _)| REVEALING.contains(&name.as_str()));
    let mut flagged = plain;
    flagged.extend(others.into_iter().map(|(name, _)| (name.clone(), json!(true))));
    all.push(Value::Object(flagged.clone()));
    if !revealing.is_empty() {
        flagged.extend(revealing.into_iter().map(|(name, _)| (name.clone(), json!(true))));
        all.push(Value::Object(flagged));
    }
    all
}
