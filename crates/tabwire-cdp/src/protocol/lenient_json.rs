//! Reads a browser's frame even when a page made it odd: lone surrogates, bytes that are no UTF-8.
//!
//! Titles and addresses come from pages. A target must not become invisible because of its title.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads a frame; null when it is no JSON whatever one forgives, or too deep.
#[must_use]
pub fn read(frame: &[u8]) -> Value {
    read_as(frame).unwrap_or(Value::Null)
}

/// Reads a frame, or a part of one, as a type.
///
/// # Errors
/// With the reader's own words when it is not the type, whatever one forgives.
pub fn read_as<T: DeserializeOwned>(frame: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(frame)
        .or_else(|error| serde_json::from_str(&mend(&String::from_utf8_lossy(frame))).map_err(|_| error))
}

/// Replaces escapes of lone surrogates by the replacement character's.
fn mend(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match (surrogate(rest, 0), surrogate(rest, 6)) {
            (Some(Half::High), Some(Half::Low)) => 12,
            (Some(_), _) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // Two characters, so that an escaped backslash does not start another escape.
            (None, _) => rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

#[derive(Clone, Copy)]
enum Half {
    High,
    Low,
}

/// The surrogate half whose escape stands at this place.
fn surrogate(text: &str, at: usize) -> Option<Half> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f16_lone_surrogates_and_broken_bytes_are_replaced_and_the_rest_is_kept() {
        for (frame, title) in [
            (&br#"{"title":"a\ud800b"}"#[..], "a\u{fffd}b"),
            (br#"{"title":"\udc00\ud83d\ude00\ud800"}"#, "\u{fffd}\u{1f600}\u{fffd}"),
            (br#"{"title":"\\ud800 \ud800"}"#, "\\ud800 \u{fffd}"),
            (b"{\"title\":\"\xff\"}", "\u{fffd}"),
            (br#"{"title":"plain"}"#, "plain"),
        ] {
            assert_eq!(read(frame)["title"], title);
        }
        assert_eq!(read(br#"{"title":"\ud8"#), Value::Null);
        assert_eq!(read(br#"{"title":"\"#), Value::Null);
        assert_eq!(read("[".repeat(10_000).as_bytes()), Value::Null);
    }
}
