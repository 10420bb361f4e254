//! A secret that is named instead of said: `{secret:shop}`. Whoever names it never gets to know it.
//!
//! Knows nothing of where secrets are kept and where they go.

use tabwire_wire::{ErrorCode, Failure};

const OPENING: &str = "{secret:";

/// What of a saved login is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecretPart {
    /// The password.
    Password,
    /// Who logs in, which is no secret.
    Username,
    /// A one-time code of now.
    Code,
}

impl SecretPart {
    /// Every part with its name. A table.
    const NAMES: [(&'static str, Self); 3] =
        [("password", Self::Password), ("username", Self::Username), ("code", Self::Code)];

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, part)| *part)
    }
}

/// A part of a saved login, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SecretReference {
    /// The login's name.
    pub(crate) login: String,
    /// What of it.
    pub(crate) part: SecretPart,
}

impl SecretReference {
    /// Reads a value that names a secret; none when it is a value like any other.
    ///
    /// # Errors
    /// When it begins like one and is none, or has one in its middle: typing that would be of no use to anybody.
    pub(crate) fn parse(value: &str) -> Result<Option<Self>, Failure> {
        let Some(at) = value.find(OPENING) else { return Ok(None) };
        let named = value[at + OPENING.len()..].strip_suffix('}').filter(|_| at == 0);
        let Some(named) = named.filter(|named| is_name(named)) else { return Err(misspelt()) };
        let (login, part) = match named.rsplit_once('.') {
            Some((login, part)) => match SecretPart::named(part) {
                Some(part) if !login.is_empty() => (login, part),
                // A login's own name may have a dot.
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

fn misspelt() -> Failure {
    Failure::new(ErrorCode::BadArgs, "The value names a secret, and something else is wrong with it.").with_hint(
        "A secret is the whole value: {secret:NAME}, {secret:NAME.username} or {secret:NAME.code}; `tabwire auth list` shows the names.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_names_a_secret_as_a_whole_or_not_at_all() {
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
