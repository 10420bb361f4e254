//! Answers in the form a model reads: the result, then what we add, always in this order. Runs nothing.

use base64::Engine as _;
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Value, json};
use tabwire_engine::{Definition, Effect, bounded_failure, plain_line, plain_value};
use tabwire_wire::Failure;
use tabwire_wire::api::ActionAnswer;

use crate::fence::{defanged, enclosed, fenced, harmless};
use crate::limits::NOTE_CHARACTERS;
use crate::resource::answer_address;
use crate::shelf::{Shelf, Stretch};
use crate::wording::in_tools;

/// An action's text, taken apart: what the page may have written, and what we say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerText {
    /// Stands within a fence.
    pub(crate) body: String,
    /// Stands after it.
    pub(crate) after: String,
}

impl AnswerText {
    /// Takes an action's text apart at its fence, if it has one.
    pub(crate) fn of_action(action: &Definition, text: String) -> Self {
        let is_own_words = matches!(action.effect, Effect::Act | Effect::Navigate);
        let text = if is_own_words { in_tools(&text) } else { text };
        let text = harmless(text);
        let end = text.strip_prefix("<page ").and_then(|rest| {
            let closing = format!("</page {}>", rest.get(..8)?);
            Some(text.find(&closing)? + closing.len())
        });
        match end {
            Some(end) => Self { after: in_tools(text[end..].trim()), body: text[..end].to_owned() },
            None => Self { body: text, after: String::new() },
        }
    }
}

/// A text that may be a part of a longer one, with what there is to add.
pub(crate) fn stretch_answer(stretch: Stretch, after: &str, answer: &ActionAnswer) -> CallToolResult {
    let is_part = stretch.next.is_some() || stretch.from > 0;
    let mut text = if is_part { enclosed(&stretch.text) } else { fenced(&stretch.text) };
    if !after.is_empty() {
        text.push('\n');
        text.push_str(after);
    }
    for line in notes(answer) {
        text.push('\n');
        text.push_str(&line);
    }
    let mut link = None;
    if let Some(handle) = &stretch.next {
        let end = stretch.from + stretch.text.chars().count();
        let (from, whole) = (stretch.from, stretch.whole);
        text.push_str(&format!(
            "\ncut: characters {from} to {end} of {whole}; go on with `more`, handle \"{handle}\""
        ));
        link = Some(ContentBlock::resource_link(
            Resource::new(answer_address(handle), "rest of the answer").with_mime_type("text/plain"),
        ));
    }
    CallToolResult::success(std::iter::once(ContentBlock::text(text)).chain(link).collect())
}

/// What the caller should know besides the result.
fn notes(answer: &ActionAnswer) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(recovery) = &answer.recovery {
        lines.push(format!(
            "note: the browser was gone ({}); a new one was started, what was typed is lost, refs are new",
            recovery.reason
        ));
        lines.extend(recovery.tabs.iter().map(|tab| format!("note: tab {} is now {}", tab.was, tab.tab)));
        lines.extend(recovery.lost.iter().map(|lost| format!("note: lost: {lost}")));
    }
    lines.extend(answer.notices.iter().map(|notice| format!("note: {}", in_tools(notice))));
    // They stand behind the fence, and what they quote of a page must not make lines there.
    lines.iter().map(|line| plain_line(&harmless(line.clone()), NOTE_CHARACTERS)).collect()
}

/// The text beside data, which has none of it: a model that sees only this knows whom to tell what.
const BESIDE_DATA: &str = "The answer is in the structured content. \
    (If your client does not show it: `tabwire mcp --answers text`.)";

/// An answer as data; the text beside it only says that it is there.
///
/// What is longer than an answer may be is cut, if there is a shelf to keep the rest on.
pub(crate) fn structured_answer(answer: &ActionAnswer, shelf: Option<&Shelf>) -> CallToolResult {
    let result = harmless_data(&answer.result);
    let mut result = if result.is_object() { result } else { json!({"value": result}) };
    if let Some(shelf) = shelf {
        let stretch = shelf.first(result.to_string());
        if let Some(handle) = stretch.next {
            result = json!({"cut": stretch.text, "characters": stretch.whole, "more": handle});
        }
    }
    let notes = notes(answer);
    if let (false, Some(members)) = (notes.is_empty(), result.as_object_mut()) {
        let notes: Vec<&str> = notes.iter().map(|note| note.trim_start_matches("note: ")).collect();
        members.insert("notes".to_owned(), json!(notes));
    }
    let mut told = CallToolResult::success(vec![ContentBlock::text(BESIDE_DATA)]);
    told.structured_content = Some(result);
    told
}

fn defang(value: &mut Value) {
    match value {
        Value::String(text) => *text = harmless(std::mem::take(text)),
        Value::Array(items) => items.iter_mut().for_each(defang),
        Value::Object(members) => members.values_mut().for_each(defang),
        _ => {}
    }
}

/// Data of a page as a model may have it: nothing invisible, nothing that a client would fetch.
fn harmless_data(value: &Value) -> Value {
    let mut value = plain_value(value.clone());
    defang(&mut value);
    value
}

/// A picture with what is known of it; one that is too large is only named.
pub(crate) fn picture_answer(answer: &ActionAnswer, bytes: Option<&[u8]>, is_data: bool) -> CallToolResult {
    let result = &answer.result;
    let format = result.get("format").and_then(Value::as_str).unwrap_or("png");
    let path = result.get("path").and_then(Value::as_str).unwrap_or_default();
    let number = |name: &str| result.get(name).and_then(Value::as_u64).unwrap_or_default();
    let mut text = format!("{format} of {} x {} pixels; file: {path}", number("width"), number("height"));
    if result.get("truncated").and_then(Value::as_bool) == Some(true) {
        text.push_str("\nthe page goes on beyond the picture");
    }
    let labels: Vec<String> =
        result.get("annotations").and_then(Value::as_array).into_iter().flatten().filter_map(label).collect();
    if !labels.is_empty() {
        text.push('\n');
        text.push_str(&enclosed(&harmless(labels.join("\n"))));
    }
    for line in notes(answer) {
        text.push('\n');
        text.push_str(&line);
    }
    let shown = match bytes {
        Some(bytes) => {
            let data = base64::engine::general_purpose::STANDARD.encode(bytes);
            ContentBlock::image(data, format!("image/{format}"))
        }
        None => ContentBlock::resource_link(
            Resource::new(format!("file://{path}"), "screenshot").with_mime_type(format!("image/{format}")),
        ),
    };
    let mut told = CallToolResult::success(vec![ContentBlock::text(text), shown]);
    if is_data {
        told.structured_content = Some(harmless_data(result));
    }
    told
}

/// One label of a picture: the ref, and what it stands for.
fn label(annotation: &Value) -> Option<String> {
    let given = annotation.get("ref")?.as_str()?;
    let text = |name: &str| annotation.get(name).and_then(Value::as_str).unwrap_or_default();
    Some(format!("{given} {} {:?}", text("role"), text("name")))
}

/// A failure as an answer: code, sentence, next step.
pub(crate) fn failed(failure: &Failure) -> CallToolResult {
    let failure = &bounded_failure(failure.clone());
    let mut text = format!("{}: {}", failure.code, defanged(&in_tools(&failure.message)));
    if let Some(hint) = &failure.hint {
        text.push_str(&format!("\nnext: {}", defanged(&in_tools(hint))));
    }
    CallToolResult::error(vec![ContentBlock::text(text)])
}
