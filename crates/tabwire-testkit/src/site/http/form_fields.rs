//! Decodes names and values of queries and forms (`a=b+c&d=%41`).

/// Decodes a text in which bytes are written `%41` and spaces may be `+`.
///
/// Invalid escapes are unchanged. Invalid UTF-8 becomes replacement characters.
pub(crate) fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let escaped = if *first == b'%' { find_byte(after) } else { None };
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None if *first == b'+' => bytes.push(b' '),
            None => bytes.push(*first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn find_byte(text: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(text.get(..2)?).ok()?;
    // The number parser accepts a sign, which is not a valid escape.
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u8::from_str_radix(digits, 16).ok())?
}

/// Splits a text into decoded names and values.
pub(crate) fn fields(text: &str) -> Vec<(String, String)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decode(name), decode(value)))
        .collect()
}

/// Finds a decoded value by its name.
pub(crate) fn find(text: &str, name: &str) -> Option<String> {
    fields(text).into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_invalid_ones_stay() {
        assert_eq!(decode("a+b%20%C3%A9"), "a b é");
        assert_eq!(decode("%"), "%");
        assert_eq!(decode("%4"), "%4");
        assert_eq!(decode("%zz%+1"), "%zz% 1");
        assert_eq!(decode("%ff"), "\u{fffd}");
    }

    #[test]
    fn fields_are_found_by_their_decoded_name() {
        assert_eq!(find("a=1&b%20c=2&&d", "b c").as_deref(), Some("2"));
        assert_eq!(find("a=1&b%20c=2&&d", "d").as_deref(), Some(""));
        assert_eq!(find("a=1", "b"), None);
    }
}
