//! An error message without text of callers and pages.
//!
//! Messages quote what the caller gave. Quoted text, text after a colon, URLs and the caller's own values are removed.

use serde_json::Value;

use crate::entry::origin::safe_address;
use crate::entry::visibility::{CUT, cut};

/// Longest error message in a row, in bytes.
const MESSAGE_BYTES: usize = 400;

/// A message without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafeMessage(String);

/// Opening and closing quotes.
const QUOTES: [(char, char); 5] = [('`', '`'), ('"', '"'), ('“', '”'), ('‘', '’'), ('\'', '\'')];

/// Values shorter than this are removed only as whole words.
const SHORTEST_ANYWHERE: usize = 3;

impl SafeMessage {
    /// Makes a message safe. None of the texts in `given`, the caller's parameters, is left in the message.
    #[must_use]
    pub fn of(message: &str, given: &Value) -> Self {
        let mut text = without_quotes(&until_colon(message));
        let mut values = Vec::new();
        match given {
            // Names of parameters are not secret, but names inside them may be.
            Value::Object(members) => members.values().for_each(|member| collect(member, &mut values)),
            other => collect(other, &mut values),
        }
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        for value in values {
            text = remove(&text, value);
        }
        Self(cut(&without_addresses(&text), MESSAGE_BYTES))
    }

    /// A fixed message.
    #[must_use]
    pub fn own(message: &'static str) -> Self {
        Self(message.to_owned())
    }

    /// The message.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text after a colon may come from a page or a parser.
fn until_colon(message: &str) -> String {
    match message.split_once(": ") {
        Some((own, _)) => format!("{own}: {CUT}"),
        None => message.to_owned(),
    }
}

fn without_quotes(message: &str) -> String {
    let mut safe = String::new();
    let mut letters = message.chars();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        // An apostrophe inside a word is not a quote.
        let quotes = letter != '\'' || !before.is_alphanumeric();
        match QUOTES.iter().find(|(open, _)| *open == letter && quotes) {
            Some((open, close)) => {
                safe.extend([*open]);
                safe.push_str(CUT);
                safe.extend([*close]);
                let _ = letters.any(|next| next == *close);
            }
            None => safe.push(letter),
        }
        before = letter;
    }
    safe
}

fn without_addresses(message: &str) -> String {
    let safe = message.split(' ').map(|word| {
        let is_address = word.contains("://")
            || ["data:", "javascript:", "blob:", "about:"].iter().any(|scheme| word.starts_with(scheme));
        if is_address { safe_address(word.trim_end_matches(['.', ',', ')'])) } else { word.to_owned() }
    });
    safe.collect::<Vec<_>>().join(" ")
}

fn remove(text: &str, value: &str) -> String {
    if value.chars().count() >= SHORTEST_ANYWHERE {
        return text.replace(value, CUT);
    }
    let safe = text.split(' ').map(|word| {
        let bare = word.trim_matches(|letter: char| letter.is_ascii_punctuation());
        if word == value || bare == value { CUT } else { word }
    });
    safe.collect::<Vec<_>>().join(" ")
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => {
            texts.extend(members.keys().map(String::as_str).filter(|name| !name.is_empty()));
            members.values().for_each(|member| collect(member, texts));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn t39_messages_lose_text_of_callers_and_pages() {
        let check = |message: &str, given: Value, expected: &str| {
            assert_eq!(SafeMessage::of(message, &given).as_str(), expected);
        };
        let none = Value::Null;
        check("Nothing matches `#secret`.", none.clone(), "Nothing matches `…`.");
        check("The button \"secret\" isn't visible.", none.clone(), "The button \"…\" isn't visible.");
        check("The code threw: Error: secret", none.clone(), "The code threw: …");
        check("The page 'secret' isn't one.", none.clone(), "The page '…' isn't one.");
        check("An open `quote that never ends secret", none.clone(), "An open `…`");
        check(
            "The browser opened no tab for https://a:secret@b.test/c?secret#secret.",
            none,
            "The browser opened no tab for https://b.test/c?…",
        );
        check("Typing hunter2 failed.", json!({"value": "hunter2"}), "Typing … failed.");
        check("Key x, pressed as max.", json!({"keys": ["x"]}), "Key … pressed as max.");
        check("The text of #pin is bad.", json!({"text": {"#pin": 1}}), "The text of … is bad.");
    }
}
