//! Saved logins, and the trait of their store.

use std::fmt;

use serde::Serialize;
use tabwire_api::Failure;

use crate::secrets::redaction::Redaction;
use tabwire_secrets::Passphrase;

/// A secret text. Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// Wraps a secret.
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
    /// Its name.
    pub name: String,
    /// The URL of the login page.
    pub url: String,
    /// The only origin it is filled in at, in serialised form.
    pub origin: String,
    /// The user name.
    pub username: String,
    /// The password.
    pub password: SecretText,
    /// The base32 TOTP secret.
    pub totp_secret: Option<SecretText>,
    /// Selectors of its fields, when the defaults do not find them.
    pub selectors: LoginSelectors,
}

impl SavedLogin {
    /// Adds its secrets to the redaction.
    pub(crate) fn add_secrets_to(&self, redaction: &mut Redaction) {
        redaction.learn(self.password.expose());
        if let Some(secret) = &self.totp_secret {
            redaction.learn(secret.expose());
        }
    }
}

/// CSS selectors of a login's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoginSelectors {
    /// The user name field.
    pub name: Option<String>,
    /// The password field.
    pub password: Option<String>,
    /// The submit button.
    pub submit: Option<String>,
}

/// An encrypted store of logins. Calls may block.
pub trait LoginStore: Send + Sync + fmt::Debug {
    /// Finds a login by name.
    ///
    /// # Errors
    /// When there is none with that name, or the store cannot be decrypted.
    fn find(&self, name: &str, passphrase: Option<&Passphrase>) -> Result<SavedLogin, Failure>;
}
