//! The name of a client: short and plain, because it is shown to users and stored in the audit log.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of an agent, a script or a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClientName(String);

/// Longest name.
const LONGEST: usize = 64;

/// Why a text is not a client's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a client's name: use 1 to 64 letters, digits, spaces, `-`, `_`, `.`, `:`, `@` or `/`")]
pub struct ClientNameError(String);

impl ClientName {
    /// Validates a name.
    ///
    /// # Errors
    /// When the name is empty, too long, or has a character that is not allowed.
    pub fn new(text: &str) -> Result<Self, ClientNameError> {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || " -_.:@/".contains(letter);
        let plain = text.trim();
        if !plain.is_empty() && text.len() <= LONGEST && text.chars().all(allowed) {
            Ok(Self(plain.to_owned()))
        } else {
            Err(ClientNameError(text.chars().filter(|letter| !letter.is_control()).take(LONGEST).collect()))
        }
    }

    /// The default name of a terminal user.
    #[must_use]
    pub fn terminal() -> Self {
        Self("terminal".to_owned())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl std::str::FromStr for ClientName {
    type Err = ClientNameError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl TryFrom<String> for ClientName {
    type Error = ClientNameError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl From<ClientName> for String {
    fn from(name: ClientName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::ClientName;

    #[test]
    fn names_are_plain() {
        assert_eq!(ClientName::new(" agent one ").expect("a name").as_str(), "agent one");
        for bad in ["", "  ", "a\nb", "ä", "\u{202e}x", &"x".repeat(65)] {
            assert!(ClientName::new(bad).is_err(), "{bad:?}");
        }
    }
}
