//! Tool results as MCP content: the result, then notes, then the handle of a truncated rest.

pub(crate) mod fence;
pub(crate) mod truncated_results;

use base64::Engine as _;
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_api::api::ActionResponse;
use tabwire_engine::{bounded_failure, plain_line, plain_value};

use crate::resources::result_uri;
use crate::result::fence::{defanged, enclosed, fenced, harmless};
use crate::result::truncated_results::{ResultPart, TruncatedResults};

/// Most characters of a note after a result.
const NOTE_CHARACTERS: usize = 2_000;

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

/// The result of a text, possibly a part of a longer one, with Tabwire's lines and notes.
pub(crate) fn part_result(part: ResultPart, after: &str, response: &ActionResponse) -> CallToolResult {
    let is_part = part.next.is_some() || part.from > 0;
    let mut text = if is_part { enclosed(&part.text) } else { fenced(&part.text) };
    if !after.is_empty() {
        text.push('\n');
        text.push_str(after);
    }
    for line in notes(response) {
        text.push('\n');
        text.push_str(&line);
    }
    let mut link = None;
    if let Some(handle) = &part.next {
        let end = part.from + part.text.chars().count();
        let (from, whole) = (part.from, part.whole);
        text.push_str(&format!(
            "\ncut: characters {from} to {end} of {whole}; continue with `more`, handle \"{handle}\""
        ));
        link = Some(ContentBlock::resource_link(
            Resource::new(result_uri(handle), "rest of the result").with_mime_type("text/plain"),
        ));
    }
    CallToolResult::success(std::iter::once(ContentBlock::text(text)).chain(link).collect())
}

/// Notes for the caller, besides the result.
fn notes(response: &ActionResponse) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(recovery) = &response.recovery {
        lines.push(format!(
            "note: the browser was gone ({}); a new one was started, typed text is lost, refs are new",
            recovery.reason
        ));
        lines.extend(recovery.tabs.iter().map(|tab| format!("note: tab {} is now {}", tab.was, tab.tab)));
        lines.extend(recovery.lost.iter().map(|lost| format!("note: lost: {lost}")));
    }
    lines.extend(response.notices.iter().map(|notice| format!("note: {notice}")));
    // Notes follow the fence. Page text that they quote must not contain line breaks, or it could imitate a note.
    lines.iter().map(|line| plain_line(&harmless(line.clone()), NOTE_CHARACTERS)).collect()
}

/// A response as structured content, and the same JSON as text: many clients show their models only the text.
///
/// Truncates a result above the limit if `truncated` is given, which keeps the rest.
pub(crate) fn structured_result(
    response: &ActionResponse,
    truncated: Option<&TruncatedResults>,
) -> CallToolResult {
    let result = harmless_data(&response.result);
    let mut result = if result.is_object() { result } else { json!({"value": result}) };
    if let Some(truncated) = truncated {
        let part = truncated.first(result.to_string());
        if let Some(handle) = part.next {
            result = json!({"cut": part.text, "characters": part.whole, "more": handle});
        }
    }
    let notes = notes(response);
    if let (false, Some(members)) = (notes.is_empty(), result.as_object_mut()) {
        let notes: Vec<&str> = notes.iter().map(|note| note.trim_start_matches("note: ")).collect();
        members.insert("notes".to_owned(), json!(notes));
    }
    let mut call_result = CallToolResult::success(vec![ContentBlock::text(result.to_string())]);
    call_result.structured_content = Some(result);
    call_result
}

fn defang(value: &mut Value) {
    match value {
        Value::String(text) => *text = harmless(std::mem::take(text)),
        Value::Array(items) => items.iter_mut().for_each(defang),
        Value::Object(members) => members.values_mut().for_each(defang),
        _ => {}
    }
}

/// Page data made safe for a model: without invisible characters, and without links and images that a client fetches.
pub(crate) fn harmless_data(value: &Value) -> Value {
    let mut value = plain_value(value.clone());
    defang(&mut value);
    value
}

/// An image with its description. An image that is too large is only linked.
pub(crate) fn image_result(response: &ActionResponse, bytes: Option<&[u8]>, is_data: bool) -> CallToolResult {
    let result = &response.result;
    let format = result.get("format").and_then(Value::as_str).unwrap_or("png");
    let path = result.get("path").and_then(Value::as_str).unwrap_or_default();
    let number = |name: &str| result.get(name).and_then(Value::as_u64).unwrap_or_default();
    let mut text = format!("{format} of {} x {} pixels; file: {path}", number("width"), number("height"));
    if result.get("truncated").and_then(Value::as_bool) == Some(true) {
        text.push_str("\nthe page continues beyond the image");
    }
    let labels: Vec<String> =
        result.get("annotations").and_then(Value::as_array).into_iter().flatten().filter_map(label).collect();
    if !labels.is_empty() {
        text.push('\n');
        text.push_str(&enclosed(&harmless(labels.join("\n"))));
    }
    for line in notes(response) {
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
    let mut call_result = CallToolResult::success(vec![ContentBlock::text(text), shown]);
    if is_data {
        call_result.structured_content = Some(harmless_data(result));
    }
    call_result
}

/// One label of an annotated image: the ref, and its element.
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
