//! URL globs for routes. Not for the policy: a glob over a whole URL can match any of its parts.

use std::fmt;

use tabwire_api::{ErrorCode, Failure};

/// A URL pattern. `*` matches anything, also slashes. Without `*`, the URL has to contain the text. A pattern without
/// a scheme may match anywhere in the URL: `/api/*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlGlob {
    text: String,
    /// The parts between the stars.
    pieces: Vec<String>,
}

impl UrlGlob {
    /// Parses a pattern.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let text = text.trim();
        if text.is_empty() || text.chars().any(char::is_control) {
            return Err(Failure::new(
                ErrorCode::BadArgs,
                "The URL pattern is empty or has control characters.",
            )
            .with_remedy(
                "Use a part of the URL, such as /api/, or a glob, such as https://example.org/*.json.",
            ));
        }
        let whole = match (text.contains('*'), text.contains("://")) {
            (true, true) => text.to_owned(),
            (true, false) => format!("*{text}"),
            (false, _) => format!("*{text}*"),
        };
        let pieces = whole.split('*').map(str::to_owned).collect();
        Ok(Self { text: text.to_owned(), pieces })
    }

    /// The pattern as given.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a URL matches. The fragment does not count: it never reaches a server.
    pub(crate) fn matches(&self, url: &str) -> bool {
        let url = url.split_once('#').map_or(url, |(url, _)| url);
        let Some((first, more)) = self.pieces.split_first() else { return false };
        let Some(mut rest) = url.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = more.split_last() else { return rest.is_empty() };
        for piece in middle {
            match rest.find(piece.as_str()) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }

    /// The pattern for CDP interception, so that the browser pauses no other requests.
    pub(crate) fn browser_pattern(&self) -> String {
        let escape = |piece: &String| piece.replace('\\', "\\\\").replace('?', "\\?");
        self.pieces.iter().map(escape).collect::<Vec<_>>().join("*")
    }
}

impl fmt::Display for UrlGlob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::UrlGlob;

    #[test]
    fn a_star_matches_anything_and_plain_text_a_part() {
        for (pattern, url, expected) in [
            ("/api/", "https://a.test/api/users", true),
            ("/api/", "https://a.test/app", false),
            ("*/api/*", "https://a.test/v1/api/users?x=1", true),
            ("**/api/**", "https://a.test/api/", true),
            ("https://a.test/*", "https://a.test/", true),
            ("https://a.test/*", "https://b.test/https://a.test/", false),
            ("*.png", "https://a.test/b.png", true),
            ("*.png", "https://a.test/b.png?x", false),
            ("*?x=1", "https://a.test/b?x=1", true),
            ("*?x=1", "https://a.test/bax=1", false),
            ("/api/*.json", "https://a.test/api/x.json", true),
            ("/api/*.json", "https://a.test/api/x.json?y", false),
            ("*a*a", "a", false),
            ("*a*a", "aa", true),
            ("*", "", true),
            ("*/b", "https://a.test/b#top", true),
        ] {
            let glob = UrlGlob::parse(pattern).expect("a pattern");
            assert_eq!(glob.matches(url), expected, "{pattern} {url}");
        }
        assert!(UrlGlob::parse(" ").is_err());
    }

    #[test]
    fn browser_patterns_match_the_same_urls() {
        let pattern = |text: &str| UrlGlob::parse(text).expect("a pattern").browser_pattern();
        assert_eq!(pattern("/a?b=c"), "*/a\\?b=c*");
        assert_eq!(pattern("/api/*"), "*/api/*");
        assert_eq!(pattern("https://a.test/**\\x"), "https://a.test/**\\\\x");
    }
}
