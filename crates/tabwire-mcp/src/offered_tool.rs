//! Every tool there is: the registry's actions, and three that are about the connection and its tabs.

use std::sync::{Arc, OnceLock};

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use tabwire_engine::{ACTIONS, Definition, Effect};
use tabwire_wire::api::AnswerForm;

use crate::tool_schema::{ArgumentPlan, first_sentence, object, output_of, schema_of};

/// Reads whose result is what a page says, or a picture of it: these are answered in text.
const PAGE_TEXT: [&str; 6] = ["snapshot", "find", "get_text", "get_html", "read_as_markdown", "screenshot"];

/// Actions that count as acting since they can change something, and whose result is data all the same.
const STORES: [&str; 2] = ["cookies", "storage"];

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

/// What `tab_lease` can be told, and the action that each is.
pub(crate) const LEASE_VERBS: [(&str, &str); 3] =
    [("take", "tab_lease"), ("release", "tab_release"), ("list", "tab_leases")];

/// What a tool does when it is called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deed {
    /// An action of the registry.
    Action(&'static Definition),
    /// Says how the session is.
    Status,
    /// Goes on with an answer that was cut.
    More,
    /// Has a tab for this client alone.
    Lease,
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
    /// Whether its result is data rather than something to be read.
    gives_data: bool,
}

impl OfferedTool {
    /// Whether it is answered with data, to a client that wants answers in this form and may know none.
    pub(crate) const fn answers_data(&self, form: AnswerForm, knows_data: bool) -> bool {
        match form {
            AnswerForm::Auto => self.gives_data && knows_data,
            AnswerForm::Text => false,
            AnswerForm::Data => true,
        }
    }

    /// The tool as it is listed to such a client.
    pub(crate) fn listed(&self, form: AnswerForm, knows_data: bool) -> Tool {
        let tool = self.tool.clone();
        if !self.answers_data(form, knows_data) {
            return tool;
        }
        let mut output = Arc::clone(&self.output);
        if form == AnswerForm::Auto {
            // An answer that is cut has other members.
            Arc::make_mut(&mut output).remove("required");
        }
        tool.with_raw_output_schema(output)
    }

    /// About how many tokens it costs each client to know the tool.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.json().to_string().len().div_ceil(4)
    }

    /// The tool as it is listed unless told otherwise, as data.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::to_value(self.listed(AnswerForm::Auto, true)).unwrap_or(Value::Null)
    }
}

/// Every tool, in the order of the registry. Made once: writing schemas takes longer than many an action.
pub fn offered_tools() -> &'static [OfferedTool] {
    static TOOLS: OnceLock<Vec<OfferedTool>> = OnceLock::new();
    TOOLS.get_or_init(|| ACTIONS.iter().map(of_action).chain([status(), more(), lease()]).collect())
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
        gives_data: gives_data(action),
    }
}

/// Whether an action's result is data: what is read from a page or computed in it, unless it is the page's text.
fn gives_data(action: &Definition) -> bool {
    let reads = matches!(action.effect, Effect::Read | Effect::Eval);
    (reads && !PAGE_TEXT.contains(&action.name)) || STORES.contains(&action.name)
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

fn lease() -> OfferedTool {
    let mut properties = Map::new();
    properties.insert("verb".to_owned(), json!({"enum": LEASE_VERBS.map(|(verb, _)| verb)}));
    properties
        .insert("seconds".to_owned(), json!({"type": "integer", "description": "How long, 600 if left out"}));
    properties.insert("tab".to_owned(), json!({"type": "string"}));
    let words = "Have a tab for yourself, so that other clients of the session keep off it; give it back; see who has which";
    let tool = Tool::new("tab_lease", words, object(properties, vec![json!("verb")]))
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).open_world(false));
    let passed = vec!["verb".to_owned(), "seconds".to_owned()];
    let plan = ArgumentPlan { passed, common: vec!["tab"], ..ArgumentPlan::default() };
    OfferedTool { gives_data: true, ..own("tab_lease", Deed::Lease, plan, tool) }
}

fn own(name: &'static str, deed: Deed, plan: ArgumentPlan, tool: Tool) -> OfferedTool {
    let output = json!({"type": "object"}).as_object().cloned().unwrap_or_default();
    OfferedTool { name, deed, plan, tool, output: Arc::new(output), gives_data: false }
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
    fn a_schema_comes_with_data_and_only_with_data() {
        let find = |name: &str| offered_tools().iter().find(|tool| tool.name == name).expect("a tool");
        for (name, form, knows_data, expected) in [
            ("tabs_list", AnswerForm::Auto, true, true),
            ("tabs_list", AnswerForm::Auto, false, false),
            ("tabs_list", AnswerForm::Text, true, false),
            ("get_text", AnswerForm::Auto, true, false),
            ("click", AnswerForm::Auto, true, false),
            ("click", AnswerForm::Data, true, true),
        ] {
            let listed = find(name).listed(form, knows_data);
            assert_eq!(listed.output_schema.is_some(), expected, "{name} {form:?}");
            assert_eq!(find(name).answers_data(form, knows_data), expected, "{name} {form:?}");
        }
        let data: Vec<&str> =
            offered_tools().iter().filter(|tool| tool.gives_data).map(|tool| tool.name).collect();
        for expected in ["tabs_list", "eval", "get", "extract_links", "requests", "console", "cookies"] {
            assert!(data.contains(&expected), "{expected} is data: {data:?}");
        }
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
            assert_eq!(tool.get("outputSchema").is_some(), offered.gives_data, "{name}");
            let text = tool.to_string();
            assert!(!text.contains("--") && !text.contains("$ref"), "{name} speaks of flags: {text}");
        }
    }
}
