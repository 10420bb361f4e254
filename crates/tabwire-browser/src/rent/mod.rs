//! Browsers that are rented: created by an HTTP request, and released by another one.
//!
//! A Selenium Grid has a protocol of its own (`grid`); every other provider is described by a recipe (`recipe`). This
//! module makes the requests and reads the responses. The daemon sends them.

pub mod grid;
pub mod recipe;
mod template;

use std::fmt;

use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, SessionName};
use url::Url;

use crate::attach::RequestHeader;

/// Longest text of another machine in an error.
const SHOWN_CHARACTERS: usize = 300;

/// An HTTP request that creates, keeps or releases a browser. URL, headers and body can hold credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct RentRequest {
    /// `GET`, `POST` or `DELETE`.
    pub method: String,
    /// Where it goes.
    pub url: Url,
    /// Its headers.
    pub headers: Vec<RequestHeader>,
    /// Its body.
    pub body: Option<Value>,
}

impl fmt::Debug for RentRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RentRequest({} {})", self.method, self.url.origin().ascii_serialization())
    }
}

/// Where secrets in recipes come from.
pub trait SecretSource {
    /// User name, secret and the only origin that gets them.
    ///
    /// # Errors
    /// When there is no such secret, or it cannot be opened.
    fn find(&self, name: &str) -> Result<NamedSecret, Failure>;
}

/// A secret with the origin that it belongs to.
#[derive(Clone)]
pub struct NamedSecret {
    /// The user name; empty without one.
    pub username: String,
    /// The secret.
    pub password: String,
    /// The origin that gets it.
    pub origin: String,
}

impl fmt::Debug for NamedSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "NamedSecret(for {})", self.origin)
    }
}

/// Text of another machine, in one line of bounded length.
#[must_use]
pub fn shown_text(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let plain: String = line.chars().filter(|letter| !letter.is_control()).take(SHOWN_CHARACTERS).collect();
    plain.trim_end_matches('.').to_owned()
}

/// The name of a provider, which is also its file's.
///
/// # Errors
/// When it cannot be the name of a file.
pub fn provider_name(name: &str) -> Result<&str, Failure> {
    SessionName::new(name).map(|_| name).map_err(|_| {
        Failure::new(ErrorCode::BadArgs, "Invalid provider name.")
            .with_remedy("Use 1 to 64 letters, digits, `-`, `_` or `.`, not starting with `.` or `-`.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_other_machines_is_one_short_line() {
        assert_eq!(shown_text("\n  no\u{1b}[31m slot.\n at java.lang"), "no[31m slot");
        assert_eq!(shown_text(&"x".repeat(900)).len(), SHOWN_CHARACTERS);
        assert!(provider_name("../x").is_err() && provider_name("browserless").is_ok());
    }
}
