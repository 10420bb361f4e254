//! Parameters made up from an action's schema: every required one, with a plain value of its type.

use serde_json::{Map, Value, json};

/// A value that a schema accepts; objects get their required members only.
pub(crate) fn sample(schema: &Value, definitions: &Value) -> Value {
    if schema.get("x-carries").and_then(Value::as_str) == Some("tab") {
        return json!("pipe:0:1");
    }
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        return sample(&definitions[name], definitions);
    }
    if let Some(first) = schema.get("enum").and_then(|words| words.get(0)) {
        return first.clone();
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    if let Some(first) = ["anyOf", "oneOf"].iter().find_map(|name| schema.get(*name)?.get(0)) {
        return sample(first, definitions);
    }
    let kind = schema.get("type").map_or("", first_type);
    match kind {
        "object" => sample_object(schema, definitions),
        "array" => sample_array(schema, definitions),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => json!("x"),
    }
}

fn first_type(kinds: &Value) -> &str {
    let listed = kinds.as_array().and_then(|kinds| kinds.first());
    listed.unwrap_or(kinds).as_str().unwrap_or_default()
}

fn sample_object(schema: &Value, definitions: &Value) -> Value {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let names = required.filter_map(Value::as_str);
    let members = names.map(|name| (name.to_owned(), sample(&schema["properties"][name], definitions)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn sample_array(schema: &Value, definitions: &Value) -> Value {
    if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
        return items.iter().map(|item| sample(item, definitions)).collect();
    }
    json!([sample(&schema["items"], definitions)])
}
