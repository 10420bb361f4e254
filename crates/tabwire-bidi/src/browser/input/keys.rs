//! Table: WebDriver's characters for keys without a character of their own.

/// `KeyboardEvent.key`, whether its location is the right side or the number pad, and WebDriver's character.
const KEYS: &[(&str, bool, char)] = &[
    ("Backspace", false, '\u{E003}'),
    ("Tab", false, '\u{E004}'),
    ("Clear", false, '\u{E005}'),
    ("Enter", false, '\u{E006}'),
    ("Enter", true, '\u{E007}'),
    ("Shift", false, '\u{E008}'),
    ("Shift", true, '\u{E050}'),
    ("Control", false, '\u{E009}'),
    ("Control", true, '\u{E051}'),
    ("Alt", false, '\u{E00A}'),
    ("Alt", true, '\u{E052}'),
    ("Meta", false, '\u{E03D}'),
    ("Meta", true, '\u{E053}'),
    ("Pause", false, '\u{E00B}'),
    ("Escape", false, '\u{E00C}'),
    ("PageUp", false, '\u{E00E}'),
    ("PageUp", true, '\u{E054}'),
    ("PageDown", false, '\u{E00F}'),
    ("PageDown", true, '\u{E055}'),
    ("End", false, '\u{E010}'),
    ("End", true, '\u{E056}'),
    ("Home", false, '\u{E011}'),
    ("Home", true, '\u{E057}'),
    ("ArrowLeft", false, '\u{E012}'),
    ("ArrowLeft", true, '\u{E058}'),
    ("ArrowUp", false, '\u{E013}'),
    ("ArrowUp", true, '\u{E059}'),
    ("ArrowRight", false, '\u{E014}'),
    ("ArrowRight", true, '\u{E05A}'),
    ("ArrowDown", false, '\u{E015}'),
    ("ArrowDown", true, '\u{E05B}'),
    ("Insert", false, '\u{E016}'),
    ("Insert", true, '\u{E05C}'),
    ("Delete", false, '\u{E017}'),
    ("Delete", true, '\u{E05D}'),
    ("0", true, '\u{E01A}'),
    ("1", true, '\u{E01B}'),
    ("2", true, '\u{E01C}'),
    ("3", true, '\u{E01D}'),
    ("4", true, '\u{E01E}'),
    ("5", true, '\u{E01F}'),
    ("6", true, '\u{E020}'),
    ("7", true, '\u{E021}'),
    ("8", true, '\u{E022}'),
    ("9", true, '\u{E023}'),
    ("*", true, '\u{E024}'),
    ("+", true, '\u{E025}'),
    (",", true, '\u{E026}'),
    ("-", true, '\u{E027}'),
    (".", true, '\u{E028}'),
    ("/", true, '\u{E029}'),
    ("F1", false, '\u{E031}'),
    ("F2", false, '\u{E032}'),
    ("F3", false, '\u{E033}'),
    ("F4", false, '\u{E034}'),
    ("F5", false, '\u{E035}'),
    ("F6", false, '\u{E036}'),
    ("F7", false, '\u{E037}'),
    ("F8", false, '\u{E038}'),
    ("F9", false, '\u{E039}'),
    ("F10", false, '\u{E03A}'),
    ("F11", false, '\u{E03B}'),
    ("F12", false, '\u{E03C}'),
    ("ZenkakuHankaku", false, '\u{E040}'),
];

/// WebDriver's character for a key; `None` when it has none.
pub(in crate::browser) fn key_value(key: &str, location: u64) -> Option<String> {
    let is_other = location >= 2;
    let find = |other: bool| KEYS.iter().find(|(name, side, _)| *name == key && *side == other);
    if let Some((_, _, value)) = find(is_other).or_else(|| find(false)) {
        return Some((*value).into());
    }
    (key.chars().count() == 1).then(|| key.to_owned())
}

/// Shift in CDP's modifier mask.
pub(in crate::browser) const SHIFT: u64 = 8;

/// The bit of CDP's modifier mask.
pub(in crate::browser) fn modifier_bit(key: &str) -> u64 {
    match key {
        "Alt" => 1,
        "Control" => 2,
        "Meta" => 4,
        "Shift" => SHIFT,
        _ => 0,
    }
}

/// The characters of the modifiers of a mask.
pub(in crate::browser) fn modifier_values(mask: u64) -> Vec<char> {
    [(1, '\u{E00A}'), (2, '\u{E009}'), (4, '\u{E03D}'), (8, '\u{E008}')]
        .into_iter()
        .filter(|(bit, _)| mask & bit != 0)
        .map(|(_, value)| value)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_characters() {
        assert_eq!(key_value("Enter", 0).as_deref(), Some("\u{E006}"));
        assert_eq!(key_value("Shift", 2).as_deref(), Some("\u{E050}"));
        assert_eq!(key_value("Shift", 1).as_deref(), Some("\u{E008}"));
        assert_eq!(key_value("5", 3).as_deref(), Some("\u{E01F}"));
        assert_eq!(key_value("5", 0).as_deref(), Some("5"));
        assert_eq!(key_value("é", 0).as_deref(), Some("é"));
        assert_eq!(key_value("F24", 0), None);
        assert_eq!(modifier_values(10), ['\u{E009}', '\u{E008}']);
    }
}
