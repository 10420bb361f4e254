//! Link targets, short enough for a line.

use std::fmt::{self, Write};

use serde::{Deserialize, Deserializer, Serialize};

/// Characters of a link target in a snapshot.
const LINK_TARGET_CHARACTERS: usize = 60;

/// A link target as written: the path on the same site, cut in the middle when long, plain ASCII only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct LinkTarget(String);

impl LinkTarget {
    /// Takes a target from the page agent.
    pub(crate) fn new(target: &str) -> Self {
        // Most targets stay unchanged.
        if target.len() <= STEPS && target.bytes().all(|byte| is_plain(char::from(byte))) {
            return Self(target.to_owned());
        }
        let mut plain = String::with_capacity(target.len().min(STEPS));
        for letter in target.chars().take(STEPS) {
            // The agent's mark for a cut target.
            if letter == '…' || is_plain(letter) {
                plain.push(letter);
                continue;
            }
            for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(plain, "%{byte:02X}");
            }
        }
        Self(plain)
    }

    /// The target, cut in the middle to fit.
    pub(crate) fn short(&self) -> ShortTarget<'_> {
        self.within(LINK_TARGET_CHARACTERS)
    }

    /// The target, cut in the middle to this many characters.
    pub(crate) fn within(&self, characters: usize) -> ShortTarget<'_> {
        ShortTarget(&self.0, characters)
    }

    /// The target as far as it was read.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Most characters of a target that are read.
const STEPS: usize = 2_048;

/// Whether a character stays unescaped. Quotes, brackets and spaces do not: with them a target could look like another
/// part of the line.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric()
        || matches!(letter, '/' | '?' | '#' | '&' | '=' | '.' | ':' | ';' | ',' | '_' | '-' | '~' | '%' | '@')
        || matches!(letter, '!' | '$' | '+' | '*' | '\'')
}

impl<'de> Deserialize<'de> for LinkTarget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(&String::deserialize(deserializer)?))
    }
}

/// A target cut in the middle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortTarget<'a>(&'a str, usize);

impl fmt::Display for ShortTarget<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ShortTarget(text, limit) = *self;
        let length = text.chars().count();
        if length <= limit {
            return formatter.write_str(text);
        }
        let is_opaque = text.starts_with("data:") || text.starts_with("javascript:");
        let tail = if is_opaque { 0 } else { limit / 3 };
        let head = if is_opaque { limit / 3 } else { limit - tail - 1 };
        text.chars().take(head).try_for_each(|letter| formatter.write_char(letter))?;
        formatter.write_char('…')?;
        text.chars().skip(length - tail).try_for_each(|letter| formatter.write_char(letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(target: &str, expected: &str) {
        assert_eq!(LinkTarget::new(target).short().to_string(), expected);
    }

    #[test]
    fn short_targets_stay() {
        check("/docs?page=2#top", "/docs?page=2#top");
        check("https://other.example/a", "https://other.example/a");
        check("mailto:me@example.com", "mailto:me@example.com");
    }

    #[test]
    fn long_targets_are_cut_in_the_middle() {
        let long = format!("https://other.example/{}/end.html", "x".repeat(100));
        let short = LinkTarget::new(&long).short().to_string();
        assert_eq!(short.chars().count(), LINK_TARGET_CHARACTERS);
        assert!(short.starts_with("https://other.example/") && short.ends_with("/end.html"));
        check(&format!("data:text/html,{}", "a".repeat(90)), "data:text/html,aaaaa…");
    }

    #[test]
    fn t28_a_target_cannot_look_like_another_part_of_the_line() {
        check("/a [e9] \"b\"\n- button", "/a%20%5Be9%5D%20%22b%22%0A-%20button");
        check("/ä\u{202e}", "/%C3%A4%E2%80%AE");
    }
}
