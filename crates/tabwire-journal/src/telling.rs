//! How much of a value is told. A value that nothing is known of is not told at all.

use serde_json::Value;

use crate::limits::{LIST_ITEMS, VALUE_BYTES};
use crate::origin::{Origin, safe_address};

/// What stands for what is not told.
pub(crate) const CUT: &str = "…";

/// Longest word; anything longer may be a sentence or a secret.
const WORD_BYTES: usize = 40;

/// How much of a value is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// That it was given.
    Hidden,
    /// A number, a switch, or a word out of a fixed list.
    Word,
    /// How many there are.
    Count,
    /// An address without user, query and fragment.
    Address,
    /// Only where an address is.
    Origin,
    /// An element: a ref or a selector, without what is quoted in it.
    Target,
    /// A file's path.
    Path,
}

impl Telling {
    /// What is told of a value; nothing of one that says nothing.
    #[must_use]
    pub fn tell(self, value: &Value) -> Option<Value> {
        match value {
            Value::Null | Value::Bool(false) => None,
            Value::Array(items) if items.is_empty() => None,
            Value::Array(items) if self == Self::Count => Some(Value::from(items.len())),
            Value::Array(items) if self != Self::Hidden => Some(self.tell_list(items)),
            Value::Object(members) if self == Self::Count => Some(Value::from(members.len())),
            Value::Bool(_) | Value::Number(_) if self != Self::Hidden => Some(value.clone()),
            Value::String(text) => Some(Value::from(self.tell_text(text))),
            _ => Some(Value::from(CUT)),
        }
    }

    fn tell_list(self, items: &[Value]) -> Value {
        let mut told: Vec<Value> = items.iter().take(LIST_ITEMS).filter_map(|item| self.tell(item)).collect();
        if items.len() > LIST_ITEMS {
            told.push(Value::from(format!("… {} in all", items.len())));
        }
        Value::Array(told)
    }

    fn tell_text(self, text: &str) -> String {
        match self {
            Self::Hidden | Self::Count => CUT.to_owned(),
            Self::Word if is_word(text) => text.to_owned(),
            Self::Word => CUT.to_owned(),
            Self::Address => safe_address(text),
            Self::Origin => {
                Origin::of(text).map_or_else(|| CUT.to_owned(), |origin| origin.as_str().to_owned())
            }
            Self::Target => safe_target(text),
            Self::Path => cut(text, VALUE_BYTES),
        }
    }
}

fn is_word(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:+*/".contains(&byte);
    !text.is_empty() && text.len() <= WORD_BYTES && text.bytes().all(allowed)
}

/// Ways to name an element by words that stand on the page, or could: only the way is told.
const BY_WORDS: [&str; 5] = ["text", "label", "placeholder", "testid", "xpath"];

/// An element as a caller names it, without the words in it: they may be what was typed.
fn safe_target(text: &str) -> String {
    let text = text.trim();
    if let Some(way) = text.split_once('=').map(|(way, _)| way).filter(|way| BY_WORDS.contains(way)) {
        return format!("{way}={CUT}");
    }
    if text.starts_with("//") || text.starts_with("(//") {
        return format!("xpath={CUT}");
    }
    let (prefix, selector) = match text.split_once('=') {
        Some((way @ ("css" | "role"), rest)) => (format!("{way}="), rest),
        _ => (String::new(), text),
    };
    cut(&format!("{prefix}{}", without_values(selector)), VALUE_BYTES)
}

/// A selector without what stands in quotes or is compared with.
fn without_values(selector: &str) -> String {
    let mut told = String::new();
    let mut letters = selector.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            quote @ ('"' | '\'') => {
                told.push_str(CUT);
                skip_past(&mut letters, quote);
            }
            // A value in brackets needs no quotes; one in quotes may have brackets.
            '=' => {
                told.push_str("=…");
                while letters.next_if(|next| next.is_whitespace()).is_some() {}
                if let Some(quote) = letters.next_if(|next| matches!(next, '"' | '\'')) {
                    skip_past(&mut letters, quote);
                }
                if skip_past(&mut letters, ']') {
                    told.push(']');
                }
            }
            other => told.push(other),
        }
    }
    told
}

/// Skips to behind the next such letter; whether there was one.
fn skip_past(letters: &mut impl Iterator<Item = char>, end: char) -> bool {
    letters.any(|letter| letter == end)
}

/// A text that is no longer than so many bytes.
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
    fn t39_each_kind_of_value_is_told_as_far_as_it_may_be() {
        let check = |telling: Telling, value: Value, expected: Value| {
            assert_eq!(telling.tell(&value).unwrap_or_default(), expected, "{telling:?} {value}");
        };
        check(Telling::Hidden, json!("secret"), json!("…"));
        check(Telling::Hidden, json!(1234), json!("…"));
        check(Telling::Hidden, json!(["secret"]), json!("…"));
        check(Telling::Hidden, json!({"secret": 1}), json!("…"));
        check(Telling::Word, json!("right"), json!("right"));
        check(Telling::Word, json!("a secret of some length"), json!("…"));
        check(Telling::Word, json!(["Control", "a b"]), json!(["Control", "…"]));
        check(Telling::Word, json!({"secret": "x"}), json!("…"));
        check(Telling::Word, json!(false), Value::Null);
        check(Telling::Count, json!(["secret", "secret"]), json!(2));
        check(Telling::Count, json!("secret"), json!("…"));
        check(Telling::Target, json!("e12"), json!("e12"));
        check(Telling::Target, json!("#login > input[name=\"a]b\"] a"), json!("#login > input[name=…] a"));
        check(Telling::Target, json!("[value=secret] b"), json!("[value=…] b"));
        check(Telling::Target, json!("text=secret"), json!("text=…"));
        check(Telling::Target, json!("//a[.='secret']"), json!("xpath=…"));
        check(Telling::Target, json!("role=button[name=\"secret\"]"), json!("role=button[name=…]"));
        check(Telling::Origin, json!("https://a.test/secret"), json!("https://a.test"));
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        assert_eq!(cut("äääää", 8), "ää…");
        assert_eq!(cut("short", 8), "short");
    }
}
