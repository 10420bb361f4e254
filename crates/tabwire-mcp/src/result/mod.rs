//! Tool results as MCP content: the result, then notes, then the handle of a truncated rest.

pub(crate) mod fence;
pub(crate) mod truncated_results;

use base64::Engine as _;
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_api::api::ActionResponse;
use tabwire_engine::{bounded_failure, plain_line, plain_value};

use crate::limits::NOTE_CHARACTERS;
use crate::resources::result_uri;
use crate::result::fence::{defanged, enclosed, fenced, harmless};
use crate::result::truncated_results::{ResultPart, TruncatedResults};

/// An action's text, split into page content and Tabwire's own lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResultText {
    /// Page content, inside the fence.
    pub(crate) body: String,
    /// Tabwire's own lines, after the fence.
    pub(crate) after: String,
}

impl ResultText {
    /// Splits an action's text at the end of its fence.
    pub(crate) fn of_action(text: String) -> Self {
        let text = harmless(text);
        let end = text.strip_prefix("<page ").and_then(|rest| {
            let closing = format!("</page {}>", rest.get(..8)?);
            Some(text.find(&closing)? + closing.len())
        });
        match end {
            Some(end) => Self { after: text[end..].trim().to_owned(), body: text[..end].to_owned() },
            None => Self { body: text, after: String::new() },
        }
    }
}

/// A text that may be a part of a longer one, with what there is to add.
pub(crate) fn part_result(stretch: ResultPart, after: &str, answer: &ActionResponse) -> CallToolResult {
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
            Resource::new(result_uri(handle), "rest of the answer").with_mime_type("text/plain"),
        ));
    }
    CallToolResult::success(std::iter::once(ContentBlock::text(text)).chain(link).collect())
}

/// Notes for the caller, besides the result.
fn notes(answer: &ActionResponse) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(recovery) = &answer.recovery {
        lines.push(format!(
            "note: the browser was gone ({}); a new one was started, what was typed is lost, refs are new",
            recovery.reason
        ));
        lines.extend(recovery.tabs.iter().map(|tab| format!("note: tab {} is now {}", tab.was, tab.tab)));
        lines.extend(recovery.lost.iter().map(|lost| format!("note: lost: {lost}")));
    }
    lines.extend(answer.notices.iter().map(|notice| format!("note: {notice}")));
    // They stand behind the fence, and what they quote of a page must not make lines there.
    lines.iter().map(|line| plain_line(&harmless(line.clone()), NOTE_CHARACTERS)).collect()
}

/// The text beside structured content, for clients that do not show that.
const BESIDE_DATA: &str = "The result is in the structured content. \
    (If your client does not show it: `tabwire mcp --answers text`.)";

/// A response as data; the text beside it only says that it is there.
///
/// What is longer than a response may be is cut, if there is a shelf to keep the rest on.
pub(crate) fn structured_result(
    answer: &ActionResponse,
    truncated: Option<&TruncatedResults>,
) -> CallToolResult {
    let result = harmless_data(&answer.result);
    let mut result = if result.is_object() { result } else { json!({"value": result}) };
    if let Some(truncated) = truncated {
        let stretch = truncated.first(result.to_string());
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

/// An image with what is known of it; one that is too large is only named.
pub(crate) fn image_result(answer: &ActionResponse, bytes: Option<&[u8]>, is_data: bool) -> CallToolResult {
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

/// One label of an image: the ref, and what it stands for.
fn label(annotation: &Value) -> Option<String> {
    let given = annotation.get("ref")?.as_str()?;
    let text = |name: &str| annotation.get(name).and_then(Value::as_str).unwrap_or_default();
    Some(format!("{given} {} {:?}", text("role"), text("name")))
}

/// A failure as a tool result: code, message, remedy.
pub(crate) fn error_result(failure: &Failure) -> CallToolResult {
    let failure = &bounded_failure(failure.clone());
    let mut text = format!("{}: {}", failure.code, defanged(&failure.message));
    if let Some(remedy) = &failure.remedy {
        text.push_str(&format!("\nnext: {}", defanged(&remedy.for_mcp())));
    }
    CallToolResult::error(vec![ContentBlock::text(text)])
}
