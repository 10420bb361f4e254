//! Turns a file name that a page suggests into a harmless one.

/// Longest file name, in bytes. Leaves room for a number and an extension below the 255 of file systems.
const NAME_BYTES: usize = 200;
/// Device names of some system, with any extension.
const RESERVED: &[&str] = &[
    "con", "prn", "aux", "nul", "conin$", "conout$", "clock$", "com0", "com1", "com2", "com3", "com4",
    "com5", "com6", "com7", "com8", "com9", "com¹", "com²", "com³", "lpt0", "lpt1", "lpt2", "lpt3", "lpt4",
    "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "lpt¹", "lpt²", "lpt³",
];

/// Longest extension that is kept when a name is cut, dot included.
const EXTENSION_BYTES: usize = 24;

/// Makes a name harmless: one component, no invisible characters, no device, no leading dot, of bounded length. An empty
/// result becomes the fallback, which must be harmless itself.
#[must_use]
pub(crate) fn safe_name(suggested: &str, fallback: &str) -> String {
    let last = suggested.rsplit(['/', '\\']).find(|part| !tidied(part).is_empty()).unwrap_or_default();
    let name = cut(tidied(last));
    if name.is_empty() {
        return fallback.to_owned();
    }
    if is_reserved(&name) { cut(format!("_{name}")) } else { name }
}

/// The name with a number before its extension. Number 1 is omitted.
pub(crate) fn numbered(name: &str, number: u64) -> String {
    if number <= 1 {
        return name.to_owned();
    }
    let (stem, extension) = split_extension(name);
    format!("{stem}-{number}{extension}")
}

/// The last extension in lower case, without its dot.
pub(crate) fn extension_of(name: &str) -> Option<String> {
    let (_, extension) = name.rsplit_once('.')?;
    Some(extension.to_lowercase())
}

/// Whether a name is a device, such as `NUL` and `com1.log`.
pub(crate) fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    RESERVED.contains(&stem.as_str())
}

fn tidied(part: &str) -> String {
    let seen: String = part.chars().filter_map(harmless).collect();
    trim(&seen).to_owned()
}

fn trim(name: &str) -> &str {
    // A leading dash reads as an option, a leading dot hides, and some systems drop trailing dots and spaces.
    let name =
        name.trim_start_matches(|letter: char| matches!(letter, '.' | '-' | '~') || letter.is_whitespace());
    name.trim_end_matches(|letter: char| letter == '.' || letter.is_whitespace())
}

fn harmless(letter: char) -> Option<char> {
    match letter {
        letter if letter.is_control() || is_unseen(letter) => None,
        '<' | '>' | ':' | '"' | '|' | '?' | '*' | '/' | '\\' | '%' | '$' | '`' | '\'' | ';' | '&' | '!' => {
            Some('_')
        }
        letter if letter.is_whitespace() => Some(' '),
        letter => Some(letter),
    }
}

/// Characters that change the writing direction, join, or are invisible: they could hide the real extension.
pub(crate) const fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{ffff}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Shortens a name to the limit, keeping its extension.
fn cut(name: String) -> String {
    if name.len() <= NAME_BYTES {
        return name;
    }
    let (stem, extension) = split_extension(&name);
    let room = stem.floor_char_boundary(NAME_BYTES.saturating_sub(extension.len()));
    let stem = stem[..room].trim_end_matches(|letter: char| letter == '.' || letter.is_whitespace());
    format!("{stem}{extension}")
}

/// The stem and the extension with its dot. A long extension counts as part of the stem.
fn split_extension(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(dot) if dot > 0 && name.len() - dot <= EXTENSION_BYTES => name.split_at(dot),
        _ => (name, ""),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(suggested: &str) -> String {
        safe_name(suggested, "file")
    }

    #[test]
    fn t31_dangerous_parts_of_names_are_removed() {
        for (suggested, kept) in [
            ("report.txt", "report.txt"),
            ("../../evil.sh", "evil.sh"),
            ("/etc/cron.d/evil", "evil"),
            ("..\\..\\evil.bat", "evil.bat"),
            ("C:\\Windows\\x.dll", "x.dll"),
            ("CON", "_CON"),
            ("nul.txt", "_nul.txt"),
            ("Com1.log", "_Com1.log"),
            ("com¹", "_com¹"),
            ("lpt9 .txt", "_lpt9 .txt"),
            ("console.txt", "console.txt"),
            (".bashrc", "bashrc"),
            ("...", "file"),
            ("", "file"),
            ("/", "file"),
            ("a/", "a"),
            ("  trailing .txt. ", "trailing .txt"),
            ("a:b.txt", "a_b.txt"),
            ("a:$DATA", "a__DATA"),
            ("invoice\u{202e}fdp.exe", "invoicefdp.exe"),
            ("a\u{7}b\n.txt\0", "ab.txt"),
            ("été-日本-😀.txt", "été-日本-😀.txt"),
            ("%2e%2e%2fevil.txt", "_2e_2e_2fevil.txt"),
            ("-rf.txt", "rf.txt"),
            ("~root", "root"),
            ("\u{e0041}\u{200b}", "file"),
        ] {
            assert_eq!(named(suggested), kept, "{suggested:?}");
        }
    }

    #[test]
    fn t31_long_names_keep_their_extension() {
        let long = named(&format!("{}.tar.gz", "é".repeat(400)));
        assert!(long.len() <= NAME_BYTES && long.ends_with("é.gz"), "{long}");
        let endless = named(&format!("a.{}", "b".repeat(400)));
        assert_eq!(endless.len(), NAME_BYTES);
        assert_eq!(numbered("a.txt", 1), "a.txt");
        assert_eq!((numbered("a.txt", 7), numbered("a", 2)), ("a-7.txt".to_owned(), "a-2".to_owned()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn t31_every_name_is_harmless(
            suggested in prop_oneof![
                any::<String>(),
                "[./\\\\: ]{0,6}(con|NUL|com1|lpt²|aux)?[. ]{0,3}[a-z]{0,4}",
                "(\\.\\./){0,3}[\\PC\\u{202a}-\\u{202e}]{0,300}\\.[a-zé]{0,30}",
            ],
            number in 0_u64..100_000,
        ) {
            let name = named(&suggested);
            prop_assert!(!name.is_empty() && name.len() <= NAME_BYTES, "{name:?}");
            prop_assert!(!name.starts_with(['.', '-', ' ']) && !name.ends_with(['.', ' ']), "{name:?}");
            prop_assert!(!name.contains(['/', '\\', ':', '\0', '\n']), "{name:?}");
            prop_assert!(!name.chars().any(|letter| letter.is_control() || is_unseen(letter)), "{name:?}");
            prop_assert!(!is_reserved(&name), "{name:?}");
            prop_assert_eq!(&named(&name), &name, "harmless already");
            let path = std::path::Path::new("/root").join(numbered(&name, number));
            prop_assert_eq!(path.parent(), Some(std::path::Path::new("/root")));
            prop_assert!(numbered(&name, number).len() <= 255);
        }
    }
}
