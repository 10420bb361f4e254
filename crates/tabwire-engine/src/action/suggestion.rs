//! What somebody may have meant who wrote a name that does not exist. Knows only words.

/// Finds the name that is most like a misspelt one; none when no name is.
#[must_use]
pub fn find_similar<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.to_ascii_lowercase().replace('-', "_");
    let word = plain(word);
    let distances = names.into_iter().map(|name| {
        let other = plain(name);
        let is_begun = word.len() >= 3 && other.starts_with(&word);
        let distance = strsim::damerau_levenshtein(&word, &other);
        (if is_begun { distance.min(1) } else { distance }, name)
    });
    // Every third letter may be wrong.
    let most = (word.chars().count() / 3).max(1);
    distances
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::find_similar;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let names = ["click", "dblclick", "tab_new", "tabs_list", "target", "screenshot"];
        let meant = |word| find_similar(word, names);
        assert_eq!(meant("clik"), Some("click"));
        assert_eq!(meant("lcick"), Some("click"));
        assert_eq!(meant("tab-nwe"), Some("tab_new"));
        assert_eq!(meant("screen"), Some("screenshot"));
        assert_eq!(meant("Targte"), Some("target"));
        for other in ["", "dance", "x", "navigate"] {
            assert_eq!(meant(other), None, "{other}");
        }
    }
}
