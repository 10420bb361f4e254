//! One saved login for the form of the fixture site.

use tabwire_api::{ErrorCode, Failure};
use tabwire_engine::{LoginSelectors, LoginStore, Passphrase, SavedLogin, SecretText, origin_of};

/// Holds the login `shop`.
#[derive(Debug)]
pub(crate) struct TestLogins {
    pub(crate) url: String,
}

impl LoginStore for TestLogins {
    fn find(&self, name: &str, _passphrase: Option<&Passphrase>) -> Result<SavedLogin, Failure> {
        if name != "shop" {
            return Err(Failure::new(ErrorCode::BadArgs, "There is no such login."));
        }
        Ok(SavedLogin {
            name: name.to_owned(),
            url: self.url.clone(),
            origin: origin_of(&self.url).expect("an http URL"),
            username: "alice".to_owned(),
            password: SecretText::new("secret".to_owned()),
            totp_secret: None,
            selectors: LoginSelectors::default(),
        })
    }
}
