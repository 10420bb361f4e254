//! Selects the tools of one client by groups and names.

use tabwire_api::{ErrorCode, Failure};
use tabwire_engine::{ToolGroup, find_similar};

use crate::tools::{OfferedTool, offered_tools};

/// Selects every tool.
const ALL: &str = "all";

/// The tools of one client.
#[derive(Clone, Debug)]
pub struct ToolSet {
    tools: Vec<&'static OfferedTool>,
}

impl ToolSet {
    /// Parses a selection: groups and names are added to the default tools, `-NAME` removes a tool or group.
    ///
    /// # Errors
    /// When a word is neither a group nor a tool.
    pub fn choose(words: &[String]) -> Result<Self, Failure> {
        let mut names = in_group(ToolGroup::Default);
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

    /// The error for an unavailable tool, with the available ones.
    pub(crate) fn refuse(&self, name: &str) -> String {
        if let Some(tool) = offered_tools().iter().find(|tool| tool.name == name) {
            let group = tool.group.as_str();
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

/// The tools of a group.
fn in_group(group: ToolGroup) -> Vec<&'static str> {
    offered_tools().iter().filter(|tool| tool.group == group).map(|tool| tool.name).collect()
}

fn named(word: &str) -> Result<Vec<&'static str>, Failure> {
    if word == ALL {
        return Ok(offered_tools().iter().map(|tool| tool.name).collect());
    }
    let mut groups = ToolGroup::ADDED.iter().copied().chain([ToolGroup::Default]);
    if let Some(group) = groups.find(|group| group.as_str() == word) {
        return Ok(in_group(group));
    }
    if let Some(tool) = offered_tools().iter().find(|tool| tool.name == word) {
        return Ok(vec![tool.name]);
    }
    let groups: Vec<&str> = ToolGroup::ADDED.iter().map(|group| group.as_str()).chain([ALL]).collect();
    let message = format!("`{word}` is neither a group of tools nor a tool.");
    Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(format!(
        "The groups are: {}. `tabwire mcp --list-tools --tools all` lists every tool.",
        groups.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_adds_and_removes_tools() {
        let names = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            ToolSet::choose(&words).map(|set| set.tools().iter().map(|tool| tool.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).map(|names| names.len()), Ok(in_group(ToolGroup::Default).len()));
        let chosen = names(&["network", "-eval", "console"]).expect("known words");
        assert!(chosen.contains(&"requests") && chosen.contains(&"console") && !chosen.contains(&"eval"));
        assert_eq!(names(&["all"]).expect("all").len(), offered_tools().len());
        let failure = names(&["netwrok"]).expect_err("misspelt");
        assert!(failure.hint().contains("network"));
    }
}
