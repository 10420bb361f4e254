//! The remedy of an error, as data that each front end renders.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The placeholder for a step in a remedy's sentence.
const PLACEHOLDER: &str = "{}";

/// One step of a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Step {
    /// Runs an action: `tabwire wait-for --load` on a terminal, the tool `wait_for` for an MCP client.
    Action {
        /// The action's name: `wait_for`.
        action: String,
        /// Its arguments, by parameter name.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        arguments: Map<String, Value>,
    },
    /// Sets an argument of the call that failed: `--max-bytes` on a terminal, `max_bytes` for an MCP client.
    Argument {
        /// The parameter's name: `max_bytes`.
        argument: String,
        /// A suggested value, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// Reads how an action is used: `tabwire scroll --help` on a terminal, the tool's schema for an MCP client.
    Usage {
        /// The action's name: `scroll`.
        usage: String,
    },
    /// Runs a command that only the user runs, the same for every front end: `tabwire doctor --fix`.
    Command {
        /// The whole command line.
        command: String,
    },
}

impl Step {
    /// Runs an action without arguments.
    #[must_use]
    pub fn action(action: &str) -> Self {
        Self::Action { action: action.to_owned(), arguments: Map::new() }
    }

    /// Adds an argument to the action.
    #[must_use]
    pub fn with(self, name: &str, value: impl Into<Value>) -> Self {
        match self {
            Self::Action { action, mut arguments } => {
                arguments.insert(name.to_owned(), value.into());
                Self::Action { action, arguments }
            }
            Self::Argument { argument, .. } => Self::Argument { argument, value: Some(value.into()) },
            Self::Command { .. } | Self::Usage { .. } => self,
        }
    }

    /// Reads how an action is used.
    #[must_use]
    pub fn usage(action: &str) -> Self {
        Self::Usage { usage: action.to_owned() }
    }

    /// Sets an argument of the call that failed.
    #[must_use]
    pub fn argument(name: &str) -> Self {
        Self::Argument { argument: name.to_owned(), value: None }
    }

    /// Sets an argument of the call that failed to a value.
    #[must_use]
    pub fn argument_value(name: &str, value: impl Into<Value>) -> Self {
        Self::Argument { argument: name.to_owned(), value: Some(value.into()) }
    }

    /// Runs a command that only the user runs.
    #[must_use]
    pub fn command(line: impl Into<String>) -> Self {
        Self::Command { command: line.into() }
    }

    /// The step as a shell command or flag.
    fn for_terminal(&self) -> String {
        match self {
            Self::Action { action, arguments } => {
                let flags: String =
                    arguments.iter().map(|(name, value)| format!(" {}", flag(name, Some(value)))).collect();
                format!("`tabwire {}{flags}`", action.replace('_', "-"))
            }
            Self::Argument { argument, value } => flag(argument, value.as_ref()),
            Self::Usage { usage } => format!("`tabwire {} --help`", usage.replace('_', "-")),
            Self::Command { command } => format!("`{command}`"),
        }
    }

    /// The step as a tool call or parameter.
    fn for_mcp(&self) -> String {
        match self {
            Self::Action { action, arguments } => {
                let named: Vec<String> =
                    arguments.iter().map(|(name, value)| tool_argument(name, Some(value))).collect();
                if named.is_empty() {
                    format!("`{}`", tool_name(action))
                } else {
                    format!("`{}` {{{}}}", tool_name(action), named.join(", "))
                }
            }
            Self::Argument { argument, value } => format!("`{}`", tool_argument(argument, value.as_ref())),
            Self::Usage { usage } => format!("the schema of the tool `{}`", tool_name(usage)),
            Self::Command { command } => format!("`{command}`"),
        }
    }
}

/// The name of the tool of an action. There is no tool `open`: the first call opens a browser.
fn tool_name(action: &str) -> &str {
    if action == "open" { "navigate" } else { action }
}

/// A parameter as an argument of a tool. Tools name an element by `ref` or `selector`.
fn tool_argument(name: &str, value: Option<&Value>) -> String {
    let is_ref = |text: &str| {
        text.strip_prefix('e')
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let name = match (name, value) {
        ("target" | "element", Some(Value::String(text))) if is_ref(text) => "ref",
        ("target" | "element", _) => "selector",
        (name, _) => name,
    };
    value.map_or_else(|| name.to_owned(), |value| format!("{name}: {value}"))
}

/// Parameters that are positional arguments on the command line, in every action that has them.
const POSITIONAL: &[&str] = &["action", "answer", "area", "number", "target", "url", "verb", "what"];

/// A parameter as typed on the command line: `--load`, `--from 40`, `stop`.
fn flag(name: &str, value: Option<&Value>) -> String {
    let is_positional = POSITIONAL.contains(&name);
    let name = name.replace('_', "-");
    match value {
        None | Some(Value::Bool(true)) => format!("--{name}"),
        Some(Value::String(text)) if is_positional => text.clone(),
        Some(Value::String(text)) => format!("--{name} {text}"),
        Some(value) => format!("--{name} {value}"),
    }
}

/// How to fix an error: a sentence with a placeholder for each step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    /// The sentence. Each `{}` is replaced by the next step.
    pub text: String,
    /// The steps, in the order of the placeholders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

impl Remedy {
    /// A sentence with its steps: `Remedy::new("Run {} again.", [Step::action("snapshot")])`.
    #[must_use]
    pub fn new(text: impl Into<String>, steps: impl IntoIterator<Item = Step>) -> Self {
        Self { text: text.into(), steps: steps.into_iter().collect() }
    }

    /// The remedy as text for a terminal.
    #[must_use]
    pub fn for_terminal(&self) -> String {
        self.render(Step::for_terminal)
    }

    /// The remedy as text for a model that calls tools.
    #[must_use]
    pub fn for_mcp(&self) -> String {
        self.render(Step::for_mcp)
    }

    /// The same remedy with every text in it changed, for instance shortened or with secrets masked.
    #[must_use]
    pub fn map_text(mut self, change: impl Fn(&str) -> String) -> Self {
        self.text = change(&self.text);
        for step in &mut self.steps {
            match step {
                Step::Action { arguments, .. } => {
                    arguments.values_mut().for_each(|value| change_string(value, &change));
                }
                Step::Argument { value, .. } => {
                    value.iter_mut().for_each(|value| change_string(value, &change));
                }
                Step::Command { command } => *command = change(command),
                Step::Usage { .. } => {}
            }
        }
        self
    }

    fn render(&self, step: fn(&Step) -> String) -> String {
        // A sentence without steps may quote text of a page, where `{}` is not a placeholder.
        if self.steps.is_empty() {
            return self.text.clone();
        }
        let mut parts = self.text.split(PLACEHOLDER);
        let mut rendered = parts.next().unwrap_or_default().to_owned();
        let mut steps = self.steps.iter();
        for part in parts {
            rendered.push_str(&steps.next().map_or_else(|| PLACEHOLDER.to_owned(), step));
            rendered.push_str(part);
        }
        rendered
    }
}

fn change_string(value: &mut Value, change: &impl Fn(&str) -> String) {
    if let Value::String(text) = value {
        *text = change(text);
    }
}

impl From<String> for Remedy {
    fn from(text: String) -> Self {
        Self { text, steps: Vec::new() }
    }
}

impl From<&str> for Remedy {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

#[cfg(test)]
mod tests {
    use super::{Remedy, Step};

    #[test]
    fn each_front_end_renders_the_same_steps() {
        let remedy = Remedy::new(
            "Run {}, or raise {}; {} checks the machine.",
            [
                Step::action("wait_for").with("load", true),
                Step::argument_value("max_bytes", 4096),
                Step::command("tabwire doctor --fix"),
            ],
        );
        assert_eq!(
            remedy.for_terminal(),
            "Run `tabwire wait-for --load`, or raise --max-bytes 4096; `tabwire doctor --fix` checks the machine."
        );
        assert_eq!(
            remedy.for_mcp(),
            "Run `wait_for` {load: true}, or raise `max_bytes: 4096`; `tabwire doctor --fix` checks the machine."
        );
    }

    #[test]
    fn tools_are_named_in_the_words_of_their_schemas() {
        let remedy = Remedy::new(
            "{}, {}, {}, {}; see {}.",
            [
                Step::action("open"),
                Step::action("click").with("target", "e4"),
                Step::action("click").with("target", "#pay"),
                Step::argument("target"),
                Step::usage("wait_for"),
            ],
        );
        assert_eq!(
            remedy.for_mcp(),
            "`navigate`, `click` {ref: \"e4\"}, `click` {selector: \"#pay\"}, `selector`; see the schema of the tool `wait_for`."
        );
        assert!(
            remedy.for_terminal().ends_with("see `tabwire wait-for --help`."),
            "{}",
            remedy.for_terminal()
        );
    }

    #[test]
    fn a_sentence_without_steps_keeps_its_braces() {
        assert_eq!(Remedy::from("The page says {}.").for_terminal(), "The page says {}.");
    }

    #[test]
    fn steps_survive_json() {
        let remedy = Remedy::new("Run {}.", [Step::action("snapshot")]);
        let text = serde_json::to_string(&remedy).expect("plain data");
        assert_eq!(text, r#"{"text":"Run {}.","steps":[{"action":"snapshot"}]}"#);
        assert_eq!(serde_json::from_str::<Remedy>(&text).expect("the same"), remedy);
    }
}
