//! Redacts the secrets of saved logins from every result, however the page came to show them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tabwire_api::Failure;

use crate::action::Answered;
use crate::action::result::BareValue;
use crate::secrets::login::SavedLogin;
use crate::secrets::redaction::Redaction;

/// The secrets to redact from results.
#[derive(Debug, Default)]
pub struct OutputRedactor {
    secrets: Mutex<Redaction>,
}

impl OutputRedactor {
    fn secrets(&self) -> MutexGuard<'_, Redaction> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the secrets of a login.
    pub fn learn(&self, login: &SavedLogin) {
        login.strike_from(&mut self.secrets());
    }

    /// The result without secrets.
    pub(crate) fn conceal(&self, outcome: Result<Answered, Failure>) -> Result<Answered, Failure> {
        let secrets = self.secrets();
        if secrets.is_empty() {
            return outcome;
        }
        match outcome {
            Ok(answered) => Ok(Answered {
                value: secrets.clean_value(&answered.value),
                text: secrets.clean(&answered.text),
                bare: answered.bare.map(|bare| BareValue { text: secrets.clean(&bare.text), ..bare }),
                notices: answered.notices.iter().map(|notice| secrets.clean(notice)).collect(),
            }),
            Err(failure) => Err(Failure {
                message: secrets.clean(&failure.message),
                remedy: failure.remedy.map(|remedy| remedy.map_text(|text| secrets.clean(text))),
                details: secrets.clean_value(&failure.details),
                ..failure
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tabwire_api::ErrorCode;

    use super::*;
    use crate::secrets::login::{LoginSelectors, SecretText};

    #[test]
    fn t39_a_kept_secret_is_struck_from_every_part_of_an_answer() {
        let redactor = OutputRedactor::default();
        let plain = Answered {
            value: json!({"html": "<i title=\"c&amp;nary\">", "list": ["c&nary", 1]}),
            text: "has c&nary and c%26nary".to_owned(),
            bare: None,
            notices: vec!["c&nary".to_owned()],
        };
        assert_eq!(redactor.conceal(Ok(plain.clone())), Ok(plain.clone()), "nothing is known yet");
        redactor.learn(&SavedLogin {
            name: "shop".to_owned(),
            url: "https://shop.example/".to_owned(),
            origin: "https://shop.example".to_owned(),
            username: "anna".to_owned(),
            password: SecretText::new("c&nary".to_owned()),
            totp_secret: None,
            selectors: LoginSelectors::default(),
        });
        let told = redactor.conceal(Ok(plain)).expect("an answer");
        assert_eq!(told.value, json!({"html": "<i title=\"[redacted]\">", "list": ["[redacted]", 1]}));
        assert_eq!(told.text, "has [redacted] and [redacted]");
        assert_eq!(told.notices, ["[redacted]"]);
        let failure = Failure::new(ErrorCode::EvalFailed, "c&nary!").with_remedy("c&nary?");
        let told = redactor.conceal(Err(failure.with_details(json!({"at": "c&nary"})))).expect_err("failed");
        assert!(!format!("{told:?}").contains("c&nary"), "{told:?}");
        assert!(!format!("{redactor:?}").contains("nary"));
    }
}
