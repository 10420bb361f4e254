//! The value of a field, exactly as it is.

use std::fmt::{self, Write};

use serde::{Deserialize, Deserializer, Serialize};

use super::page_lines::plain_lines;
use crate::limits::PAGE_STRING_CHARACTERS;

/// The value of a field with all its spaces and line breaks, without invisible characters, bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct FieldValue(String);

impl FieldValue {
    /// Sanitises the value of a field.
    pub(crate) fn new(text: &str) -> Self {
        let plain = plain_lines(text);
        match plain.char_indices().nth(PAGE_STRING_CHARACTERS) {
            None => Self(plain.into_owned()),
            Some((end, _)) => Self(format!("{}…", &plain[..end])),
        }
    }

    /// The value.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The value in quotes on one line: quotes, backslashes, line breaks and tabs are escaped.
impl fmt::Display for FieldValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' => formatter.write_str("\\\"")?,
                '\\' => formatter.write_str("\\\\")?,
                '\n' => formatter.write_str("\\n")?,
                '\t' => formatter.write_str("\\t")?,
                _ => formatter.write_char(letter)?,
            }
        }
        formatter.write_char('"')
    }
}

impl<'de> Deserialize<'de> for FieldValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(&String::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn b13_a_value_keeps_its_spaces() {
        assert_eq!(FieldValue::new(" a  b ").to_string(), "\" a  b \"");
        assert_eq!(FieldValue::new("two\r\nlines\t").to_string(), r#""two\nlines\t""#);
    }

    #[test]
    fn t29_a_value_has_no_invisible_characters() {
        assert_eq!(FieldValue::new("a\u{202e}b\u{e0041}\u{1b}[0m\u{2028}c").as_str(), "ab[0m\nc");
    }

    proptest! {
        #[test]
        fn t28_a_value_is_one_quoted_line(text in any::<String>()) {
            let line = FieldValue::new(&text).to_string();
            prop_assert!(!line.chars().any(char::is_control));
            let mut escaped = false;
            for letter in line[1..line.len() - 1].chars() {
                prop_assert!(escaped || letter != '"');
                escaped = !escaped && letter == '\\';
            }
            prop_assert!(!escaped);
        }
    }
}
