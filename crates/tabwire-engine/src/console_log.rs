//! What a page wrote to its console and the errors nobody caught, bounded and numbered.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tabwire_cdp::Event;

use crate::limits::{CONSOLE_CHARACTERS, CONSOLE_ENTRIES};

/// One line of a page's console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct ConsoleEntry {
    /// Its number, counted from the page's first.
    pub number: u64,
    /// `log`, `info`, `warning`, `error`, `debug`, or `exception` for an error nobody caught.
    pub level: String,
    /// What it says, cut at a limit.
    pub text: String,
    /// Where it comes from: address, line and column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// The last lines of a page's console.
#[derive(Debug, Default)]
pub(crate) struct ConsoleLog {
    entries: VecDeque<ConsoleEntry>,
    count: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Called {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    args: Vec<Argument>,
    stack_trace: Option<Stack>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Argument {
    #[serde(rename = "type", default)]
    kind: String,
    value: Option<Value>,
    unserializable_value: Option<String>,
    description: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stack {
    #[serde(default)]
    call_frames: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call {
    url: String,
    line_number: u64,
    column_number: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thrown {
    exception_details: Details,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(default)]
    text: String,
    #[serde(default)]
    line_number: u64,
    #[serde(default)]
    column_number: u64,
    url: Option<String>,
    stack_trace: Option<Stack>,
    exception: Option<Argument>,
}

impl ConsoleLog {
    pub(crate) fn observe(&mut self, event: &Event) {
        let read = match event.method() {
            "Runtime.consoleAPICalled" => event.to::<Called>().ok().map(Called::into_parts),
            _ => event.to::<Thrown>().ok().map(|thrown| thrown.exception_details.into_parts()),
        };
        if let Some((level, text, location)) = read {
            self.push(level, &text, location);
        }
    }

    fn push(&mut self, level: String, text: &str, location: Option<String>) {
        self.count += 1;
        if self.entries.len() == CONSOLE_ENTRIES {
            self.entries.pop_front();
        }
        let mut short: String = text.chars().take(CONSOLE_CHARACTERS).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        self.entries.push_back(ConsoleEntry { number: self.count, level, text: short, location });
    }

    /// How many lines there have been.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The lines after this number that are still held, the oldest first.
    pub(crate) fn since(&self, number: u64) -> impl Iterator<Item = &ConsoleEntry> {
        self.entries.iter().filter(move |entry| entry.number > number)
    }
}

impl ConsoleEntry {
    /// Whether it tells of something gone wrong.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self.level.as_str(), "error" | "exception" | "assert")
    }
}

impl Called {
    fn into_parts(self) -> (String, String, Option<String>) {
        let text: Vec<String> = self.args.into_iter().map(Argument::into_text).collect();
        let place = self.stack_trace.and_then(Stack::into_location);
        (self.kind, text.join(" "), place)
    }
}

impl Details {
    fn into_parts(self) -> (String, String, Option<String>) {
        let said = self.exception.map(Argument::into_text).unwrap_or_default();
        let text = if said.is_empty() { self.text } else { format!("{} {said}", self.text) };
        let place = self.stack_trace.and_then(Stack::into_location);
        let place = place.or_else(|| {
            let (line, column) = (self.line_number + 1, self.column_number + 1);
            self.url.map(|url| format!("{url}:{line}:{column}"))
        });
        ("exception".to_owned(), text, place)
    }
}

impl Argument {
    fn into_text(self) -> String {
        match self.value {
            Some(Value::String(text)) => text,
            Some(value) => value.to_string(),
            None => self.unserializable_value.or(self.description).unwrap_or(self.kind),
        }
    }
}

impl Stack {
    fn into_location(self) -> Option<String> {
        let call = self.call_frames.into_iter().next()?;
        Some(format!("{}:{}:{}", call.url, call.line_number + 1, call.column_number + 1))
    }
}
