//! Suggests the name that a misspelt one most likely means.

/// Finds the name most similar to a misspelt one; none if no name is similar.
#[must_use]
pub fn find_similar<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.to_ascii_lowercase().replace('-', "_");
    let word = plain(word);
    let distances = names.into_iter().map(|name| {
        let other = plain(name);
        let is_prefix = word.len() >= 3 && other.starts_with(&word);
        let distance = strsim::damerau_levenshtein(&word, &other);
        (if is_prefix { distance.min(1) } else { distance }, name)
    });
    // One error per three letters.
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
    fn similar_names_are_suggested_and_others_are_not() {
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
