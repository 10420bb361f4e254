//! Paths as Windows writes them: known, found again behind a Linux directory, and made from paths of this system.
//! Pure: asks neither system.

/// The program files that a browser's program is looked for below, as this system sees them.
pub(crate) const PROGRAM_FILES: &[&str] = &[
    "/mnt/c/Program Files/Google/Chrome/Application",
    "/mnt/c/Program Files (x86)/Google/Chrome/Application",
];

/// Ends of the directories in which people have their everyday profiles.
const EVERYDAY: &[&str] = &[
    r"\google\chrome\user data",
    r"\google\chrome beta\user data",
    r"\chromium\user data",
    r"\microsoft\edge\user data",
    r"\bravesoftware\brave-browser\user data",
];

/// Whether Windows would take a text for a whole path: `C:\x`, `\\server\share`, or one that begins with a variable.
pub(crate) fn is_windows(text: &str) -> bool {
    let mut letters = text.chars();
    let has_drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.next() == Some(':')
        && matches!(letters.next(), Some('\\' | '/'));
    has_drive || text.starts_with(r"\\") || has_variable(text)
}

/// Whether a text begins with a variable: `%TEMP%` and then a separator, or nothing.
fn has_variable(text: &str) -> bool {
    let Some((name, rest)) = text.strip_prefix('%').and_then(|rest| rest.split_once('%')) else {
        return false;
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '(' | ')');
    !name.is_empty() && name.chars().all(is_name) && (rest.is_empty() || rest.starts_with(['\\', '/']))
}

/// The Windows path in a text. A launcher that takes one for a relative path of this system puts its own directory
/// before it: `/home/me/%TEMP%\profile`.
pub(crate) fn find_windows(text: &str) -> Option<String> {
    let starts = std::iter::once(0).chain(text.match_indices('/').map(|(at, _)| at + 1));
    let found = starts.filter_map(|at| text.get(at..)).find(|tail| is_windows(tail))?;
    Some(found.replace('/', r"\"))
}

/// What a path below a drive's mount point is called in Windows: `/mnt/c/Users` is `C:\Users`.
pub(crate) fn of_mount(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/mnt/")?;
    let (drive, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let mut letters = drive.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    letters.next().is_none().then(|| format!(r"{}:\{}", letter.to_ascii_uppercase(), rest.replace('/', r"\")))
}

/// Where this system sees a path of a Windows drive: `C:\Users` is `/mnt/c/Users`.
pub(crate) fn to_mount(path: &str) -> Option<String> {
    let (drive, rest) = path.split_once(':')?;
    let mut letters = drive.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    letters
        .next()
        .is_none()
        .then(|| format!("/mnt/{}{}", letter.to_ascii_lowercase(), rest.replace('\\', "/")))
}

/// Where Windows sees a path of this system that is on no drive of Windows.
pub(crate) fn of_distribution(path: &str, distribution: &str) -> String {
    format!(r"\\wsl$\{distribution}{}", path.replace('/', r"\"))
}

/// Whether a directory is one in which people have their everyday profiles.
pub(crate) fn is_everyday(profile: &str) -> bool {
    let plain = profile.replace('/', r"\").trim_end_matches('\\').to_lowercase();
    EVERYDAY.iter().any(|end| plain.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_paths_are_known_when_they_are_seen() {
        for path in [
            r"C:\Users\me",
            "c:/Users/me",
            r"\\wsl$\Debian\home",
            r"%TEMP%\x",
            "%ProgramFiles(x86)%/x",
            "%TEMP%",
        ] {
            assert!(is_windows(path), "{path}");
        }
        for path in ["/home/me", "profile", "C:relative", "100%/a%", "%%\\x", "%a b%\\x", "", "http://a.test"]
        {
            assert!(!is_windows(path), "{path}");
        }
    }

    #[test]
    fn a_windows_path_is_found_again_behind_the_launchers_own_directory() {
        for (given, found) in [
            (r"/home/me/work/%TEMP%\profile", Some(r"%TEMP%\profile")),
            (r"/home/me/C:\Users\me\p", Some(r"C:\Users\me\p")),
            ("/home/me/C:/Users/me/p", Some(r"C:\Users\me\p")),
            ("/home/me/%TEMP%/a/b", Some(r"%TEMP%\a\b")),
            (r"%LOCALAPPDATA%\p", Some(r"%LOCALAPPDATA%\p")),
            ("/home/me/profile", None),
            ("/tmp/100%/a%/b", None),
        ] {
            assert_eq!(find_windows(given).as_deref(), found, "{given}");
        }
    }

    #[test]
    fn paths_of_this_system_get_the_name_that_windows_has_for_them() {
        assert_eq!(of_mount("/mnt/c/Users/me").as_deref(), Some(r"C:\Users\me"));
        assert_eq!(of_mount("/mnt/d").as_deref(), Some(r"D:\"));
        for path in ["/mnt/data/x", "/home/me", "/mnt/"] {
            assert_eq!(of_mount(path), None, "{path}");
        }
        assert_eq!(of_distribution("/home/me/c d", "Debian"), r"\\wsl$\Debian\home\me\c d");
        assert_eq!(to_mount(r"C:\Program Files\x").as_deref(), Some("/mnt/c/Program Files/x"));
        assert_eq!(to_mount(r"%TEMP%\x"), None);
    }

    #[test]
    fn everyday_profiles_are_known_however_they_are_written() {
        for path in
            [r"C:\Users\me\AppData\Local\Google\Chrome\User Data\", "%LOCALAPPDATA%/google/chrome/user data"]
        {
            assert!(is_everyday(path), "{path}");
        }
        assert!(!is_everyday(r"C:\Users\me\AppData\Local\Google\Chrome\User Data\copy"));
        assert!(!is_everyday(r"%TEMP%\tabwire"));
    }
}
