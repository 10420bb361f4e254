//! Which tools a client is offered. A table of groups, and how a choice of them is read.

use tabwire_engine::find_similar;
use tabwire_wire::{ErrorCode, Failure};

use crate::offered_tool::{OfferedTool, offered_tools};

/// The tools that are offered unless told otherwise.
pub const DEFAULT_TOOLS: &[&str] = &[
    "tabs_list",
    "tab_select",
    "tab_new",
    "tab_close",
    "navigate",
    "back",
    "forward",
    "reload",
    "snapshot",
    "click",
    "fill",
    "select",
    "type",
    "press",
    "hover",
    "scroll",
    "screenshot",
    "get_text",
    "get_html",
    "eval",
    "wait_for",
    "extract_links",
    "read_as_markdown",
    "fill_form",
    "download_file",
    "dialog",
    "status",
    "more",
];

/// Groups of further tools. Every action is in exactly one group or among the usual ones; a test says so.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("input", &["find", "get", "dblclick", "tap", "drag", "check", "uncheck", "focus", "frame"]),
    (
        "network",
        &["requests", "request", "route", "unroute", "har", "offline", "throttle", "headers", "http_auth"],
    ),
    ("state", &["cookies", "storage", "state", "login", "clipboard"]),
    ("emulate", &["emulate", "init_script"]),
    ("files", &["upload", "downloads", "pdf"]),
    ("evidence", &["console", "errors", "capture", "record", "trace", "vitals", "diff"]),
    ("vision", &["mouse", "inspect"]),
    ("sharing", &["tab_lease"]),
];

/// The word for every tool there is.
const ALL: &str = "all";

/// The word for the usual ones, which are meant anyway.
const USUAL: &str = "default";

/// The tools that one client is offered.
#[derive(Clone, Debug)]
pub struct ToolSet {
    tools: Vec<&'static OfferedTool>,
}

impl ToolSet {
    /// Reads a choice: groups and names are added to the usual tools, `-NAME` takes a tool or group away.
    ///
    /// # Errors
    /// When a word is neither a group nor a tool.
    pub fn choose(words: &[String]) -> Result<Self, Failure> {
        let mut names: Vec<&str> = DEFAULT_TOOLS.to_vec();
        for word in words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()) {
            match word.strip_prefix('-') {
                Some(unwanted) => {
                    let unwanted = named(unwanted)?;
                    names.retain(|name| !unwanted.contains(name));
                }
                None => names.extend(named(word)?),
            }
        }
        let tools = offered_tools().iter().filter(|tool| names.contains(&tool.name)).collect();
        Ok(Self { tools })
    }

    /// The tools, in the order they are listed.
    #[must_use]
    pub fn tools(&self) -> &[&'static OfferedTool] {
        &self.tools
    }

    /// The tool with this name, if it is offered.
    pub(crate) fn find(&self, name: &str) -> Option<&'static OfferedTool> {
        self.tools.iter().copied().find(|tool| tool.name == name)
    }

    /// Why there is no such tool here, and what there is.
    pub(crate) fn refuse(&self, name: &str) -> String {
        let group = GROUPS.iter().find(|(_, tools)| tools.contains(&name)).map(|(group, _)| group);
        if let Some(group) = group {
            return format!(
                "The tool `{name}` is not offered here. Start the server with `tabwire mcp --tools {group}`."
            );
        }
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
        let meant = find_similar(name, names.iter().copied());
        let meant = meant.map(|meant| format!(" Did you mean `{meant}`?")).unwrap_or_default();
        format!("There is no tool `{name}`.{meant} The tools are: {}.", names.join(", "))
    }
}

fn named(word: &str) -> Result<Vec<&'static str>, Failure> {
    if word == ALL {
        return Ok(offered_tools().iter().map(|tool| tool.name).collect());
    }
    if word == USUAL {
        return Ok(DEFAULT_TOOLS.to_vec());
    }
    if let Some((_, tools)) = GROUPS.iter().find(|(group, _)| *group == word) {
        return Ok(tools.to_vec());
    }
    if let Some(tool) = offered_tools().iter().find(|tool| tool.name == word) {
        return Ok(vec![tool.name]);
    }
    let groups: Vec<&str> = GROUPS.iter().map(|(group, _)| *group).chain([ALL]).collect();
    let message = format!("`{word}` is neither a group of tools nor a tool.");
    Err(Failure::new(ErrorCode::BadArgs, message).with_hint(format!(
        "The groups are: {}. `tabwire mcp --list-tools --tools all` lists every tool.",
        groups.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use tabwire_engine::ACTIONS;

    use super::*;

    #[test]
    fn every_action_is_offered_in_one_group_or_as_usual() {
        for action in ACTIONS {
            let groups = GROUPS.iter().filter(|(_, tools)| tools.contains(&action.name)).count();
            let usual = usize::from(DEFAULT_TOOLS.contains(&action.name));
            assert_eq!(groups + usual, 1, "{} must be in one group of tool_set.rs", action.name);
        }
        for (group, tools) in GROUPS {
            for tool in *tools {
                assert!(offered_tools().iter().any(|offered| offered.name == *tool), "{group}: {tool}");
            }
        }
    }

    #[test]
    fn a_choice_adds_and_takes_away() {
        let names = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            ToolSet::choose(&words).map(|set| set.tools().iter().map(|tool| tool.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).map(|names| names.len()), Ok(DEFAULT_TOOLS.len()));
        let chosen = names(&["network", "-eval", "console"]).expect("known words");
        assert!(chosen.contains(&"requests") && chosen.contains(&"console") && !chosen.contains(&"eval"));
        assert_eq!(names(&["all"]).expect("all").len(), offered_tools().len());
        let failure = names(&["netwrok"]).expect_err("misspelt");
        assert!(failure.hint.is_some_and(|hint| hint.contains("network")));
    }
}
