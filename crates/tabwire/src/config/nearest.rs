//! The known word that a mistyped one most likely means.

/// Finds the word that takes the fewest changes, if few enough.
pub(super) fn find_nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_ascii_lowercase().replace('-', "_");
    let nearest = known.map(|word| (distance(&typed, word), word)).min_by_key(|(changes, _)| *changes)?;
    let (changes, word) = nearest;
    // A third of the word may be wrong; more is another word.
    (changes * 3 <= word.len().max(3)).then_some(word)
}

/// How many letters must be added, removed or replaced.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.chars().enumerate() {
        let mut corner = line;
        let mut before = line + 1;
        for (column, other) in right.iter().enumerate() {
            let replaced = corner + usize::from(letter != *other);
            corner = row[column + 1];
            row[column] = before;
            before = replaced.min(corner + 1).min(before + 1);
        }
        row[right.len()] = before;
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let known = ["browser", "headed", "base_url", "port"];
        let nearest = |typed| find_nearest(typed, known.into_iter());
        assert_eq!(nearest("browsr"), Some("browser"));
        assert_eq!(nearest("base-url"), Some("base_url"));
        assert_eq!(nearest("Headed"), Some("headed"));
        assert_eq!(nearest("prot"), None, "two of four letters are another word");
        assert_eq!(nearest("colour"), None);
        assert_eq!((distance("", "abc"), distance("kitten", "sitting"), distance("a", "a")), (3, 3, 0));
    }
}
