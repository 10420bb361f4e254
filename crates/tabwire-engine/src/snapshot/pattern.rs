//! Search patterns for snapshots: text or regular expressions.

use regex::{Regex, RegexBuilder};
use tabwire_api::{ErrorCode, Failure};

use super::text::page_text::PageText;

/// Characters of a search pattern.
const PATTERN_CHARACTERS: usize = 1_000;

/// Bytes of a compiled regular expression.
const PATTERN_BYTES: usize = 1024 * 1024;

/// A search pattern. Matching takes linear time for every pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    expression: Regex,
    /// Words that a page must contain for a line to match; none when they are unknown.
    words: Vec<String>,
}

/// Words of our own lines. A page word that is part of them can match pages that do not contain it.
const LINE_WORDS: &str = "alert alertdialog application article audio banner blockquote button canvas caption cell \
    checkbox clickable code columnheader combobox complementary contentinfo definition deletion dialog directory \
    document emphasis feed figure footer form generic grid gridcell group header heading iframe image img insertion \
    label legend link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox \
    menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region row \
    rowgroup rowheader scrollbar search searchbox section separator slider spinbutton status strong subscript \
    suggestion superscript switch tab table tablist tabpanel term text textbox time timer toolbar tooltip tree \
    treegrid treeitem unknown video h1 h2 h3 h4 h5 h6 level value options rows unseen opacity clipped off-screen \
    font-size colour covered screen-reader-only checked selected expanded disabled required invalid focused pressed \
    current readonly multiselectable multiple modal busy true false mixed page step location date horizontal vertical \
    collapsed open closed grabbed hidden spelling grammar ascending descending other both inline autocomplete popup \
    haspopup orientation sort placeholder";

impl Pattern {
    /// A text, matched without case and with any whitespace between its words.
    ///
    /// # Errors
    /// With `BAD_ARGS` when it is empty or too long.
    pub(crate) fn text(text: &str) -> Result<Self, Failure> {
        let text = PageText::new(text);
        let words: Vec<String> = text.as_str().split(' ').map(regex::escape).collect();
        let mut pattern = Self::build(&words.join(r"\s+"), true)?;
        pattern.words = needed_words(text.as_str());
        Ok(pattern)
    }

    /// A regular expression, case sensitive unless it starts with `(?i)`.
    ///
    /// # Errors
    /// With `BAD_ARGS` when it is invalid or too large.
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
            .map(|expression| Self { expression, words: Vec::new() })
            .map_err(|error| {
                let reason = PageText::cut(&error.to_string(), 300);
                Failure::new(
                    ErrorCode::BadArgs,
                    format!("The regular expression is not valid: {}.", reason.as_str()),
                )
                .with_remedy("Look-around and back references are not supported.")
            })
    }

    /// Whether it occurs in a line.
    pub(crate) fn matches(&self, line: &str) -> bool {
        self.expression.is_match(line)
    }

    /// Words that a page must contain for a line to match, in lower case; none when they are unknown.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }
}

/// The words of a text that only the page itself can contribute to a line.
fn needed_words(text: &str) -> Vec<String> {
    // Characters that differ between a page's markup and our lines.
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.,:;!?/@#$+*() ".contains(letter);
    if !text.chars().all(is_plain) {
        return Vec::new();
    }
    let words = text.split(' ').map(str::to_lowercase);
    // Levels of headings are short numbers.
    let is_short_number = |word: &str| word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    words
        .filter(|word| !word.is_empty() && !is_short_number(word) && !LINE_WORDS.contains(word.as_str()))
        .collect()
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
    fn words_of_our_own_lines_are_not_required_on_pages() {
        let words = |text: &str| Pattern::text(text).expect("valid").words().to_vec();
        assert_eq!(words("Button  Pay TODAY 5000"), ["pay", "today", "5000"]);
        assert_eq!(words("link"), [""; 0]);
        assert_eq!(words("box 7"), [""; 0], "part of textbox, and a level");
        assert_eq!(words("pay \"now"), [""; 0], "quotes are ours");
        assert!(Pattern::regex("pay").expect("valid").words().is_empty());
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
