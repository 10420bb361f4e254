//! Every parameter of every action is classified by what it can carry, and the action's needs follow from it.
//!
//! A field declares its class with `#[schemars(extend("x-carries" = "..."))]`. These tests read the schemas, so a new
//! parameter without a class fails here, and so does one whose class the action's `needs` ignores.

use serde_json::{Map, Value, json};
use tabwire_engine::{ACTIONS, Definition, SCRIPT_ACTIONS};
use tabwire_policy::{Capability, Needs, Scope};

const URL: &str = "https://other.example/page";

/// The rules: what a class of parameters must need when such a parameter is given.
fn holds(class: &str, needs: &Needs) -> bool {
    let every_site = || needs.iter().any(|need| need.scope == Scope::EverySite);
    let names_url = || needs.urls().any(|url| url == URL);
    match class {
        // Selects an element, a tab or lines to show; typed into the page like user input; or a file that only Tabwire
        // reads, such as one with a passphrase.
        "target" | "tab" | "text" | "pattern" | "file_read" => true,
        "code" | "response" | "request" => needs.has(Capability::Eval),
        "url" | "origin" | "target_or_url" => names_url(),
        "domain" => every_site(),
        // Each request gets a header only where its own origin has `act`.
        "permission" | "header" => needs.has(Capability::Act),
        "file_written" => needs.has(Capability::Download),
        "file_given" => needs.has(Capability::Upload),
        "file_written_or_given" => needs.has(Capability::Download) || needs.has(Capability::Upload),
        _ => false,
    }
}

/// Words in a parameter's name or description that suggest code, a URL, or a file.
const SUSPICIOUS_WORDS: &[&str] = &[
    "url",
    "origin",
    "file",
    "path",
    "directory",
    "output",
    "script",
    "function",
    "expression",
    "domain",
    "host",
    "header",
    "body",
];

/// Parameters whose words suggest more than they can carry, each with the reason.
const HARMLESS: &[(&str, &str, &str)] = &[
    ("cookies", "path", "a part of a cookie, not a file"),
    ("emulate", "user_agent", "the browser's name; `headers` is judged"),
    ("find", "text", "a pattern that is searched for in the daemon"),
    ("frame", "frame", "selects one of the page's frames"),
    ("get", "names", "names of attributes, properties and styles"),
    ("headers", "remove", "a header's name; nothing is sent"),
    ("http_fetch", "body", "sent to the URL that is judged, with its length"),
    ("http_fetch", "headers", "sent to the URL that is judged, with its length"),
    ("http_fetch", "method", "sent to the URL that is judged"),
    ("http_auth", "password", "given to the origin that is judged"),
    ("http_auth", "user", "given to the origin that is judged"),
    ("login", "passphrase_file", "only Tabwire reads it"),
    ("login", "passphrase", "only Tabwire uses it"),
    ("requests", "url", "a pattern that requests are compared with"),
    ("route", "url", "a pattern; each held request is judged by its own URL"),
    ("route_decision", "body", "the paused request is judged by its own URL, with `eval`"),
    ("route_decision", "headers", "the paused request is judged by its own URL, with `eval`"),
    ("route_decision", "remove_headers", "the paused request is judged by its own URL, with `eval`"),
    ("set_files", "files", "content from memory; the action needs `upload`"),
    ("state", "passphrase_file", "only Tabwire reads it"),
    ("state", "passphrase", "only Tabwire uses it"),
    ("unroute", "route", "a pattern that routes are compared with"),
    ("wait_for", "url", "a pattern that the page's URL is compared with"),
    ("wait_for", "download", "waits; writes nothing"),
];

/// A schema with references resolved.
fn resolved<'a>(schema: &'a Value, definitions: &'a Value) -> &'a Value {
    match schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        Some(name) => resolved(&definitions[name], definitions),
        None => schema,
    }
}

/// Whether a parameter can hold any text, so that it has to be classified.
fn takes_any_text(schema: &Value, definitions: &Value) -> bool {
    let schema = resolved(schema, definitions);
    let choices = ["anyOf", "oneOf"].iter().filter_map(|name| schema.get(*name)?.as_array()).flatten();
    let mut choices = choices.peekable();
    if choices.peek().is_some() {
        return choices.any(|choice| takes_any_text(choice, definitions));
    }
    if schema.get("enum").is_some() || schema.get("const").is_some() {
        return false;
    }
    let kinds = match schema.get("type") {
        // A schema without a type accepts everything.
        None => return true,
        Some(Value::Array(kinds)) => kinds.clone(),
        Some(kind) => vec![kind.clone()],
    };
    kinds.iter().filter_map(Value::as_str).any(|kind| match kind {
        "string" => true,
        "array" => schema.get("items").is_some_and(|items| takes_any_text(items, definitions)),
        "object" => true,
        _ => false,
    })
}

/// A value for a parameter: the URL where text is taken.
fn value_for(schema: &Value, definitions: &Value) -> Value {
    let schema = resolved(schema, definitions);
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        return value_for(&choices[0], definitions);
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds[0].clone(),
        Some(kind) => kind.clone(),
        None => Value::Null,
    };
    match kind.as_str() {
        Some("array") => json!([value_for(&schema["items"], definitions)]),
        Some("object") => {
            let members = schema["properties"].as_object().cloned().unwrap_or_default();
            let given = members.iter().map(|(name, member)| (name.clone(), value_for(member, definitions)));
            Value::Object(given.collect::<Map<_, _>>())
        }
        _ => json!(URL),
    }
}

/// Every combination of the action's words (`add`, `list`, ...), each with the required parameters.
fn variants(action: &Definition, schema: &Value, definitions: &Value) -> Vec<Value> {
    let mut variants = vec![action.sample_parameters()];
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let property = resolved(property, definitions);
        let words: Vec<&Value> = match (property.get("enum"), property.get("oneOf")) {
            (Some(words), _) => words.as_array().into_iter().flatten().collect(),
            (None, Some(choices)) => {
                choices.as_array().into_iter().flatten().filter_map(|choice| choice.get("const")).collect()
            }
            _ => continue,
        };
        let with = |variant: &Value, word: &Value| {
            let mut variant = variant.clone();
            variant[name] = word.clone();
            variant
        };
        variants = variants
            .iter()
            .flat_map(|variant| words.iter().map(move |word| with(variant, word)).collect::<Vec<_>>())
            .collect();
    }
    variants
}

/// Calls `visit` with every parameter of every action that takes text: action, name, schema and variants.
fn walk(mut visit: impl FnMut(&Definition, &str, &Value, &Value, &[Value])) {
    for action in ACTIONS.iter().chain(SCRIPT_ACTIONS) {
        let schema = (action.parameters)();
        let definitions = schema.get("$defs").cloned().unwrap_or(Value::Null);
        let variants = variants(action, &schema, &definitions);
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if takes_any_text(property, &definitions) {
                visit(action, name, property, &definitions, &variants);
            }
        }
    }
}

#[test]
fn every_text_parameter_has_a_class_that_its_needs_respect() {
    let mut faults = Vec::new();
    walk(|action, name, property, definitions, variants| {
        let Some(class) = property.get("x-carries").and_then(Value::as_str) else {
            faults.push(format!("{} {name}: no class", action.name));
            return;
        };
        let with = |variant: &Value| {
            let mut variant = variant.clone();
            variant[name] = match (class, action.name, name) {
                ("tab", ..) => json!("pipe:0:1"),
                // Only two numbers are read.
                (_, "scroll", "by") => json!("0,600"),
                _ => value_for(property, definitions),
            };
            // One of two: an element or a URL.
            if action.name == "download_file" && name == "url" {
                variant.as_object_mut().map(|members| members.remove("target"));
            }
            variant
        };
        let needs = |variant: &Value| action.needs(&with(variant));
        let shown =
            variants.iter().filter_map(|variant| needs(variant).ok()).any(|needs| holds(class, &needs));
        if !shown {
            let all: Vec<_> = variants.iter().map(needs).collect();
            faults.push(format!("{} {name}: {class} is not needed: {all:?}", action.name));
        }
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn parameters_named_like_code_or_files_are_not_harmless() {
    let mut faults = Vec::new();
    walk(|action, name, property, _, _| {
        let class = property.get("x-carries").and_then(Value::as_str).unwrap_or_default();
        if !["target", "tab", "text", "pattern", "file_read"].contains(&class) {
            return;
        }
        let sounds = SUSPICIOUS_WORDS.iter().any(|word| name.split('_').any(|part| part == *word));
        let is_listed = HARMLESS.iter().any(|(one, parameter, _)| *one == action.name && *parameter == name);
        if sounds && !is_listed {
            faults.push(format!("{} {name} is classed as {class}", action.name));
        }
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let files: Vec<(&str, String)> = {
        let mut files = Vec::new();
        walk(|action, name, property, _, _| {
            if property["x-carries"] == "file_read" {
                files.push((action.name, name.to_owned()));
            }
        });
        files
    };
    let expected = [("login", "passphrase_file"), ("state", "passphrase_file"), ("diff", "baseline")];
    for (action, name) in &files {
        assert!(expected.contains(&(action, name.as_str())), "{action} {name} is read without `upload`");
    }
}

#[test]
fn needs_follow_from_the_parameters() {
    let needs = |name: &str, params: Value| {
        let action = ACTIONS.iter().find(|action| action.name == name).expect(name);
        action.needs(&params).expect("valid parameters")
    };
    let words = |needs: &Needs| {
        let mut words: Vec<String> =
            needs.iter().map(|need| format!("{} {:?}", need.capability.as_str(), need.scope)).collect();
        words.sort();
        words
    };
    let rows = [
        ("wait_for", json!({"text": "x"}), vec!["read Page"]),
        ("wait_for", json!({"function": "1"}), vec!["eval Page", "read Page"]),
        ("route", json!({}), vec!["read Tab"]),
        ("route", json!({"url": "*", "abort": "blocked"}), vec!["act Tab"]),
        ("route", json!({"url": "*", "body": "x"}), vec!["act Tab", "eval Page"]),
        ("route", json!({"url": "*", "set_header": ["A: b"]}), vec!["act Tab", "eval Page"]),
        ("route", json!({"url": "*", "body_file": "x"}), vec!["act Tab", "eval Page", "upload Page"]),
        ("request", json!({"number": 1}), vec!["read Page"]),
        ("request", json!({"number": 1, "show_secrets": true}), vec!["eval Page", "read Page"]),
        ("request", json!({"number": 1, "save": ["response-body"]}), vec!["download Page", "read Page"]),
        ("pdf", json!({}), vec!["read Page"]),
        ("pdf", json!({"output": "a.pdf"}), vec!["download Page", "read Page"]),
        ("screenshot", json!({"output": "a.png"}), vec!["download Page", "read Page"]),
        ("headers", json!({}), vec!["act Tab"]),
        ("headers", json!({"headers": ["Cookie: a"]}), vec!["act Tab"]),
        ("emulate", json!({"viewport": "390x844"}), vec!["act Tab"]),
        ("emulate", json!({"grant": ["geolocation"]}), vec!["act Page", "act Tab"]),
        (
            "emulate",
            json!({"grant": ["geolocation"], "origin": URL}),
            vec!["act Tab", "act Url(\"https://other.example/page\")"],
        ),
        (
            "emulate",
            json!({"grant": ["clipboard-read"]}),
            vec!["act EverySite", "act Page", "act Tab", "read EverySite"],
        ),
        ("get", json!({"what": "value", "target": "e1", "reveal": true}), vec!["eval Page", "read Page"]),
        ("har", json!({"action": "replay", "file": "a"}), vec!["eval Page", "read Page", "upload Page"]),
        ("init_script", json!({"verb": "add", "script": "1"}), vec!["eval EverySite"]),
        (
            "download_file",
            json!({"target": URL}),
            vec!["download Page", "download Url(\"https://other.example/page\")"],
        ),
    ];
    for (name, params, expected) in rows {
        assert_eq!(words(&needs(name, params.clone())), expected, "{name} {params}");
    }
}
