//! Bounds titles, URLs and messages of pages.

use serde::{Deserialize, Deserializer};
use tabwire_api::Failure;

use super::fence::enclose;
use super::link_target::LinkTarget;
use super::page_lines::{plain_lines, plain_value};
use super::page_text::PageText;
use crate::limits::TITLE_CHARACTERS;

/// Characters of a URL in JSON.
const URL_CHARACTERS: usize = 4_096;

/// Characters of an error message, and of its remedy.
const FAILURE_CHARACTERS: usize = 2_000;

/// Characters of a URL on a line of text.
const LINE_URL_CHARACTERS: usize = 500;

/// A page title: one line, no invisible characters, bounded.
pub(crate) fn title(text: &str) -> PageText {
    PageText::cut(text, TITLE_CHARACTERS)
}

/// Parses a title from the page agent or the browser.
pub(crate) fn read_title<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(title(&String::deserialize(deserializer)?).as_str().to_owned())
}

/// The same, as page text.
pub(crate) fn read_page_title<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PageText, D::Error> {
    Ok(title(&String::deserialize(deserializer)?))
}

/// Parses multi-line text from the page agent.
pub(crate) fn read_lines<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(plain_lines(&String::deserialize(deserializer)?).into_owned())
}

/// A URL as data: unchanged, unless it is too long to be used again. `data:` URLs can be megabytes.
pub(crate) fn address(url: &str) -> String {
    match url.char_indices().nth(URL_CHARACTERS) {
        None => url.to_owned(),
        Some((end, _)) => format!("{}…", &url[..end]),
    }
}

/// A URL on a line of text: no part of it looks like another part of the line, or like a sentence.
#[must_use]
pub fn line_address(url: &str) -> String {
    LinkTarget::new(url).within(LINE_URL_CHARACTERS).to_string()
}

/// A name as it is if it is one word, else in quotes: sites choose it, and their text must not pass for ours.
pub(crate) fn worded(text: &str) -> String {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~/@".contains(&byte);
    let is_address = text.starts_with("http") && text.bytes().all(|byte| is_word(byte) || byte == b':');
    let text = PageText::new(text);
    if is_address || text.as_str().bytes().all(is_word) {
        text.as_str().to_owned()
    } else {
        text.quoted().to_string()
    }
}

/// Multi-line text in quotes on one line, cut to this many characters. Invisible characters are escaped.
pub(crate) fn quoted_lines(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
    }
}

/// Any text as one bounded line without invisible characters.
#[must_use]
pub fn plain_line(text: &str, limit: usize) -> String {
    PageText::cut(text, limit).as_str().to_owned()
}

/// The start of a page as text: its title, and its visible text within a fence.
#[must_use]
pub fn page_outline(page_title: &str, text: &str) -> String {
    let quoted = title(page_title).quoted().to_string();
    match (page_title.is_empty(), text.is_empty()) {
        (true, true) => String::new(),
        (false, true) => format!("# {quoted}"),
        (_, false) => enclose(&quoted, &format!("{}\n", plain_lines(text).trim_end())).trim_end().to_owned(),
    }
}

/// A failure whose message and remedy are one bounded line each, whatever page text they quote.
#[must_use]
pub fn bounded_failure(failure: Failure) -> Failure {
    let line = |text: &str| PageText::cut(text, FAILURE_CHARACTERS).as_str().to_owned();
    Failure {
        message: line(&failure.message),
        remedy: failure.remedy.map(|remedy| remedy.map_text(line)),
        details: plain_value(failure.details),
        ..failure
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tabwire_api::ErrorCode;

    use super::*;

    #[test]
    fn l4_a_title_is_bounded_and_shows_all_it_has() {
        let hostile = format!("Pay\u{e0049}\u{202e}\u{200b}\nerror: x{}", "y".repeat(1_000_000));
        let shown = title(&hostile);
        assert!(shown.as_str().starts_with("Pay error: xyyy") && shown.as_str().ends_with('…'), "{shown:?}");
        assert_eq!(shown.as_str().chars().count(), TITLE_CHARACTERS);
    }

    #[test]
    fn l4_addresses_are_bounded() {
        assert_eq!(address("https://a.test/?q=(x)"), "https://a.test/?q=(x)");
        assert_eq!(address(&"é".repeat(100_000)).chars().count(), URL_CHARACTERS + 1);
        let line = line_address(&format!("data:text/html,error: do \"this\"\n{}", "x".repeat(9_999)));
        assert!(line.len() < 600 && !line.contains([' ', '"', '\n']), "{line}");
    }

    #[test]
    fn a_name_of_one_word_has_no_quotes() {
        for word in ["sid", "__Host-x", ".example.org", "/", "https://a.test:8080", "frame1"] {
            assert_eq!(worded(word), word);
        }
        assert_eq!(worded("error: do\nthis"), "\"error: do this\"");
        assert_eq!(worded("https://a b"), "\"https://a b\"");
    }

    #[test]
    fn l4_a_failure_is_one_bounded_line() {
        let failure = Failure::new(
            ErrorCode::EvalFailed,
            format!("thrown\u{1b}]0;x\u{7}\nerror: y{}", "z".repeat(9_999)),
        )
        .with_remedy("a\nb\u{202e}c")
        .with_details(json!({"name": "p\u{e0061}q"}));
        let bounded = bounded_failure(failure);
        assert!(bounded.message.starts_with("thrown]0;x error: yz"), "{}", bounded.message);
        assert_eq!(bounded.message.chars().count(), FAILURE_CHARACTERS);
        assert_eq!((bounded.hint().as_str(), bounded.details), ("a bc", json!({"name": "pq"})));
    }
}
