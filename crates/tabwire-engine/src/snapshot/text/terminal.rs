//! Text for a terminal: escapes every character that would control the terminal, hide, or reorder text.

use std::borrow::Cow;
use std::fmt::Write;

use crate::snapshot::{is_invisible, is_joined, is_mark};

/// Most marks on one letter; stacked marks cover neighbouring lines.
const MARKS: usize = 4;

/// How a character is escaped.
type Escape = fn(&mut String, char);

/// The text for a terminal: keeps line breaks and tabs, writes other invisible characters as `\u{1b}`.
#[must_use]
pub fn visible_text(text: &str) -> Cow<'_, str> {
    visible(text, |out, letter| {
        let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
    })
}

/// The same for JSON, where such characters occur only in strings: written as `\u001b`, so that the JSON stays equal.
#[must_use]
pub fn visible_json(text: &str) -> Cow<'_, str> {
    visible(text, |out, letter| {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

fn visible(text: &str, escape: Escape) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let (mut before, mut marks) = (None, 0_usize);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        marks = if is_mark(letter) { marks + 1 } else { 0 };
        let is_shown = match letter {
            '\n' | '\t' => true,
            // A CRLF line break; a lone carriage return would overwrite the line.
            '\r' => letters.peek() == Some(&'\n'),
            _ if is_joined(before, letter, letters.peek().copied()) => true,
            _ => !is_invisible(letter) && marks <= MARKS,
        };
        match letter {
            '\r' if is_shown => {}
            _ if is_shown => out.push(letter),
            _ => escape(&mut out, letter),
        }
        before = Some(letter);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn m9_terminal_controls_are_escaped() {
        for (given, shown) in [
            ("plain\ttext\nof lines", "plain\ttext\nof lines"),
            ("a\u{1b}[31mred", "a\\u{1b}[31mred"),
            ("\u{1b}]52;c;ZXZpbA==\u{7}", "\\u{1b}]52;c;ZXZpbA==\\u{7}"),
            ("\u{1b}]8;;http://x\u{1b}\\link", "\\u{1b}]8;;http://x\\u{1b}\\link"),
            ("c1 \u{9b}31m \u{9d}0;t\u{9c}", "c1 \\u{9b}31m \\u{9d}0;t\\u{9c}"),
            ("good\rbad\u{8}\u{7f}", "good\\u{d}bad\\u{8}\\u{7f}"),
            ("one\r\ntwo", "one\ntwo"),
            ("a\u{202e}b\u{2066}c\u{200f}d\u{61c}", "a\\u{202e}b\\u{2066}c\\u{200f}d\\u{61c}"),
            ("pass\u{200b}word\u{feff}\u{2060}\u{ad}", "pass\\u{200b}word\\u{feff}\\u{2060}\\u{ad}"),
            ("tag\u{e0041}\u{e007f}", "tag\\u{e0041}\\u{e007f}"),
            ("l\u{2028}p\u{2029}n\u{85}", "l\\u{2028}p\\u{2029}n\\u{85}"),
            ("日本 é 👩\u{200d}👧 می\u{200c}خ \u{e8b6}", "日本 é 👩\u{200d}👧 می\u{200c}خ \u{e8b6}"),
        ] {
            assert_eq!(visible_text(given), shown, "{given:?}");
        }
        let heap = format!("e{}", "\u{301}".repeat(9));
        assert_eq!(visible_text(&heap).matches("\\u{301}").count(), 5);
    }

    proptest! {
        #[test]
        fn m9_json_stays_the_same_json(text in any::<String>()) {
            let json = serde_json::json!({"a": text}).to_string();
            let shown = visible_json(&json);
            let read: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
            prop_assert_eq!(read, serde_json::json!({"a": text}));
            prop_assert!(!shown.chars().any(char::is_control));
        }

        #[test]
        fn m9_no_terminal_control_is_left(text in any::<String>()) {
            let shown = visible_text(&text);
            prop_assert!(!shown.chars().any(|letter| letter.is_control() && !matches!(letter, '\n' | '\t')));
        }
    }
}
