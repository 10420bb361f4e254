//! References to saved secrets: `{secret:shop}`. The caller never sees the secret.

use tabwire_api::{ErrorCode, Failure, Remedy, Step};

const OPENING: &str = "{secret:";

/// A part of a saved login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretPart {
    /// The password.
    Password,
    /// The user name, which is not secret.
    Username,
    /// The current TOTP code.
    Code,
}

impl SecretPart {
    /// The parts by name.
    const NAMES: [(&'static str, Self); 3] =
        [("password", Self::Password), ("username", Self::Username), ("code", Self::Code)];

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, part)| *part)
    }
}

/// A reference to a part of a saved login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretReference {
    /// The name of the login.
    pub login: String,
    /// The part.
    pub part: SecretPart,
}

impl SecretReference {
    /// Parses a value; none when it is not a reference.
    ///
    /// # Errors
    /// When the reference is malformed or only part of the value.
    pub fn parse(value: &str) -> Result<Option<Self>, Failure> {
        let Some(at) = value.find(OPENING) else { return Ok(None) };
        let named = value[at + OPENING.len()..].strip_suffix('}').filter(|_| at == 0);
        let Some(named) = named.filter(|named| is_name(named)) else { return Err(malformed()) };
        let (login, part) = match named.rsplit_once('.') {
            Some((login, part)) => match SecretPart::named(part) {
                Some(part) if !login.is_empty() => (login, part),
                // The name of a login may contain a dot.
                _ => (named, SecretPart::Password),
            },
            None => (named, SecretPart::Password),
        };
        Ok(Some(Self { login: login.to_owned(), part }))
    }
}

fn is_name(text: &str) -> bool {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    !text.is_empty() && text.len() <= 80 && text.chars().all(is_fit)
}

fn malformed() -> Failure {
    Failure::new(ErrorCode::BadArgs, "The secret reference in the value is malformed.").with_remedy(Remedy::new(
        "The whole value is {secret:NAME}, {secret:NAME.username} or {secret:NAME.code}. List the names with {}.",
        [Step::command("tabwire auth list")],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_the_whole_value_or_malformed() {
        let read = |value: &str| {
            SecretReference::parse(value).map(|found| found.map(|found| (found.login, found.part)))
        };
        let of = |login: &str, part| Ok(Some((login.to_owned(), part)));
        assert_eq!(read("{secret:shop}"), of("shop", SecretPart::Password));
        assert_eq!(read("{secret:shop.password}"), of("shop", SecretPart::Password));
        assert_eq!(read("{secret:my.shop.username}"), of("my.shop", SecretPart::Username));
        assert_eq!(read("{secret:my.shop}"), of("my.shop", SecretPart::Password));
        assert_eq!(read("{secret:shop.code}"), of("shop", SecretPart::Code));
        for plain in ["", "secret", "{secret}", "{ secret:shop}", "secret:shop"] {
            assert_eq!(read(plain), Ok(None), "{plain}");
        }
        for wrong in [
            "{secret:}",
            "{secret:shop",
            "my {secret:shop}",
            "{secret:shop}!",
            "{secret:a b}",
            "{secret:.code }",
        ] {
            assert_eq!(read(wrong).map_err(|failure| failure.code), Err(ErrorCode::BadArgs), "{wrong}");
        }
    }
}
