//! A login that was saved, and who keeps it. The engine keeps none itself.

use std::fmt;

use serde::Serialize;
use tabwire_wire::Failure;

use crate::redaction::Redaction;
use crate::sealed_state::Passphrase;

/// A text that is not printed by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// Takes a secret.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The secret itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretText")
    }
}

/// A login for one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedLogin {
    /// What it is called.
    pub name: String,
    /// The page with its form.
    pub url: String,
    /// The only origin it is filled in at, as scripts write it.
    pub origin: String,
    /// Who logs in.
    pub username: String,
    /// The password.
    pub password: SecretText,
    /// What one-time codes are made from, in base 32.
    pub totp_secret: Option<SecretText>,
    /// Where its fields are, when they cannot be found without help.
    pub selectors: LoginSelectors,
}

impl SavedLogin {
    /// Has its secrets struck wherever they would be told.
    pub(crate) fn strike_from(&self, redaction: &mut Redaction) {
        redaction.learn(self.password.expose());
        if let Some(secret) = &self.totp_secret {
            redaction.learn(secret.expose());
        }
    }
}

/// CSS selectors of a login's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoginSelectors {
    /// The field for the name.
    pub name: Option<String>,
    /// The field for the password.
    pub password: Option<String>,
    /// The button that sends them.
    pub submit: Option<String>,
}

/// Keeps logins, sealed. Calls may block.
pub trait LoginKeeper: Send + Sync + fmt::Debug {
    /// Finds a login by its name.
    ///
    /// # Errors
    /// When there is none of that name, or what is kept cannot be opened.
    fn find(&self, name: &str, passphrase: Option<&Passphrase>) -> Result<SavedLogin, Failure>;
}
