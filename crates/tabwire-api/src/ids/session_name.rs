//! The name of a session, safe in file names.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The NAME in `--session NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionName(String);

/// Longest name; leaves room for suffixes in a 255-byte file name.
const LONGEST: usize = 64;

/// Why a text is not a session name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a session name: use 1 to 64 letters, digits, `-`, `_` or `.`, not starting with `.` or `-`"
)]
pub struct SessionNameError(String);

impl SessionName {
    /// Validates a name.
    ///
    /// # Errors
    /// When the name is empty, too long, or has a character that is not allowed.
    pub fn new(text: &str) -> Result<Self, SessionNameError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let starts_well = text.bytes().next().is_some_and(|byte| byte != b'.' && byte != b'-');
        if starts_well && text.len() <= LONGEST && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(SessionNameError(text.chars().take(LONGEST).collect()))
        }
    }

    /// The name as the user wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for SessionName {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl std::str::FromStr for SessionName {
    type Err = SessionNameError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl TryFrom<String> for SessionName {
    type Error = SessionNameError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl From<SessionName> for String {
    fn from(name: SessionName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::SessionName;

    #[test]
    fn names_are_safe_file_names() {
        for good in ["default", "a", "Work.2", "x_y-z"] {
            assert!(SessionName::new(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", ".hidden", "-flag", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert!(SessionName::new(bad).is_err(), "{bad}");
        }
    }
}
