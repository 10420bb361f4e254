//! Reads browser frames that contain lone surrogates or invalid UTF-8, which pages can cause.
//!
//! Titles and URLs come from pages. A target must not become invisible because of its title.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads a frame; null when it is not JSON even after repair, or nested too deeply.
#[must_use]
pub fn read(frame: &[u8]) -> Value {
    read_as(frame).unwrap_or(Value::Null)
}

/// Reads a frame, or a part of it, as a type.
///
/// # Errors
/// With the JSON reader's error when it does not have this type even after repair.
pub fn read_as<T: DeserializeOwned>(frame: &[u8]) -> Result<T, serde_json::Error> {
    // Bytes both times: reading text would compile every type's reader once more.
    serde_json::from_slice(frame).or_else(|error| {
        serde_json::from_slice(repair_escapes(&String::from_utf8_lossy(frame)).as_bytes()).map_err(|_| error)
    })
}

/// Replaces the escapes of lone surrogates with that of the replacement character.
fn repair_escapes(text: &str) -> String {
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

/// The surrogate half that is escaped at this position.
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
    fn f16_lone_surrogates_and_invalid_bytes_are_replaced() {
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
