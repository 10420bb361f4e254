//! Windows paths: recognizes them, extracts them from a local path, and converts paths of WSL. Reads no file system.

/// Where Chrome is installed on Windows, as WSL paths.
pub(crate) const PROGRAM_FILES: &[&str] = &[
    "/mnt/c/Program Files/Google/Chrome/Application",
    "/mnt/c/Program Files (x86)/Google/Chrome/Application",
];

/// Suffixes of the default profile directories of browsers.
const DEFAULT_PROFILES: &[&str] = &[
    r"\google\chrome\user data",
    r"\google\chrome beta\user data",
    r"\chromium\user data",
    r"\microsoft\edge\user data",
    r"\bravesoftware\brave-browser\user data",
];

/// Whether a text is an absolute Windows path: `C:\x`, `\\server\share`, or a path that begins with a variable.
pub(crate) fn is_windows_path(text: &str) -> bool {
    let mut letters = text.chars();
    let has_drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.next() == Some(':')
        && matches!(letters.next(), Some('\\' | '/'));
    has_drive || text.starts_with(r"\\") || has_variable(text)
}

/// Whether a text begins with a variable: `%TEMP%`, then a separator or the end.
fn has_variable(text: &str) -> bool {
    let Some((name, rest)) = text.strip_prefix('%').and_then(|rest| rest.split_once('%')) else {
        return false;
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '(' | ')');
    !name.is_empty() && name.chars().all(is_name) && (rest.is_empty() || rest.starts_with(['\\', '/']))
}

/// The Windows path in a text. A launcher that takes it for a relative local path prepends its working directory:
/// `/home/me/%TEMP%\profile`.
pub(crate) fn extract_windows_path(text: &str) -> Option<String> {
    let starts = std::iter::once(0).chain(text.match_indices('/').map(|(at, _)| at + 1));
    let found = starts.filter_map(|at| text.get(at..)).find(|tail| is_windows_path(tail))?;
    Some(found.replace('/', r"\"))
}

/// The Windows path of a path below a drive's mount point: `C:\Users` for `/mnt/c/Users`.
pub(crate) fn from_mount(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/mnt/")?;
    let (drive, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let mut letters = drive.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    letters.next().is_none().then(|| format!(r"{}:\{}", letter.to_ascii_uppercase(), rest.replace('/', r"\")))
}

/// The WSL path of a Windows path with a drive: `/mnt/c/Users` for `C:\Users`.
pub(crate) fn to_mount(path: &str) -> Option<String> {
    let (drive, rest) = path.split_once(':')?;
    let mut letters = drive.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    letters
        .next()
        .is_none()
        .then(|| format!("/mnt/{}{}", letter.to_ascii_lowercase(), rest.replace('\\', "/")))
}

/// The Windows path of a WSL path outside the mounted drives.
pub(crate) fn wsl_share_path(path: &str, distribution: &str) -> String {
    format!(r"\\wsl$\{distribution}{}", path.replace('/', r"\"))
}

/// Whether a directory is a browser's default profile.
pub(crate) fn is_default_profile(profile: &str) -> bool {
    let plain = profile.replace('/', r"\").trim_end_matches('\\').to_lowercase();
    DEFAULT_PROFILES.iter().any(|end| plain.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_paths_are_recognized() {
        for path in [
            r"C:\Users\me",
            "c:/Users/me",
            r"\\wsl$\Debian\home",
            r"%TEMP%\x",
            "%ProgramFiles(x86)%/x",
            "%TEMP%",
        ] {
            assert!(is_windows_path(path), "{path}");
        }
        for path in ["/home/me", "profile", "C:relative", "100%/a%", "%%\\x", "%a b%\\x", "", "http://a.test"]
        {
            assert!(!is_windows_path(path), "{path}");
        }
    }

    #[test]
    fn a_windows_path_is_extracted_from_behind_a_local_directory() {
        for (given, found) in [
            (r"/home/me/work/%TEMP%\profile", Some(r"%TEMP%\profile")),
            (r"/home/me/C:\Users\me\p", Some(r"C:\Users\me\p")),
            ("/home/me/C:/Users/me/p", Some(r"C:\Users\me\p")),
            ("/home/me/%TEMP%/a/b", Some(r"%TEMP%\a\b")),
            (r"%LOCALAPPDATA%\p", Some(r"%LOCALAPPDATA%\p")),
            ("/home/me/profile", None),
            ("/tmp/100%/a%/b", None),
        ] {
            assert_eq!(extract_windows_path(given).as_deref(), found, "{given}");
        }
    }

    #[test]
    fn local_paths_are_converted_to_windows_paths() {
        assert_eq!(from_mount("/mnt/c/Users/me").as_deref(), Some(r"C:\Users\me"));
        assert_eq!(from_mount("/mnt/d").as_deref(), Some(r"D:\"));
        for path in ["/mnt/data/x", "/home/me", "/mnt/"] {
            assert_eq!(from_mount(path), None, "{path}");
        }
        assert_eq!(wsl_share_path("/home/me/c d", "Debian"), r"\\wsl$\Debian\home\me\c d");
        assert_eq!(to_mount(r"C:\Program Files\x").as_deref(), Some("/mnt/c/Program Files/x"));
        assert_eq!(to_mount(r"%TEMP%\x"), None);
    }

    #[test]
    fn default_profiles_are_recognized_in_any_notation() {
        for path in
            [r"C:\Users\me\AppData\Local\Google\Chrome\User Data\", "%LOCALAPPDATA%/google/chrome/user data"]
        {
            assert!(is_default_profile(path), "{path}");
        }
        assert!(!is_default_profile(r"C:\Users\me\AppData\Local\Google\Chrome\User Data\copy"));
        assert!(!is_default_profile(r"%TEMP%\tabwire"));
    }
}
