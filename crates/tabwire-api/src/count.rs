//! A number with its noun, as people read it.

/// A number with its noun: `1 tab`, `2 tabs`, `0 bodies`.
#[must_use]
pub fn count(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    if number == 1 {
        return format!("1 {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number} {stem}ies"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn one_is_singular() {
        for (number, noun, expected) in [
            (0, "tab", "0 tabs"),
            (1, "tab", "1 tab"),
            (2, "tab", "2 tabs"),
            (1, "body", "1 body"),
            (2, "body", "2 bodies"),
            (3, "key", "3 keys"),
            (2, "connected browser", "2 connected browsers"),
        ] {
            assert_eq!(count(number, noun), expected);
        }
    }
}
