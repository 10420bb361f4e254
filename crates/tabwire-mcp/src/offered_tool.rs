//! Every tool there is: the registry's actions, and two that are about the connection itself.

use std::sync::{Arc, OnceLock};

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use tabwire_engine::{ACTIONS, Definition, Effect};

use crate::tool_schema::{ArgumentPlan, first_sentence, object, output_of, schema_of};

/// Words for models, where those for people at a terminal would mislead.
const WORDS: &[(&str, &str)] = &[
    (
        "click",
        "Click an element: a ref (e12) of a snapshot, or a selector: CSS, text=, role=button[name=\"Pay\"], label=, placeholder=, testid=, xpath=",
    ),
    ("screenshot", "See a picture of what is in view, of the full page, or of an element"),
    ("eval", "Run JavaScript in the page and get the result"),
    (
        "snapshot",
        "See what is on the page: roles, names, states, and refs (e12) for other tools. Look before acting",
    ),
    ("navigate", "Go to an address in the tab"),
    (
        "fill_form",
        "Fill many fields at once; a target is a ref or a selector, a value a text, true, false or a list",
    ),
    ("download_file", "Download a file by its address, or by clicking an element"),
    ("wait_for", "Wait for one condition: an element, text, address, load, script, download or time"),
];

/// What a tool does when it is called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deed {
    /// An action of the registry.
    Action(&'static Definition),
    /// Says how the session is.
    Status,
    /// Goes on with an answer that was cut.
    More,
}

/// A tool as clients are offered it.
#[derive(Clone, Debug)]
pub struct OfferedTool {
    /// Its name, which is the action's.
    pub name: &'static str,
    pub(crate) deed: Deed,
    pub(crate) plan: ArgumentPlan,
    tool: Tool,
    output: Arc<Map<String, Value>>,
}

impl OfferedTool {
    /// The tool as it is listed.
    pub(crate) fn listed(&self, has_output_schema: bool) -> Tool {
        let tool = self.tool.clone();
        if has_output_schema { tool.with_raw_output_schema(Arc::clone(&self.output)) } else { tool }
    }

    /// About how many tokens it costs each client to know the tool.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.json().to_string().len().div_ceil(4)
    }

    /// The tool as it is listed, as data.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::to_value(&self.tool).unwrap_or(Value::Null)
    }
}

/// Every tool, in the order of the registry. Made once: writing schemas takes longer than many an action.
pub fn offered_tools() -> &'static [OfferedTool] {
    static TOOLS: OnceLock<Vec<OfferedTool>> = OnceLock::new();
    TOOLS.get_or_init(|| ACTIONS.iter().map(of_action).chain([status(), more()]).collect())
}

fn of_action(action: &'static Definition) -> OfferedTool {
    let (schema, plan) = schema_of(action);
    let words = WORDS.iter().find(|(name, _)| *name == action.name).map(|(_, words)| (*words).to_owned());
    let words = words.unwrap_or_else(|| {
        let described = (action.parameters)();
        first_sentence(described.get("description").and_then(Value::as_str).unwrap_or_default())
    });
    let tool = Tool::new(action.name, words, schema).with_annotations(annotations(action));
    OfferedTool {
        name: action.name,
        deed: Deed::Action(action),
        plan,
        tool,
        output: Arc::new(output_of(action)),
    }
}

fn status() -> OfferedTool {
    let tool =
        Tool::new("status", "Say how the session, its browser and tabs are", object(Map::new(), Vec::new()))
            .with_annotations(ToolAnnotations::new().read_only(true).open_world(false));
    own("status", Deed::Status, ArgumentPlan::default(), tool)
}

fn more() -> OfferedTool {
    let mut properties = Map::new();
    properties.insert("handle".to_owned(), json!({"type": "string"}));
    let schema = object(properties, vec![json!("handle")]);
    let tool = Tool::new("more", "Go on with an answer that was cut, by the handle it gave", schema)
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false));
    let plan = ArgumentPlan { passed: vec!["handle".to_owned()], ..ArgumentPlan::default() };
    own("more", Deed::More, plan, tool)
}

fn own(name: &'static str, deed: Deed, plan: ArgumentPlan, tool: Tool) -> OfferedTool {
    let output = json!({"type": "object"}).as_object().cloned().unwrap_or_default();
    OfferedTool { name, deed, plan, tool, output: Arc::new(output) }
}

/// Hints for clients that ask before a tool is used, from what the action does to the world.
fn annotations(action: &Definition) -> ToolAnnotations {
    let hints = ToolAnnotations::new();
    match action.effect {
        Effect::Read if action.name == "tabs_list" => hints.read_only(true).open_world(false),
        Effect::Read => hints.read_only(true),
        Effect::Navigate => {
            let hints = hints.read_only(false).destructive(action.name == "tab_close");
            let is_idempotent = ["navigate", "tab_select", "reload"].contains(&action.name);
            if is_idempotent { hints.idempotent(true) } else { hints }
        }
        Effect::Act | Effect::Eval => hints.read_only(false).destructive(true),
        Effect::Files => hints.read_only(false).destructive(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::LIST_TOKENS;
    use crate::tool_set::ToolSet;

    #[test]
    fn the_usual_tools_cost_little() {
        let usual = ToolSet::choose(&[]).expect("the usual tools");
        let tools: Vec<Value> = usual.tools().iter().map(|tool| tool.json()).collect();
        let bytes = json!({"tools": tools}).to_string().len();
        assert!(bytes <= LIST_TOKENS * 4, "{bytes} bytes are {} tokens", bytes.div_ceil(4));
    }

    #[test]
    fn every_tool_refuses_what_it_does_not_know_and_says_what_it_does_to_the_world() {
        for offered in offered_tools() {
            let tool = offered.json();
            let name = offered.name;
            assert_eq!(tool["inputSchema"]["additionalProperties"], json!(false), "{name}");
            assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{name}");
            assert!(tool["description"].as_str().is_some_and(|words| words.len() > 10), "{name}");
            let listed: Vec<&String> =
                tool["inputSchema"]["properties"].as_object().into_iter().flat_map(Map::keys).collect();
            for argument in offered.plan.names() {
                assert!(listed.iter().any(|name| *name == argument), "{name}: {argument} is not listed");
            }
            assert_eq!(
                listed.len(),
                offered.plan.names().len(),
                "{name}: {listed:?} {:?}",
                offered.plan.names()
            );
            let text = tool.to_string();
            assert!(!text.contains("--") && !text.contains("$ref"), "{name} speaks of flags: {text}");
        }
    }
}
