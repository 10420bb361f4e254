//! What the log shows of a value, by its class.

use serde_json::Value;
use tabwire_api::LogVisibility;

use crate::entry::origin::{Origin, safe_address};
use crate::limits::VALUE_BYTES;

/// Items of a list in a summary. A longer list shows its length.
const LIST_ITEMS: usize = 8;

/// Stands for what the log does not show.
pub(crate) const CUT: &str = "…";

/// Longest keyword. A longer text may be a sentence or a secret.
const KEYWORD_BYTES: usize = 40;

/// The part of a value that the log shows; none when the value says nothing.
pub(crate) fn visible_part(visibility: LogVisibility, value: &Value) -> Option<Value> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) if visibility == LogVisibility::Count => Some(Value::from(items.len())),
        Value::Array(items) if visibility != LogVisibility::Hidden => Some(visible_items(visibility, items)),
        Value::Object(members) if visibility == LogVisibility::Count => Some(Value::from(members.len())),
        Value::Bool(_) | Value::Number(_) if visibility != LogVisibility::Hidden => Some(value.clone()),
        Value::String(text) => Some(Value::from(visible_text(visibility, text))),
        _ => Some(Value::from(CUT)),
    }
}

fn visible_items(visibility: LogVisibility, items: &[Value]) -> Value {
    let mut shown: Vec<Value> =
        items.iter().take(LIST_ITEMS).filter_map(|item| visible_part(visibility, item)).collect();
    if items.len() > LIST_ITEMS {
        shown.push(Value::from(format!("… {} in all", items.len())));
    }
    Value::Array(shown)
}

fn visible_text(visibility: LogVisibility, text: &str) -> String {
    match visibility {
        LogVisibility::Keyword if is_keyword(text) => text.to_owned(),
        LogVisibility::Hidden | LogVisibility::Count | LogVisibility::Keyword => CUT.to_owned(),
        LogVisibility::Url => safe_address(text),
        LogVisibility::Origin => {
            Origin::of(text).map_or_else(|| CUT.to_owned(), |origin| origin.as_str().to_owned())
        }
        LogVisibility::Target => safe_target(text),
        LogVisibility::Path => cut(text, VALUE_BYTES),
    }
}

fn is_keyword(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:+*/".contains(&byte);
    !text.is_empty() && text.len() <= KEYWORD_BYTES && text.bytes().all(allowed)
}

/// Locators that contain text of the page. The log shows only the kind of locator.
const TEXT_LOCATORS: [&str; 7] = ["chain", "text", "label", "placeholder", "title", "testid", "xpath"];

/// A target without its text, which may be typed text.
fn safe_target(text: &str) -> String {
    let text = text.trim();
    if let Some(kind) = text.split_once('=').map(|(kind, _)| kind).filter(|kind| TEXT_LOCATORS.contains(kind))
    {
        return format!("{kind}={CUT}");
    }
    if text.starts_with("//") || text.starts_with("(//") {
        return format!("xpath={CUT}");
    }
    let (prefix, selector) = match text.split_once('=') {
        Some((kind @ ("css" | "role"), rest)) => (format!("{kind}="), rest),
        _ => (String::new(), text),
    };
    cut(&format!("{prefix}{}", without_values(selector)), VALUE_BYTES)
}

/// A selector without quoted text and attribute values.
fn without_values(selector: &str) -> String {
    let mut shown = String::new();
    let mut characters = selector.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            quote @ ('"' | '\'') => {
                shown.push_str(CUT);
                skip_past(&mut characters, quote);
            }
            // A value in brackets needs no quotes; one in quotes may have brackets.
            '=' => {
                shown.push_str("=…");
                while characters.next_if(|next| next.is_whitespace()).is_some() {}
                if let Some(quote) = characters.next_if(|next| matches!(next, '"' | '\'')) {
                    skip_past(&mut characters, quote);
                }
                if skip_past(&mut characters, ']') {
                    shown.push(']');
                }
            }
            other => shown.push(other),
        }
    }
    shown
}

/// Skips past the next such character; whether there was one.
fn skip_past(characters: &mut impl Iterator<Item = char>, end: char) -> bool {
    characters.any(|character| character == end)
}

/// A text of at most so many bytes.
pub(crate) fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = bytes.saturating_sub(CUT.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{CUT}", &text[..end])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn t39_each_class_shows_only_its_part_of_a_value() {
        let check = |visibility: LogVisibility, value: Value, expected: Value| {
            let shown = visible_part(visibility, &value).unwrap_or_default();
            assert_eq!(shown, expected, "{visibility:?} {value}");
        };
        check(LogVisibility::Hidden, json!("secret"), json!("…"));
        check(LogVisibility::Hidden, json!(1234), json!("…"));
        check(LogVisibility::Hidden, json!(["secret"]), json!("…"));
        check(LogVisibility::Hidden, json!({"secret": 1}), json!("…"));
        check(LogVisibility::Keyword, json!("right"), json!("right"));
        check(LogVisibility::Keyword, json!("a secret of some length"), json!("…"));
        check(LogVisibility::Keyword, json!(["Control", "a b"]), json!(["Control", "…"]));
        check(LogVisibility::Keyword, json!({"secret": "x"}), json!("…"));
        check(LogVisibility::Keyword, json!(false), Value::Null);
        check(LogVisibility::Count, json!(["secret", "secret"]), json!(2));
        check(LogVisibility::Count, json!("secret"), json!("…"));
        check(LogVisibility::Target, json!("e12"), json!("e12"));
        check(
            LogVisibility::Target,
            json!("#login > input[name=\"a]b\"] a"),
            json!("#login > input[name=…] a"),
        );
        check(LogVisibility::Target, json!("[value=secret] b"), json!("[value=…] b"));
        check(LogVisibility::Target, json!("text=secret"), json!("text=…"));
        check(LogVisibility::Target, json!("//a[.='secret']"), json!("xpath=…"));
        check(LogVisibility::Target, json!("role=button[name=\"secret\"]"), json!("role=button[name=…]"));
        check(LogVisibility::Origin, json!("https://a.test/secret"), json!("https://a.test"));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("äääää", 8), "ää…");
        assert_eq!(cut("short", 8), "short");
    }
}
