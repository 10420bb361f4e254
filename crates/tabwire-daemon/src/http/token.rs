//! A secret that authenticates a client of the daemon. Never printed, and compared in constant time.

use std::fmt;

use subtle::ConstantTimeEq;

/// 256 bits of randomness, as 64 hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Creates a new secret.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Parses a saved secret; `None` when it is not one of ours.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        let digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (text.len() == 64 && digits).then(|| Self(text.to_owned()))
    }

    /// Compares a text with this secret in constant time.
    #[must_use]
    pub fn matches(&self, presented: &str) -> bool {
        self.0.as_bytes().ct_eq(presented.as_bytes()).into()
    }

    /// The secret itself, for the file and the URL that carry it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn tokens_are_masked_and_compared_whole() {
        let token = Token::draw().expect("randomness");
        assert!(token.matches(token.expose()));
        assert!(!token.matches(&token.expose()[1..]) && !token.matches(""));
        assert!(!format!("{token} {token:?}").contains(token.expose()));
        assert_eq!(Token::find(token.expose()), Some(token));
        assert_eq!(Token::find("short"), None);
    }
}
