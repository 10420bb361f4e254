//! The numbered log of a page's console lines and uncaught exceptions, up to a limit.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tabwire_cdp::Event;
use tabwire_policy::Capability;

use crate::frames::policy::FramePolicy;
use crate::frames::tree::ContextId;
use crate::limits::{CONSOLE_CHARACTERS, CONSOLE_ENTRIES};
use crate::page::console_preview::Preview;

/// One line of a page's console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct ConsoleEntry {
    /// Its number, counted from the page's first.
    pub number: u64,
    /// `log`, `info`, `warning`, `error`, `debug`, or `exception` for an uncaught exception.
    pub level: String,
    /// Its text, cut at a limit.
    pub text: String,
    /// Where it was written: URL, line and column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// `Log.LogEntry.source` when the browser wrote it: `network`, `security`, `deprecation`, `violation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The URLs that the policy checks: that of the document that wrote it, and the URL that the line is about.
    #[serde(skip)]
    pub judged: Vec<String>,
    /// When it was written, in milliseconds since 1970.
    #[serde(skip)]
    pub time: u64,
}

/// The last lines of a page's console.
#[derive(Debug, Default)]
pub(crate) struct ConsoleLog {
    entries: VecDeque<ConsoleEntry>,
    count: u64,
    /// Lines of each level since the log was cleared.
    counts: BTreeMap<String, u64>,
    cleared: u64,
    /// The number of the last line of earlier documents.
    navigated: u64,
    /// The number of the last line that each reader received.
    last_read: [u64; 2],
}

/// An action that returns only lines which it has not returned before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The action `console`.
    Console,
    /// The action `errors`.
    Errors,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConsoleApiCalled {
    #[serde(rename = "type")]
    kind: String,
    execution_context_id: Option<ContextId>,
    #[serde(default)]
    args: Vec<Argument>,
    stack_trace: Option<Stack>,
    timestamp: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Argument {
    #[serde(rename = "type", default)]
    kind: String,
    /// `None` when absent; `Some(Null)` for `null`.
    #[serde(default, deserialize_with = "crate::page::evaluate::present")]
    value: Option<Value>,
    unserializable_value: Option<String>,
    description: Option<String>,
    preview: Option<Preview>,
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
struct ExceptionThrown {
    exception_details: Details,
    timestamp: Option<f64>,
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
    execution_context_id: Option<ContextId>,
    stack_trace: Option<Stack>,
    exception: Option<Argument>,
}

/// A line of the browser itself: a failed request, a violation, a deprecation.
#[derive(Deserialize)]
struct EntryAdded {
    entry: BrowserLine,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BrowserLine {
    source: String,
    level: String,
    text: String,
    url: Option<String>,
    line_number: Option<u64>,
    stack_trace: Option<Stack>,
    timestamp: Option<f64>,
}

/// A line of the console before it has a number.
struct Line {
    level: String,
    text: String,
    location: Option<String>,
    source: Option<String>,
    /// The execution context that wrote it; `None` for a line of the browser.
    world: Option<ContextId>,
    /// The URL that a line of the browser is about.
    about: Option<String>,
    /// Milliseconds since 1970.
    timestamp: Option<f64>,
}

/// Levels that are counted; the protocol has fewer than twenty.
const LEVELS: usize = 32;

/// A line that a page wrote to its console.
pub(crate) struct ConsoleLine {
    pub(crate) level: String,
    pub(crate) text: String,
    pub(crate) location: Option<String>,
    pub(crate) context: Option<ContextId>,
}

/// Reads a `Runtime.consoleAPICalled`.
pub(crate) fn read_console_line(event: &Event) -> Option<ConsoleLine> {
    let Line { level, text, location, world, .. } = event.to::<ConsoleApiCalled>().ok()?.into_line();
    Some(ConsoleLine { level, text, location, context: world })
}

/// A line that the browser itself wrote about a page.
pub(crate) struct BrowserNote {
    pub(crate) level: String,
    pub(crate) text: String,
    pub(crate) location: Option<String>,
    /// The URL that it is about, if the policy judges it.
    pub(crate) about: Option<String>,
    pub(crate) timestamp: Option<f64>,
}

/// Reads a `Log.entryAdded`; none for what other events report: exceptions, and lines of workers.
pub(crate) fn read_browser_line(event: &Event) -> Option<BrowserNote> {
    let entry = event.to::<EntryAdded>().ok()?.entry;
    if matches!(entry.source.as_str(), "javascript" | "worker") {
        return None;
    }
    let Line { level, text, location, about, timestamp, .. } = entry.into_line();
    Some(BrowserNote { level, text, location, about: about.filter(|url| is_judged(url)), timestamp })
}

impl ConsoleLog {
    /// Adds a line. `url_of` finds the URL of a context's document; of the top frame of the process for `None`.
    pub(crate) fn observe(&mut self, event: &Event, url_of: impl Fn(Option<ContextId>) -> Option<String>) {
        let read = match event.method() {
            "Runtime.consoleAPICalled" => {
                event.to::<ConsoleApiCalled>().ok().map(ConsoleApiCalled::into_line)
            }
            "Log.entryAdded" => event.to::<EntryAdded>().ok().map(|added| added.entry.into_line()),
            _ => event.to::<ExceptionThrown>().ok().map(ExceptionThrown::into_line),
        };
        if let Some(line) = read.filter(|line| !self.has_exception(line)) {
            let writer = url_of(line.world);
            let judged = writer.into_iter().chain(line.about.clone()).filter(|url| is_judged(url)).collect();
            self.push(line, judged);
        }
    }

    /// Whether `Runtime.exceptionThrown` already reported this line: `Log.entryAdded` repeats uncaught exceptions.
    fn has_exception(&self, line: &Line) -> bool {
        line.source.as_deref() == Some("javascript")
            && self.entries.iter().any(|entry| entry.level == "exception" && entry.text.contains(&line.text))
    }

    fn push(&mut self, line: Line, judged: Vec<String>) {
        let Line { level, text, location, source, timestamp, .. } = line;
        self.count += 1;
        if self.counts.len() < LEVELS || self.counts.contains_key(&level) {
            *self.counts.entry(level.clone()).or_default() += 1;
        }
        if self.entries.len() == CONSOLE_ENTRIES {
            self.entries.pop_front();
        }
        let text = text.as_str();
        let mut short: String = text.chars().take(CONSOLE_CHARACTERS).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        let (number, time) = (self.count, milliseconds(timestamp));
        self.entries.push_back(ConsoleEntry { number, level, text: short, location, source, judged, time });
    }

    /// Total number of lines.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The lines after this number that are still in the log, oldest first.
    pub(crate) fn since(&self, number: u64) -> impl Iterator<Item = &ConsoleEntry> {
        self.entries.iter().filter(move |entry| entry.number > number)
    }

    /// How many lines after this number are no longer in the log.
    pub(crate) fn dropped_since(&self, number: u64) -> u64 {
        let oldest = self.entries.front().map_or(self.count, |entry| entry.number - 1);
        oldest.saturating_sub(number.max(self.cleared))
    }

    /// The number of the last line that a reader received.
    pub(crate) fn last_read(&self, reader: Reader) -> u64 {
        self.last_read[reader as usize].max(self.cleared)
    }

    /// Records that a reader received all lines.
    pub(crate) fn mark_read(&mut self, reader: Reader) {
        self.last_read[reader as usize] = self.count;
    }

    /// The number of the last line before the log was cleared.
    pub(crate) fn cleared(&self) -> u64 {
        self.cleared
    }

    /// The page shows another document.
    pub(crate) fn note_navigation(&mut self) {
        self.navigated = self.count;
    }

    /// The number of the last line of earlier documents, or before the log was cleared.
    pub(crate) fn navigated(&self) -> u64 {
        self.navigated.max(self.cleared)
    }

    /// Lines of each level since the log was cleared, without lines that the policy withholds.
    pub(crate) fn counts_for(&self, policy: &FramePolicy) -> BTreeMap<String, u64> {
        let mut counts = self.counts.clone();
        for entry in self.entries.iter().filter(|entry| entry.refused_by(policy).is_some()) {
            if let Some(count) = counts.get_mut(&entry.level) {
                *count = count.saturating_sub(1);
            }
        }
        counts.retain(|_, count| *count > 0);
        counts
    }

    /// Removes all lines. Numbers continue.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.counts.clear();
        self.cleared = self.count;
    }
}

/// A time of CDP, which sends floats.
fn milliseconds(timestamp: Option<f64>) -> u64 {
    format!("{:.0}", timestamp.unwrap_or_default().max(0.0)).parse().unwrap_or(0)
}

/// Whether the policy checks a URL. Others, such as `data:`, count as part of the document that uses them.
fn is_judged(url: &str) -> bool {
    url.starts_with("http") || url.starts_with("blob:http")
}

impl ConsoleEntry {
    /// The URL for which the policy refuses the line; `None` when it may be shown.
    pub(crate) fn refused_by(&self, policy: &FramePolicy) -> Option<&str> {
        let refuses = |url: &&String| !policy.allows(url, Capability::Read);
        self.judged.iter().find(refuses).map(String::as_str)
    }

    /// Whether it reports an error.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self.level.as_str(), "error" | "exception" | "assert")
    }
}

impl ConsoleApiCalled {
    fn into_line(self) -> Line {
        let text: Vec<String> = self.args.into_iter().map(Argument::into_text).collect();
        let location = self.stack_trace.and_then(Stack::into_location);
        let (world, timestamp) = (self.execution_context_id, self.timestamp);
        Line { level: self.kind, text: text.join(" "), location, source: None, world, about: None, timestamp }
    }
}

impl BrowserLine {
    fn into_line(self) -> Line {
        // `Log` says "verbose" where `console` says "debug".
        let level = if self.level == "verbose" { "debug".to_owned() } else { self.level };
        let place = self.stack_trace.and_then(Stack::into_location);
        let about = self.url.clone();
        let location = place.or_else(|| {
            let line = self.line_number.map(|line| format!(":{}", line + 1)).unwrap_or_default();
            self.url.filter(|url| !url.is_empty()).map(|url| format!("{url}{line}"))
        });
        let (source, timestamp) = (Some(self.source), self.timestamp);
        Line { level, text: self.text, location, source, world: None, about, timestamp }
    }
}

impl ExceptionThrown {
    fn into_line(self) -> Line {
        Line { timestamp: self.timestamp, ..self.exception_details.into_line() }
    }
}

impl Details {
    fn into_line(self) -> Line {
        let said = self.exception.map(Argument::into_text).unwrap_or_default();
        let text = if said.is_empty() { self.text } else { format!("{} {said}", self.text) };
        let place = self.stack_trace.and_then(Stack::into_location);
        let place = place.or_else(|| {
            let (line, column) = (self.line_number + 1, self.column_number + 1);
            self.url.map(|url| format!("{url}:{line}:{column}"))
        });
        let (level, world) = ("exception".to_owned(), self.execution_context_id);
        Line { level, text, location: place, source: None, world, about: None, timestamp: None }
    }
}

impl Argument {
    fn into_text(self) -> String {
        match self.value {
            Some(Value::String(text)) => text,
            Some(value) => value.to_string(),
            None => match self.preview.and_then(Preview::into_text) {
                Some(text) => text,
                None => self.unserializable_value.or(self.description).unwrap_or(self.kind),
            },
        }
    }
}

impl Stack {
    fn into_location(self) -> Option<String> {
        let call = self.call_frames.into_iter().next()?;
        Some(format!("{}:{}:{}", call.url, call.line_number + 1, call.column_number + 1))
    }
}
