//! Bounded texts from JSON.

use serde_json::Value;

/// A text of at most `limit` bytes, cut at a character.
pub(crate) fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit.min(text.len()))]
}

/// The text of a member, cut.
pub(crate) fn find_text(value: &Value, name: &str, limit: usize) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(|text| cut(text, limit).to_owned())
}

/// The text of a member that names something. One that is too long names nothing, because a cut id is another id.
pub(crate) fn find_id(value: &Value, name: &str) -> Option<String> {
    let text = value.get(name).and_then(Value::as_str)?;
    (!text.is_empty() && text.len() <= crate::limits::NAME_BYTES).then(|| text.to_owned())
}

/// The entries of an array, at most `limit`.
pub(crate) fn entries<'a>(value: &'a Value, name: &str, limit: usize) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default().iter().take(limit)
}
