//! The actions as TypeScript, for scripts: `tabwire.click({ target: "e3" })`.

use serde_json::{Value, json};

use crate::action::catalogue::catalogue;
use crate::action::registry::SESSION_ACTIONS;

/// The interface of `tabwire` and the types of its parameters, one member per line.
#[must_use]
pub fn typescript_actions() -> String {
    let catalogue = catalogue();
    let actions: Vec<&Value> = catalogue
        .as_array()
        .into_iter()
        .flatten()
        .filter(|action| !SESSION_ACTIONS.iter().any(|one| action["name"] == one.name))
        .collect();
    let mut text = String::from(
        "interface ActionOptions extends Timeout {\n  /** The tab; the client's current tab by default. */\n  tab?: string;\n}\n",
    );
    text.push_str("interface TabwireActions {\n");
    for action in &actions {
        let name = action["name"].as_str().unwrap_or_default();
        let needs = action["parameters"]["required"].as_array().is_some_and(|required| !required.is_empty());
        text.push_str(&comment("  ", first_line(&action["description"])));
        let optional = if needs { "" } else { "?" };
        let kind = interface_name(name);
        text.push_str(&format!(
            "  {name}(params{optional}: {kind}, options?: ActionOptions): Promise<any>;\n"
        ));
    }
    text.push_str("}\n");
    for action in actions {
        text.push_str(&parameters(action));
    }
    text
}

fn parameters(action: &Value) -> String {
    let schema = &action["parameters"];
    let name = action["name"].as_str().unwrap_or_default();
    let mut text = format!("interface {} {{\n", interface_name(name));
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_required =
            schema["required"].as_array().is_some_and(|required| required.contains(&json!(name)));
        text.push_str(&comment("  ", first_line(&property["description"])));
        let optional = if is_required { "" } else { "?" };
        text.push_str(&format!("  {name}{optional}: {};\n", type_of(property, &schema["$defs"])));
    }
    text.push_str("}\n");
    text
}

/// `tab_new` as `TabNewParams`.
fn interface_name(action: &str) -> String {
    let words = action.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
    });
    words.flatten().collect::<String>() + "Params"
}

fn first_line(text: &Value) -> String {
    let paragraph = text.as_str().unwrap_or_default().split("\n\n").next().unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "* /")
}

fn comment(indent: &str, text: String) -> String {
    if text.is_empty() { text } else { format!("{indent}/** {text} */\n") }
}

/// The type of a schema. Null is left out: a parameter that may be null may be left out.
fn type_of(schema: &Value, definitions: &Value) -> String {
    if let Some(path) = schema["$ref"].as_str() {
        let name = path.rsplit('/').next().unwrap_or_default();
        return type_of(&definitions[name], definitions);
    }
    let choices = ["anyOf", "oneOf"].iter().find_map(|word| schema[*word].as_array());
    if let Some(choices) = choices {
        return union(choices.iter().map(|choice| type_of(choice, definitions)));
    }
    if let Some(words) = schema["enum"].as_array() {
        return union(words.iter().filter(|word| !word.is_null()).map(ToString::to_string));
    }
    if let Some(word) = schema.get("const") {
        return word.to_string();
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        Value::String(kind) => vec![kind],
        _ => return "any".to_owned(),
    };
    union(kinds.into_iter().map(|kind| match kind {
        "string" => "string".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => String::new(),
        "array" if schema["items"].is_object() => match type_of(&schema["items"], definitions) {
            inner if inner.contains(' ') => format!("({inner})[]"),
            inner => format!("{inner}[]"),
        },
        "array" => "any[]".to_owned(),
        "object" => match schema["properties"].as_object() {
            Some(members) => {
                let required = schema["required"].as_array();
                let members = members.iter().map(|(name, member)| {
                    let is_required = required.is_some_and(|required| required.contains(&json!(name)));
                    let optional = if is_required { "" } else { "?" };
                    format!("{name}{optional}: {}", type_of(member, definitions))
                });
                format!("{{ {} }}", members.collect::<Vec<_>>().join("; "))
            }
            None => "Record<string, any>".to_owned(),
        },
        _ => "any".to_owned(),
    }))
}

/// The choices joined, each once.
fn union(choices: impl Iterator<Item = String>) -> String {
    let mut kept: Vec<String> = Vec::new();
    for choice in choices.filter(|choice| !choice.is_empty()) {
        if !kept.contains(&choice) {
            kept.push(choice);
        }
    }
    if kept.is_empty() { "any".to_owned() } else { kept.join(" | ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_a_function_with_types() {
        let text = typescript_actions();
        for action in crate::ACTIONS {
            assert!(text.contains(&format!("\n  {}(params", action.name)), "{}", action.name);
        }
        assert!(
            text.contains("click(params: ClickParams, options?: ActionOptions): Promise<any>;"),
            "{text}"
        );
        assert!(!text.contains("session_stop"));
    }

    #[test]
    fn schemas_become_types() {
        let none = json!({});
        assert_eq!(type_of(&json!({"type": ["integer", "null"]}), &none), "number");
        assert_eq!(type_of(&json!({"type": "array", "items": {"type": "string"}}), &none), "string[]");
        assert_eq!(type_of(&json!({"enum": ["a", "b"]}), &none), "\"a\" | \"b\"");
        let list = json!({"type": "array", "items": {"oneOf": [{"const": "x"}, {"const": "y"}]}});
        assert_eq!(type_of(&list, &none), "(\"x\" | \"y\")[]");
        let named = json!({"$ref": "#/$defs/A"});
        assert_eq!(type_of(&named, &json!({"A": {"type": "boolean"}})), "boolean");
    }
}
