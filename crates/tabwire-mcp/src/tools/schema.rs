//! The schema of a tool's arguments: a short form of the action's schema, because every conversation pays for its
//! tokens.
//!
//! Elements, tabs and timeouts have the same arguments in every tool.

use serde_json::{Map, Value, json};
use tabwire_engine::{Definition, Effect, ToolOptions};

/// Parameters of actions that name an element. Tools have `ref` and `selector` instead.
const ELEMENTS: [&str; 2] = ["target", "element"];

/// How the arguments of a tool become the parameters of its action.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArgumentPlan {
    /// The parameter for the element, and whether an element is required.
    pub(crate) element: Option<(&'static str, Need)>,
    /// Arguments whose parameter has another name.
    pub(crate) renamed: Vec<(&'static str, String)>,
    /// Parameters that are passed unchanged.
    pub(crate) passed: Vec<String>,
    /// Arguments of the call, which the action does not receive.
    pub(crate) common: Vec<&'static str>,
}

/// Whether an element is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Must,
    May,
}

impl ArgumentPlan {
    /// Every argument's name, in the order of the list.
    pub(crate) fn names(&self) -> Vec<&str> {
        let element = self.element.iter().flat_map(|_| ["ref", "selector"]);
        let renamed = self.renamed.iter().map(|(argument, _)| *argument);
        element
            .chain(renamed)
            .chain(self.passed.iter().map(String::as_str))
            .chain(self.common.iter().copied())
            .collect()
    }
}

/// The schema of a tool, and how its arguments are parsed.
pub(crate) fn schema_of(action: &Definition, options: &ToolOptions) -> (Map<String, Value>, ArgumentPlan) {
    let schema = (action.parameters)();
    let definitions = schema.get("$defs").cloned().unwrap_or(Value::Null);
    let mut plan = ArgumentPlan::default();
    let mut properties = Map::new();
    let mut musts = Vec::new();
    for parameter in action.parameter_list().iter() {
        let (name, is_required) = (&parameter.name, parameter.is_required);
        if options.hidden.contains(&name.as_str()) {
            continue;
        }
        if let Some(element) = ELEMENTS.into_iter().find(|element| *element == name) {
            let need = if is_required { Need::Must } else { Need::May };
            plan.element = Some((element, need));
            properties.insert("ref".to_owned(), json!({"type": "string"}));
            properties.insert("selector".to_owned(), json!({"type": "string"}));
            continue;
        }
        let argument = if parameter.carries("tab") { "tab" } else { name.as_str() };
        if argument == name {
            plan.passed.push(name.clone());
        } else {
            plan.renamed.push(("tab", name.clone()));
        }
        let property = &schema["properties"][name];
        let is_described = argument != "nth" && argument != "tab";
        properties.insert(argument.to_owned(), lean(property, &definitions, is_described));
        if is_required {
            musts.push(json!(argument));
        }
    }
    add_common(action, options, &mut properties, &mut plan);
    (object(properties, musts), plan)
}

/// Adds the arguments of the call.
fn add_common(
    action: &Definition,
    options: &ToolOptions,
    properties: &mut Map<String, Value>,
    plan: &mut ArgumentPlan,
) {
    if let Some(words) = snapshot_words(action) {
        properties.insert("snapshot".to_owned(), json!({"type": "boolean", "description": words}));
        plan.common.push("snapshot");
    }
    // A tool that reads an element gives up after a few seconds without it.
    let reads_element = action.effect == Effect::Read && plan.element.is_some();
    if options.has_timeout || reads_element {
        properties.insert("timeout_ms".to_owned(), json!({"type": "integer"}));
        plan.common.push("timeout_ms");
    }
    if action.tab.runs_in_tab() {
        properties.insert("tab".to_owned(), json!({"type": "string"}));
        plan.common.push("tab");
    }
}

/// What `snapshot` adds to the result; nothing for an action whose result cannot hold one.
fn snapshot_words(action: &Definition) -> Option<&'static str> {
    let words = match action.effect {
        Effect::Navigate => "Show the page",
        Effect::Act | Effect::Files => "Show changes",
        Effect::Read | Effect::Eval | Effect::Session => return None,
    };
    let result = (action.output)();
    let definitions = result.get("$defs").cloned().unwrap_or(Value::Null);
    let result = referred(&result, &definitions).unwrap_or(&result);
    result.pointer("/properties/snapshot").is_some().then_some(words)
}

/// The schema of an object with these members only.
pub(crate) fn object(properties: Map<String, Value>, musts: Vec<Value>) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !musts.is_empty() {
        schema.insert("required".to_owned(), Value::Array(musts));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// A parameter's schema without defaults, bounds, `null` and references, which do not help a model.
fn lean(schema: &Value, definitions: &Value, is_described: bool) -> Value {
    let mut lean_schema = bare(schema, definitions);
    let words = schema.get("description").and_then(Value::as_str).filter(|_| is_described);
    if let (Some(words), Some(members)) = (words, lean_schema.as_object_mut()) {
        members.insert("description".to_owned(), json!(first_sentence(words)));
    }
    lean_schema
}

/// Only the type of a schema.
fn bare(schema: &Value, definitions: &Value) -> Value {
    if let Some(definition) = referred(schema, definitions) {
        return bare(definition, definitions);
    }
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let choice = choices.iter().find(|choice| choice.get("type") != Some(&json!("null")));
        return choice.map_or_else(|| json!({}), |choice| bare(choice, definitions));
    }
    if let Some(choices) = schema.get("oneOf").and_then(Value::as_array) {
        let words: Vec<&Value> = choices.iter().filter_map(|choice| choice.get("const")).collect();
        return json!({"enum": words});
    }
    let mut lean_schema = Map::new();
    if let Some(kind) = schema.get("type") {
        let kind = kind
            .as_array()
            .and_then(|kinds| kinds.iter().find(|kind| **kind != json!("null")))
            .unwrap_or(kind);
        lean_schema.insert("type".to_owned(), kind.clone());
    }
    if let Some(words) = schema.get("enum") {
        lean_schema.insert("enum".to_owned(), words.clone());
    }
    if let Some(items) = schema.get("items") {
        lean_schema.insert("items".to_owned(), bare(items, definitions));
    } else if schema.get("prefixItems").is_some() {
        lean_schema.insert("items".to_owned(), json!({"type": "number"}));
    }
    if let Some(members) = schema.get("properties").and_then(Value::as_object) {
        let members: Map<String, Value> =
            members.iter().map(|(name, member)| (name.clone(), bare(member, definitions))).collect();
        lean_schema.insert("properties".to_owned(), Value::Object(members));
        lean_schema.extend(schema.get("required").map(|musts| ("required".to_owned(), musts.clone())));
    }
    Value::Object(lean_schema)
}

fn referred<'a>(schema: &Value, definitions: &'a Value) -> Option<&'a Value> {
    let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
    definitions.get(name)
}

/// The first sentence without its full stop.
pub(crate) fn first_sentence(words: &str) -> String {
    let line = words.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let end = line.find(". ").unwrap_or(line.len());
    line[..end].trim().trim_end_matches('.').to_owned()
}

/// The short schema of an action's result: the required members and their types.
pub(crate) fn output_of(action: &Definition) -> Map<String, Value> {
    let schema = (action.output)();
    let definitions = schema.get("$defs").cloned().unwrap_or(Value::Null);
    let required: Vec<Value> = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let properties: Map<String, Value> = members
        .filter(|(name, _)| required.iter().any(|must| must.as_str() == Some(name)))
        .map(|(name, member)| {
            let kind = bare(member, &definitions);
            let kind = kind.get("type").filter(|_| member.get("type").is_some_and(Value::is_string));
            (name.clone(), kind.map_or_else(|| json!({}), |kind| json!({"type": kind})))
        })
        .collect();
    let musts = if properties.is_empty() { Vec::new() } else { required };
    let mut lean_schema = object(properties, musts);
    lean_schema.remove("additionalProperties");
    lean_schema
}
