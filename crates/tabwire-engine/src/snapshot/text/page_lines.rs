//! Sanitises multi-line page text.

use std::borrow::Cow;

use serde_json::Value;

use super::page_text::{Class, class_of};

/// Page text without invisible characters; keeps lines and their spaces.
#[must_use]
pub fn plain_lines(text: &str) -> Cow<'_, str> {
    // Most texts stay unchanged.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(harmless_lines(text))
}

/// JSON data of a page with every string sanitised.
#[must_use]
pub fn plain_value(value: Value) -> Value {
    match value {
        Value::String(text) => match plain_lines(&text) {
            Cow::Borrowed(_) => Value::String(text),
            Cow::Owned(plain) => Value::String(plain),
        },
        Value::Array(list) => list.into_iter().map(plain_value).collect(),
        Value::Object(entries) => {
            let plain = |name: String| plain_lines(&name).into_owned();
            entries.into_iter().map(|(name, value)| (plain(name), plain_value(value))).collect()
        }
        other => other,
    }
}

/// The same as `plain_lines`, character by character.
pub(crate) fn harmless_lines(text: &str) -> String {
    let mut lines = String::with_capacity(text.len());
    let mut marks = 0_usize;
    let mut characters = text.chars().peekable();
    while let Some(letter) = characters.next() {
        if !matches!(class_of(letter), Class::Mark) {
            marks = 0;
        }
        match letter {
            '\n' | '\t' => lines.push(letter),
            '\r' => {
                if characters.peek() != Some(&'\n') {
                    lines.push('\n');
                }
            }
            '\u{2028}' | '\u{2029}' => lines.push('\n'),
            _ => match class_of(letter) {
                Class::Seen => lines.push(letter),
                Class::Space => lines.push(' '),
                Class::Mark => {
                    marks += 1;
                    // Stacked marks cover neighbouring lines.
                    if marks <= 4 {
                        lines.push(letter);
                    }
                }
                // Beside letters of some scripts joiners change the rendering; elsewhere they only hide.
                Class::Joiner => {
                    let is_beside = lines.chars().next_back().is_some_and(|before| before > '\u{ff}');
                    if is_beside {
                        lines.push(letter);
                    }
                }
                Class::Unseen => {}
            },
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t29_nothing_unseen_stays_in_lines() {
        let text = "a\u{202e}b\r\n  c\u{e0041}\u{200b}\td\u{a0}e\u{7}\rf\u{2028}g";
        assert_eq!(harmless_lines(text), "ab\n  c\td e\nf\ng");
        assert_eq!(harmless_lines("\u{1b}[31mred\0"), "[31mred");
        let heap = format!("x{}", "\u{301}".repeat(50));
        assert_eq!(harmless_lines(&heap).chars().count(), 5);
    }
}
