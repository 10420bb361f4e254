//! Words that the code and the documents no longer use, with their replacements, and a search for them.
//!
//! The search splits identifiers: `nobody_reads`, `NobodyReads` and "nobody reads" all contain `nobody`.

use std::cell::OnceCell;

/// How a word is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    /// One or more words in a row, in any case and also as parts of an identifier.
    Words(&'static [&'static str]),
    /// A whole identifier in exactly this spelling.
    Identifier(&'static str),
}

/// A retired word.
#[derive(Debug)]
pub(crate) struct Retired {
    pattern: Match,
    /// The word to use.
    pub(crate) instead: &'static str,
}

const fn words(pattern: &'static [&'static str], instead: &'static str) -> Retired {
    Retired { pattern: Match::Words(pattern), instead }
}

const fn identifier(name: &'static str, instead: &'static str) -> Retired {
    Retired { pattern: Match::Identifier(name), instead }
}

/// Words that `cargo xtask tidy` refuses.
pub(crate) const REFUSED: &[Retired] = &[
    words(&["house"], "control session, internal"),
    words(&["household"], "SessionDeps"),
    words(&["errand"], "InternalCommand"),
    words(&["chore"], "FireAndForget, command"),
    words(&["deed"], "InputAction, operation"),
    words(&["farewell"], "CloseFrame"),
    words(&["goodbye"], "close_with"),
    words(&["veil"], "FrameFilter"),
    words(&["veiled"], "filtered"),
    words(&["desk"], "store, queue, registry"),
    words(&["shelf"], "OutputDirs, truncated results"),
    words(&["shelves"], "OutputDirs"),
    words(&["scribe"], "AuditWriter"),
    words(&["steward"], "PortServer"),
    words(&["guest"], "connection"),
    words(&["newcomer"], "ReplacedBrowser"),
    words(&["whereabouts"], "PageLocation"),
    words(&["concealment"], "OutputRedactor"),
    words(&["realm"], "partition"),
    words(&["squatter"], "rogue daemon"),
    words(&["nobody"], "the role: client, user, owner"),
    words(&["nobodys"], "unowned"),
    words(&["somebody"], "the role: client, user, owner"),
    words(&["anybody"], "the role: client, user, owner"),
    words(&["whoever"], "the role: client, user, owner"),
    words(&["knows", "nothing", "of"], "a sentence that says what the file does"),
    words(&["stand", "in"], "Chrome shim"),
    words(&["stand", "ins"], "Chrome shims"),
    words(&["stands", "in", "for"], "is the Chrome shim of"),
    words(&["evidence", "book"], "CaptureStore"),
    words(&["evidence", "set"], "Capture"),
    words(&["tab", "book"], "TabIds"),
    words(&["take", "hands"], "lock_input"),
    words(&["reach", "element"], "ensure_hit_target"),
    words(&["vital", "signs"], "web_vitals"),
    words(&["one", "time", "code"], "totp"),
    words(&["is", "kept", "in"], "blocked_by_guard"),
    words(&["is", "heard"], "event_allowed"),
    words(&["tab", "partner"], "tab_page_map"),
    words(&["calm", "set"], "never_empty"),
    words(&["let", "go"], "detach"),
    words(&["driver", "board"], "AttachmentList"),
    words(&["told", "parameters"], "logged_parameters"),
    words(&["set", "aside"], "quarantine"),
    words(&["pass", "in", "hand"], "OneTimeGrant"),
    words(&["client", "memory"], "ReplayState"),
    words(&["launcher", "line"], "launcher_args"),
    words(&["extension", "news"], "notifications"),
    words(&["waking", "clock"], "run_clock"),
    words(&["made", "up", "world"], "synthetic_context"),
    words(&["untouched", "tab"], "unattached_tab"),
    identifier("Acted", "ActionResult"),
    identifier("Begun", "PendingAgentCall"),
    identifier("Chance", "Rng"),
    identifier("Containment", "EgressPolicy"),
    identifier("Door", "Transport"),
    identifier("Filmed", "ScreencastFrames"),
    identifier("Fleet", "BrowserManager"),
    identifier("Journal", "AuditLog, SetupReplay"),
    identifier("Movie", "Video"),
    identifier("Reel", "ScreencastFrames"),
    identifier("Stroke", "Fault"),
    identifier("Telling", "LogVisibility"),
    identifier("Told", "the noun: Report, Response"),
    identifier("Trouble", "Error"),
    identifier("Unfolding", "ActivityTracker"),
    identifier("Visit", "RequestHead"),
    identifier("Went", "NavigationResult"),
    identifier("Wish", "Options, Request"),
    identifier("Witness", "CaptureRecorder"),
];

/// Words that `cargo xtask metrics` counts and no check refuses, because they have proper uses too.
pub(crate) const DISCOURAGED: &[Retired] = &[
    words(&["answer"], "response, result"),
    words(&["told"], "reported, listed"),
    words(&["wish"], "options, request"),
    words(&["patience"], "timeout"),
    words(&["picture"], "image, screenshot"),
    words(&["journal"], "audit log"),
    words(&["door"], "transport, listener"),
    words(&["people"], "users"),
    words(&["news"], "notifications, events"),
    words(&["thing"], "its noun"),
];

impl Retired {
    /// The word as it is printed.
    pub(crate) fn name(&self) -> String {
        match self.pattern {
            Match::Words(words) => words.join(" "),
            Match::Identifier(name) => name.to_owned(),
        }
    }

    /// How often the word occurs in a line.
    pub(crate) fn count_in(&self, line: &Line<'_>) -> usize {
        match self.pattern {
            Match::Words(wanted) => {
                let same = |found: &[String]| {
                    let (last, first) = (wanted.len() - 1, &found[..wanted.len() - 1]);
                    first.iter().map(String::as_str).eq(wanted[..last].iter().copied())
                        && is_form_of(&found[last], wanted[last])
                };
                if !line.may_contain(wanted[0]) {
                    return 0;
                }
                line.words().windows(wanted.len()).filter(|found| same(found)).count()
            }
            Match::Identifier(name) => line.identifiers().filter(|found| *found == name).count(),
        }
    }
}

/// Whether a word is this word or its plural.
fn is_form_of(found: &str, word: &str) -> bool {
    found.strip_prefix(word).is_some_and(|rest| matches!(rest, "" | "s" | "es"))
}

/// A line of text, split into lower-case words when needed.
pub(crate) struct Line<'text> {
    text: &'text str,
    lower: String,
    words: OnceCell<Vec<String>>,
}

impl<'text> Line<'text> {
    pub(crate) fn of(text: &'text str) -> Line<'text> {
        Line { text, lower: text.to_lowercase(), words: OnceCell::new() }
    }

    /// Whether the letters of a word occur at all, which is quicker than splitting the line.
    fn may_contain(&self, word: &str) -> bool {
        self.lower.contains(word)
    }

    fn words(&self) -> &[String] {
        self.words.get_or_init(|| self.split())
    }

    /// Splits at everything but letters, and inside `camelCase`.
    fn split(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut word = String::new();
        let mut last_is_lower = false;
        for letter in self.text.chars() {
            let starts_word = letter.is_uppercase() && last_is_lower;
            if (!letter.is_alphabetic() || starts_word) && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if letter.is_alphabetic() {
                word.extend(letter.to_lowercase());
            }
            last_is_lower = letter.is_lowercase();
        }
        words.extend((!word.is_empty()).then_some(word));
        words
    }

    fn identifiers(&self) -> impl Iterator<Item = &'text str> {
        self.text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let line = Line::of(text);
        REFUSED.iter().filter(|word| word.count_in(&line) > 0).map(Retired::name).collect()
    }

    #[test]
    fn words_are_found_in_prose_and_in_identifiers() {
        for text in ["It is nobody's.", "fn hurts_nobody_else() {}", "Owner::Nobody", "NOBODY"] {
            assert_eq!(found(text), ["nobody"], "{text}");
        }
        assert_eq!(found("struct ChromeGuests;"), ["guest"]);
        assert_eq!(found("a stand-in for Chrome"), ["stand in"]);
        assert_eq!(found("let standIn = 1;"), ["stand in"]);
        assert_eq!(found("//! Knows nothing of CDP."), ["knows nothing of"]);
        assert_eq!(found("enum Asked { Told(Wish) }"), ["Told", "Wish"]);
    }

    #[test]
    fn other_words_are_not_found() {
        for text in
            ["desktop", "housekeeping", "it told the wish", "a standing instance", "guesthouse", "WishList"]
        {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
        assert_eq!(Line::of("HTTPServer readFile").words(), ["httpserver", "read", "file"]);
    }
}
