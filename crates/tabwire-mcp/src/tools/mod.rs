//! All tools: the registry's actions, and three tools for the connection and its tabs.

pub(crate) mod arguments;
pub(crate) mod schema;
pub(crate) mod set;

use std::sync::{Arc, OnceLock};

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use tabwire_api::api::ResultForm;
use tabwire_engine::{ACTIONS, Definition, Effect, TabUse, ToolGroup, ToolOptions, ToolResult};

use crate::tools::schema::{ArgumentPlan, first_sentence, object, output_of, schema_of};

/// The verbs of `tab_lease`, with their actions.
pub(crate) const LEASE_VERBS: [(&str, &str); 3] =
    [("take", "tab_lease"), ("release", "tab_release"), ("list", "tab_leases")];

/// The implementation of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ToolKind {
    /// An action of the registry.
    Action(&'static Definition),
    /// Returns the status of the session.
    Status,
    /// Returns the next part of a truncated result.
    More,
    /// Leases a tab to this client.
    Lease,
    /// Runs a script.
    Execute,
    /// Forgets the variables of scripts.
    Reset,
}

/// A tool with its schema.
#[derive(Clone, Debug)]
pub struct OfferedTool {
    /// Its name, the same as the action's.
    pub name: &'static str,
    /// Its group.
    pub group: ToolGroup,
    pub(crate) kind: ToolKind,
    pub(crate) plan: ArgumentPlan,
    tool: Tool,
    output: Arc<Map<String, Value>>,
    /// The form of its result.
    pub(crate) result: ToolResult,
}

impl OfferedTool {
    /// Whether its result has structured content, for a result form and a client that shows it to its model or not.
    pub(crate) const fn returns_structured(&self, form: ResultForm, shows_structured: bool) -> bool {
        match form {
            ResultForm::Auto => matches!(self.result, ToolResult::Data) && shows_structured,
            ResultForm::Text => false,
            ResultForm::Data => true,
        }
    }

    /// The tool as listed to such a client.
    pub(crate) fn listed(&self, form: ResultForm, shows_structured: bool) -> Tool {
        let tool = self.tool.clone();
        if !self.returns_structured(form, shows_structured) {
            return tool;
        }
        let mut output = Arc::clone(&self.output);
        if form == ResultForm::Auto {
            // A truncated result has other members, and a model pays for each name.
            Arc::make_mut(&mut output).retain(|name, _| name == "type");
        }
        tool.with_raw_output_schema(output)
    }

    /// About how many tokens the tool costs in the list.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.json().to_string().len().div_ceil(4)
    }

    /// The tool as JSON, as listed by default.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::to_value(self.listed(ResultForm::Text, false)).unwrap_or(Value::Null)
    }
}

/// Every tool, in the order of the registry. Built once, because generating schemas is slow.
pub fn offered_tools() -> &'static [OfferedTool] {
    static TOOLS: OnceLock<Vec<OfferedTool>> = OnceLock::new();
    TOOLS.get_or_init(|| {
        ACTIONS.iter().filter_map(of_action).chain([status(), more(), lease(), execute(), reset()]).collect()
    })
}

fn of_action(action: &'static Definition) -> Option<OfferedTool> {
    let options = &action.tool?;
    let (schema, plan) = schema_of(action, options);
    let description = options.description.map(str::to_owned).unwrap_or_else(|| {
        let described = (action.parameters)();
        first_sentence(described.get("description").and_then(Value::as_str).unwrap_or_default())
    });
    let tool = Tool::new(action.name, description, schema);
    let annotations = annotations(action, options);
    let tool = if annotations == ToolAnnotations::new() { tool } else { tool.with_annotations(annotations) };
    let result = options.result.unwrap_or(match action.effect {
        Effect::Read | Effect::Eval => ToolResult::Data,
        _ => ToolResult::Text,
    });
    Some(OfferedTool {
        name: action.name,
        group: options.group,
        kind: ToolKind::Action(action),
        plan,
        tool,
        output: Arc::new(output_of(action)),
        result,
    })
}

fn status() -> OfferedTool {
    let tool = Tool::new(
        "status",
        "Show the status of the session, its browser and tabs",
        object(Map::new(), Vec::new()),
    )
    .with_annotations(ToolAnnotations::new().read_only(true).open_world(false));
    own("status", ToolKind::Status, ArgumentPlan::default(), tool)
}

fn more() -> OfferedTool {
    let mut properties = Map::new();
    properties.insert("handle".to_owned(), json!({"type": "string"}));
    let schema = object(properties, vec![json!("handle")]);
    let tool = Tool::new("more", "Read the next part of a truncated result, by its handle", schema)
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false));
    let plan = ArgumentPlan { passed: vec!["handle".to_owned()], ..ArgumentPlan::default() };
    own("more", ToolKind::More, plan, tool)
}

fn lease() -> OfferedTool {
    let mut properties = Map::new();
    properties.insert("verb".to_owned(), json!({"enum": LEASE_VERBS.map(|(verb, _)| verb)}));
    properties
        .insert("seconds".to_owned(), json!({"type": "integer", "description": "Duration, default 600"}));
    properties.insert("tab".to_owned(), json!({"type": "string"}));
    let words = "Take, release or list leases: exclusive use of a tab, which other clients of the session then cannot use";
    let tool = Tool::new("tab_lease", words, object(properties, vec![json!("verb")]))
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).open_world(false));
    let passed = vec!["verb".to_owned(), "seconds".to_owned()];
    let plan = ArgumentPlan { passed, common: vec!["tab"], ..ArgumentPlan::default() };
    OfferedTool {
        group: ToolGroup::Sharing,
        result: ToolResult::Data,
        ..own("tab_lease", ToolKind::Lease, plan, tool)
    }
}

/// The description of `execute`: the only text about scripts that every conversation pays for.
const EXECUTE: &str = "Run JavaScript or TypeScript with a Playwright-like API: `page`, `context`, `expect`, \
`snapshot()`, `console`, `state` (kept between calls), `tabwire.<action>({...})`. Top-level await; the last expression is \
the result. One call can do many steps: loop, filter, print only what you need. Locators as in Playwright (getByRole, \
getByText, locator('css'), locator('aria-ref=e12')). Files only through `fs`, no network of its own. `help()` and `skills()` list more.";

fn execute() -> OfferedTool {
    let mut properties = Map::new();
    properties.insert("code".to_owned(), json!({"type": "string"}));
    properties
        .insert("timeout_ms".to_owned(), json!({"type": "integer", "description": "30000 if left out"}));
    let tool = Tool::new("execute", EXECUTE, object(properties, vec![json!("code")]))
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(true));
    let plan = ArgumentPlan {
        passed: vec!["code".to_owned()],
        common: vec!["timeout_ms"],
        ..ArgumentPlan::default()
    };
    OfferedTool { group: ToolGroup::Execute, ..own("execute", ToolKind::Execute, plan, tool) }
}

fn reset() -> OfferedTool {
    let words = "Forget variables and state of `execute`; tabs stay";
    let tool = Tool::new("reset", words, object(Map::new(), Vec::new()))
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).open_world(false));
    OfferedTool { group: ToolGroup::Execute, ..own("reset", ToolKind::Reset, ArgumentPlan::default(), tool) }
}

fn own(name: &'static str, kind: ToolKind, plan: ArgumentPlan, tool: Tool) -> OfferedTool {
    let output = json!({"type": "object"}).as_object().cloned().unwrap_or_default();
    let (group, result) = (ToolGroup::Default, ToolResult::Text);
    OfferedTool { name, group, kind, plan, tool, output: Arc::new(output), result }
}

/// Annotations for clients that request approval before a tool is used, from the effects of the action.
fn annotations(action: &Definition, options: &ToolOptions) -> ToolAnnotations {
    let hints = ToolAnnotations::new();
    let hints = match action.effect {
        Effect::Read if action.tab == TabUse::Lists => hints.read_only(true).open_world(false),
        Effect::Read => hints.read_only(true),
        // The protocol's defaults, not read-only and destructive, are left out: they cost tokens.
        Effect::Navigate | Effect::Session if action.tab == TabUse::Closes => hints,
        Effect::Navigate | Effect::Session | Effect::Files => hints.destructive(false),
        Effect::Act | Effect::Eval => hints,
    };
    if options.is_idempotent { hints.idempotent(true) } else { hints }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::LIST_TOKENS;
    use crate::tools::set::ToolSet;

    #[test]
    fn default_tools_fit_the_token_limit() {
        let usual = ToolSet::choose(&[]).expect("the usual tools");
        let tools: Vec<Value> = usual.tools().iter().map(|tool| tool.json()).collect();
        let bytes = json!({"tools": tools}).to_string().len();
        assert!(bytes <= LIST_TOKENS * 4, "{bytes} bytes are {} tokens", bytes.div_ceil(4));
    }

    #[test]
    fn tools_that_read_take_a_timeout() {
        let reading = [
            "snapshot",
            "find",
            "get_text",
            "get_html",
            "read_as_markdown",
            "extract_links",
            "screenshot",
            "get",
            "diff",
            "pdf",
        ];
        for name in reading {
            let tool = offered_tools().iter().find(|tool| tool.name == name).expect("a tool");
            assert!(tool.plan.common.contains(&"timeout_ms"), "{name}");
        }
    }

    #[test]
    fn tools_that_change_the_page_can_show_it() {
        let shows = |name: &str| {
            let tool = offered_tools().iter().find(|tool| tool.name == name).expect("a tool");
            tool.plan.common.contains(&"snapshot")
        };
        for name in ["navigate", "back", "forward", "reload", "tab_new", "tab_select", "fill_form", "click"] {
            assert!(shows(name), "{name}");
        }
        for name in ["type", "press", "select", "hover", "scroll", "drag", "mouse", "upload", "dialog"] {
            assert!(shows(name), "{name}");
        }
        for name in ["snapshot", "get_text", "screenshot", "tab_close", "tabs_list", "eval"] {
            assert!(!shows(name), "{name}");
        }
    }

    #[test]
    fn code_mode_costs_at_most_350_tokens() {
        let chosen = ToolSet::choose(&["-all".to_owned(), "execute".to_owned()]).expect("known words");
        assert_eq!(chosen.tools().iter().map(|tool| tool.name).collect::<Vec<_>>(), ["execute", "reset"]);
        let tokens: usize = chosen.tools().iter().map(|tool| tool.tokens()).sum();
        assert!(tokens <= 350, "{tokens} tokens");
    }

    #[test]
    fn output_schema_is_listed_only_with_structured_results() {
        let find = |name: &str| offered_tools().iter().find(|tool| tool.name == name).expect("a tool");
        for (name, form, shows_structured, expected) in [
            ("tabs_list", ResultForm::Auto, true, true),
            ("tabs_list", ResultForm::Auto, false, false),
            ("tabs_list", ResultForm::Text, true, false),
            ("get_text", ResultForm::Auto, true, false),
            ("click", ResultForm::Auto, true, false),
            ("click", ResultForm::Data, true, true),
        ] {
            let listed = find(name).listed(form, shows_structured);
            assert_eq!(listed.output_schema.is_some(), expected, "{name} {form:?}");
            assert_eq!(find(name).returns_structured(form, shows_structured), expected, "{name} {form:?}");
        }
        let data: Vec<&str> = offered_tools()
            .iter()
            .filter(|tool| tool.result == ToolResult::Data)
            .map(|tool| tool.name)
            .collect();
        for expected in ["tabs_list", "eval", "get", "extract_links", "requests", "console", "cookies"] {
            assert!(data.contains(&expected), "{expected} is data: {data:?}");
        }
    }

    #[test]
    fn every_tool_has_a_strict_schema_and_annotations() {
        for offered in offered_tools() {
            let tool = offered.json();
            let name = offered.name;
            assert_eq!(tool["inputSchema"]["additionalProperties"], json!(false), "{name}");
            let is_read = matches!(offered.kind, ToolKind::Action(action) if action.effect == Effect::Read);
            assert!(!is_read || tool["annotations"]["readOnlyHint"] == true, "{name}");
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
            assert!(tool.get("outputSchema").is_none(), "{name}");
            let text = tool.to_string();
            assert!(!text.contains("--") && !text.contains("$ref"), "{name} mentions flags: {text}");
        }
    }
}
