//! What is searched for in a snapshot: a text or a regular expression. Knows nothing of pages.

use regex::{Regex, RegexBuilder};
use tabwire_wire::{ErrorCode, Failure};

use super::page_text::PageText;
use crate::limits::{PATTERN_BYTES, PATTERN_CHARACTERS};

/// What is searched for. Matching takes time in proportion to the text, whatever the pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern(Regex);

impl Pattern {
    /// A text, found in any case and with any blanks between its words.
    ///
    /// # Errors
    /// With `BAD_ARGS` when it is empty or too long.
    pub(crate) fn text(text: &str) -> Result<Self, Failure> {
        let text = PageText::new(text);
        let words: Vec<String> = text.as_str().split(' ').map(regex::escape).collect();
        Self::build(&words.join(r"\s+"), true)
    }

    /// A regular expression, case sensitive unless it starts with `(?i)`.
    ///
    /// # Errors
    /// With `BAD_ARGS` when it is not one, or too large.
    pub(crate) fn regex(expression: &str) -> Result<Self, Failure> {
        Self::build(expression, false)
    }

    fn build(expression: &str, any_case: bool) -> Result<Self, Failure> {
        if expression.is_empty() || expression.chars().count() > PATTERN_CHARACTERS {
            let message = format!("A search has between 1 and {PATTERN_CHARACTERS} characters.");
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        RegexBuilder::new(expression)
            .case_insensitive(any_case)
            .size_limit(PATTERN_BYTES)
            .build()
            .map(Self)
            .map_err(|error| {
                let reason = PageText::cut(&error.to_string(), 300);
                Failure::new(
                    ErrorCode::BadArgs,
                    format!("The regular expression is not valid: {}.", reason.as_str()),
                )
                .with_hint("Look-around and back references are not supported.")
            })
    }

    /// Whether it occurs in a line.
    pub(crate) fn matches(&self, line: &str) -> bool {
        self.0.is_match(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_any_case() {
        let pattern = Pattern::text("pay  NOW").expect("valid");
        assert!(pattern.matches("button \"Pay now (5.00)\""));
        assert!(!pattern.matches("button \"Pay\""));
        assert!(Pattern::text("a.c").expect("valid").matches("A.C"));
        assert!(!Pattern::text("a.c").expect("valid").matches("abc"));
        assert!(Pattern::text("ÜBER").expect("valid").matches("über uns"));
    }

    #[test]
    fn bad_patterns_are_bad_arguments() {
        for expression in ["", "(", "[z-a]", r"(a)\1", "(?=a)", r"\p{Nope}", "(((a{100}){100}){100}){100}"] {
            let failure = Pattern::regex(expression).expect_err("refused");
            assert_eq!(failure.code, ErrorCode::BadArgs, "{expression}");
        }
        assert_eq!(Pattern::regex(&"a".repeat(2_000)).expect_err("refused").code, ErrorCode::BadArgs);
        assert_eq!(Pattern::text(" \n").expect_err("refused").code, ErrorCode::BadArgs);
    }

    #[test]
    fn no_pattern_takes_exponential_time() {
        let line = format!("{}!", "a".repeat(20_000));
        assert!(!Pattern::regex(r"^(a+)+$").expect("valid").matches(&line));
        assert!(!Pattern::regex(r"^(a|aa|a?)+$").expect("valid").matches(&line));
    }
}
