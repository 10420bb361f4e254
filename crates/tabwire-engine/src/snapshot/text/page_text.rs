//! Sanitised page text: one line, no invisible characters.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::limits::PAGE_STRING_CHARACTERS;

/// One line of page text without invisible characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub(crate) struct PageText(String);

impl PageText {
    /// Sanitises page text.
    pub(crate) fn new(text: &str) -> Self {
        Self::cut(text, PAGE_STRING_CHARACTERS)
    }

    /// Sanitises page text and cuts it to this many characters, "…" included.
    pub(crate) fn cut(text: &str, limit: usize) -> Self {
        if is_harmless(text, limit) {
            return Self(text.to_owned());
        }
        let mut line = Line { text: String::with_capacity(text.len().min(limit)), ..Line::default() };
        for letter in text.chars() {
            match class_of(letter) {
                Class::Seen => line.push(letter),
                Class::Space => line.space(),
                Class::Mark => line.mark(letter),
                Class::Joiner => line.join(letter),
                Class::Unseen => {}
            }
            if line.count > limit {
                return Self(shorten(&line.text, limit));
            }
        }
        Self(line.text)
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the text in quotes; most texts need no escaping.
    pub(crate) fn push_quoted(&self, out: &mut String) {
        if self.0.bytes().any(|byte| matches!(byte, b'"' | b'\\')) {
            out.push_str(&self.quoted().to_string());
            return;
        }
        out.push('"');
        out.push_str(&self.0);
        out.push('"');
    }

    /// The text in quotes, with its own quotes escaped.
    pub(crate) fn quoted(&self) -> QuotedText<'_> {
        QuotedText(&self.0)
    }
}

impl<'de> Deserialize<'de> for PageText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(if is_harmless(&text, PAGE_STRING_CHARACTERS) { Self(text) } else { Self::new(&text) })
    }
}

/// The line so far.
#[derive(Debug, Default)]
struct Line {
    text: String,
    count: usize,
    marks: usize,
    spaced: bool,
    /// Joiners that are kept if the next letter is one they join.
    joiners: String,
}

impl Line {
    fn push(&mut self, letter: char) {
        if self.spaced {
            self.text.push(' ');
            self.count += 1;
            self.spaced = false;
        } else if joins(letter) {
            self.text.push_str(&self.joiners);
        }
        self.joiners.clear();
        self.text.push(letter);
        self.count += 1;
        self.marks = 0;
    }

    fn space(&mut self) {
        self.spaced = self.count > 0;
        self.joiners.clear();
    }

    /// Marks on a letter; stacked marks cover neighbouring lines.
    fn mark(&mut self, letter: char) {
        self.joiners.clear();
        self.marks += 1;
        if self.marks <= 4 && self.count > 0 && !self.spaced {
            self.text.push(letter);
        }
    }

    fn join(&mut self, letter: char) {
        let is_beside = self.text.chars().next_back().is_some_and(joins);
        if is_beside && !self.spaced && self.joiners.chars().count() < 2 {
            self.joiners.push(letter);
        }
    }
}

/// Fast check on bytes: plain words with single spaces stay unchanged. Most texts are such.
fn is_harmless(text: &str, limit: usize) -> bool {
    let is_word = |byte: u8| (b'!'..=b'~').contains(&byte);
    let mut before = b' ';
    for byte in text.bytes() {
        if !is_word(byte) && (byte != b' ' || before == b' ') {
            return false;
        }
        before = byte;
    }
    text.len() <= limit && (before != b' ' || text.is_empty())
}

fn shorten(line: &str, limit: usize) -> String {
    let mut short: String = line.chars().take(limit.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// How a character is rendered.
pub(crate) enum Class {
    Seen,
    Space,
    Mark,
    Joiner,
    Unseen,
}

pub(crate) fn class_of(letter: char) -> Class {
    match letter {
        ' '..='~' if letter != ' ' => Class::Seen,
        // Spaces of every width, line breaks, and letters without a glyph.
        ' '
        | '\t'
        | '\n'
        | '\u{b}'
        | '\u{c}'
        | '\r'
        | '\u{85}'
        | '\u{a0}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{2800}'
        | '\u{3000}'
        | '\u{3164}'
        | '\u{ffa0}' => Class::Space,
        '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' => Class::Joiner,
        '\u{300}'..='\u{34e}'
        | '\u{350}'..='\u{36f}'
        | '\u{483}'..='\u{489}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}' => Class::Mark,
        // Controls, directions, joiners, fillers, tags, annotations, private use, non-characters.
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{e000}'..='\u{f8ff}'
        | '\u{fdd0}'..='\u{fdef}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{fff0}'..='\u{ffff}'
        | '\u{13430}'..='\u{13455}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d159}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{10ffff}' => Class::Unseen,
        _ => Class::Seen,
    }
}

/// Whether a character is invisible and controls, hides or reorders text: controls, directions, joiners, tags. Line
/// breaks count as well; private use characters do not, because terminals show them as icons.
pub(crate) fn is_invisible(letter: char) -> bool {
    let is_private = matches!(letter, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}');
    match class_of(letter) {
        Class::Unseen => !is_private,
        Class::Joiner => true,
        Class::Space => letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}'),
        Class::Seen | Class::Mark => false,
    }
}

/// Whether a character is a joiner between two letters that it joins.
pub(crate) fn is_joined(before: Option<char>, letter: char, after: Option<char>) -> bool {
    let is_variation = matches!(letter, '\u{fe0e}' | '\u{fe0f}');
    matches!(class_of(letter), Class::Joiner)
        && before.is_some_and(|before| joins(before) || matches!(before, '\u{fe0e}' | '\u{fe0f}'))
        && (is_variation || after.is_some_and(joins))
}

/// Whether a character is a combining mark.
pub(crate) fn is_mark(letter: char) -> bool {
    matches!(class_of(letter), Class::Mark)
}

/// Whether a joiner beside this letter changes its rendering; beside others it only hides.
fn joins(letter: char) -> bool {
    letter > '\u{ff}' && matches!(class_of(letter), Class::Seen)
}

/// Text in quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuotedText<'a>(&'a str);

impl fmt::Display for QuotedText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        formatter.write_char('"')?;
        let mut rest = self.0;
        while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\')) {
            let (plain, special) = rest.split_at(at);
            formatter.write_str(plain)?;
            formatter.write_char('\\')?;
            formatter.write_str(&special[..1])?;
            rest = &special[1..];
        }
        formatter.write_str(rest)?;
        formatter.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(page: &str, expected: &str) {
        assert_eq!(PageText::new(page).as_str(), expected, "{page:?}");
    }

    #[test]
    fn text_becomes_one_line() {
        check("  a\n\n b\t\u{2028}c\r\n", "a b c");
        check("a\u{a0}\u{3000}b", "a b");
        check("\u{0}a\u{1b}[31mb", "a[31mb");
        check("", "");
        check(" \n ", "");
    }

    #[test]
    fn t29_invisible_characters_are_gone() {
        check("pay\u{e0049}\u{e0067}\u{e006e} now", "pay now");
        check("a\u{202e}b\u{2066}c\u{200f}d", "abcd");
        check("pass\u{200b}word\u{feff}\u{2060}", "password");
        check("x\u{fe01}\u{e0101}\u{e0102}y", "xy");
        check("icon \u{e8b6} search", "icon search");
        check("soft\u{ad}hyphen", "softhyphen");
        check("a\u{3164}\u{2800}b", "a b");
    }

    #[test]
    fn joiners_stay_where_they_join() {
        check("👩\u{200d}👩\u{200d}👧", "👩\u{200d}👩\u{200d}👧");
        check("می\u{200c}خواهم", "می\u{200c}خواهم");
        check("1\u{fe0f}\u{20e3}", "1\u{20e3}");
        check("a\u{200d}b", "ab");
        check("x\u{200d}\u{200c}\u{200d}y", "xy");
    }

    #[test]
    fn stacked_marks_are_cut() {
        let heap = "e".to_owned() + &"\u{301}".repeat(100);
        assert_eq!(PageText::new(&heap).as_str().chars().count(), 5);
    }

    #[test]
    fn long_text_ends_with_an_ellipsis() {
        assert_eq!(PageText::cut("abcdef", 6).as_str(), "abcdef");
        assert_eq!(PageText::cut("abcdefg", 6).as_str(), "abcde…");
        assert_eq!(PageText::cut("ab   defg", 4).as_str(), "ab…");
        assert_eq!(PageText::cut("äöüäöü", 3).as_str(), "äö…");
    }

    #[test]
    fn quotes_cannot_be_ended_from_inside() {
        assert_eq!(PageText::new(r#"a" [e9] \"#).quoted().to_string(), r#""a\" [e9] \\""#);
    }

    proptest! {
        #[test]
        fn sanitising_is_idempotent_and_bounded(text in any::<String>(), limit in 1_usize..200) {
            let once = PageText::cut(&text, limit);
            prop_assert_eq!(&PageText::cut(once.as_str(), limit), &once);
            prop_assert!(!once.as_str().chars().any(|letter| letter.is_control()));
            prop_assert!(!once.as_str().starts_with(' ') && !once.as_str().ends_with(' '));
            let seen = once.as_str().chars().filter(|letter| matches!(class_of(*letter), Class::Seen)).count();
            prop_assert!(seen <= limit);
        }

        #[test]
        fn harmless_text_is_exactly_what_sanitising_keeps(text in "[ -~\u{a0}é\n]{0,12}", limit in 1_usize..16) {
            if is_harmless(&text, limit) {
                let mut line = Line::default();
                for letter in text.chars() {
                    match class_of(letter) {
                        Class::Seen => line.push(letter),
                        Class::Space => line.space(),
                        Class::Mark | Class::Joiner | Class::Unseen => prop_assert!(false, "{:?}", text),
                    }
                }
                prop_assert!(line.count <= limit);
                prop_assert_eq!(line.text, text);
            }
        }

        #[test]
        fn quoted_text_never_ends_its_quotes(text in any::<String>()) {
            let quoted = PageText::new(&text).quoted().to_string();
            let inside = &quoted[1..quoted.len() - 1];
            let mut escaped = false;
            for letter in inside.chars() {
                if escaped { escaped = false; continue; }
                prop_assert_ne!(letter, '"');
                escaped = letter == '\\';
            }
            prop_assert!(!escaped);
        }
    }
}
