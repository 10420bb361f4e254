//! The key of a project, safe in paths.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The project of a session. Sessions of different projects are separate.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProjectKey(String);

/// Longest key; leaves room for suffixes in a 255-byte file name.
const LONGEST: usize = 64;

/// The key of sessions without a project.
const GLOBAL: &str = "global";

/// Used in place of a directory name without letters and digits.
const NAMELESS: &str = "project";

/// Why a text is not a project key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a project key: it has 1 to 64 of a-z, 0-9, `.`, `_` and `-`, and starts with a letter or digit"
)]
pub struct ProjectKeyError(String);

impl ProjectKey {
    /// Validates a key.
    ///
    /// # Errors
    /// When the key is empty, too long, or has a character that is not allowed.
    pub fn new(text: &str) -> Result<Self, ProjectKeyError> {
        let starts_well = text.bytes().next().is_some_and(is_alphanumeric);
        if starts_well && text.len() <= LONGEST && text.bytes().all(is_allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ProjectKeyError(text.chars().take(LONGEST).collect()))
        }
    }

    /// The key of a directory: its name made safe, and a fingerprint of its whole path.
    #[must_use]
    pub fn of_directory(name: &str, fingerprint: u32) -> Self {
        let safe: String = name
            .chars()
            .map(|letter| letter.to_ascii_lowercase())
            .map(|letter| if u8::try_from(letter).is_ok_and(is_allowed) { letter } else { '-' })
            .collect();
        // Every character is one byte by now.
        let end = format!("-{fingerprint:08x}");
        let safe = safe.trim_matches(['.', '_', '-']);
        let safe = &safe[..safe.len().min(LONGEST - end.len())];
        Self(format!("{}{end}", if safe.is_empty() { NAMELESS } else { safe }))
    }

    /// The key of sessions without a project.
    #[must_use]
    pub fn global() -> Self {
        Self(GLOBAL.to_owned())
    }

    /// Whether this is the key of sessions without a project.
    #[must_use]
    pub fn is_global(&self) -> bool {
        self.0 == GLOBAL
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

const fn is_allowed(byte: u8) -> bool {
    is_alphanumeric(byte) || matches!(byte, b'.' | b'_' | b'-')
}

impl Default for ProjectKey {
    fn default() -> Self {
        Self::global()
    }
}

impl fmt::Display for ProjectKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl std::str::FromStr for ProjectKey {
    type Err = ProjectKeyError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl TryFrom<String> for ProjectKey {
    type Error = ProjectKeyError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl From<ProjectKey> for String {
    fn from(key: ProjectKey) -> Self {
        key.0
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, ProjectKey};

    #[test]
    fn keys_are_safe_file_names() {
        for good in ["global", "a", "web.shop-00c0ffee", "0_x"] {
            assert!(ProjectKey::new(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", ".git", "-x", "_x", "Web", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert!(ProjectKey::new(bad).is_err(), "{bad}");
        }
        assert!(ProjectKey::default().is_global());
    }

    #[test]
    fn every_directory_name_makes_a_key() {
        for (name, key) in [
            ("shop", "shop-0000002a"),
            ("My Shop", "my-shop-0000002a"),
            (".dotfiles", "dotfiles-0000002a"),
            ("../..", "project-0000002a"),
            ("größe", "gr--e-0000002a"),
            ("日本", "project-0000002a"),
            ("", "project-0000002a"),
            ("global", "global-0000002a"),
        ] {
            let made = ProjectKey::of_directory(name, 42);
            assert_eq!(made.as_str(), key);
            assert_eq!(ProjectKey::new(key), Ok(made), "it is a key");
        }
        let long = ProjectKey::of_directory(&"x".repeat(300), u32::MAX);
        assert_eq!(long.as_str().len(), LONGEST);
        assert!(ProjectKey::new(long.as_str()).is_ok() && long.as_str().ends_with("-ffffffff"));
    }
}
