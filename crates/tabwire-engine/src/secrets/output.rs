//! Redacts the secrets of saved logins from every result.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tabwire_api::Failure;

use crate::action::ActionOutput;
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
        login.add_secrets_to(&mut self.secrets());
    }

    /// A value without secrets.
    #[must_use]
    pub fn redact_value(&self, value: &Value) -> Value {
        self.secrets().clean_value(value)
    }

    /// A text without secrets.
    #[must_use]
    pub fn redact_text(&self, text: &str) -> String {
        self.secrets().clean(text)
    }

    /// Bytes at the end of a redacted text that can be the beginning of a secret, whose rest is still to come.
    #[must_use]
    pub fn beginning_at_end(&self, text: &str) -> usize {
        self.secrets().beginning_at_end(text)
    }

    /// The result without secrets.
    pub fn redact(&self, outcome: Result<ActionOutput, Failure>) -> Result<ActionOutput, Failure> {
        let secrets = self.secrets();
        if secrets.is_empty() {
            return outcome;
        }
        match outcome {
            Ok(output) => Ok(ActionOutput {
                value: secrets.clean_value(&output.value),
                text: secrets.clean(&output.text),
                bare: output.bare.map(|bare| BareValue { text: secrets.clean(&bare.text), ..bare }),
                notices: output.notices.iter().map(|notice| secrets.clean(notice)).collect(),
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
    fn t39_a_saved_secret_is_redacted_from_every_part_of_a_result() {
        let redactor = OutputRedactor::default();
        let plain = ActionOutput {
            value: json!({"html": "<i title=\"c&amp;nary\">", "list": ["c&nary", 1]}),
            text: "has c&nary and c%26nary".to_owned(),
            bare: None,
            notices: vec!["c&nary".to_owned()],
        };
        assert_eq!(redactor.redact(Ok(plain.clone())), Ok(plain.clone()), "nothing is known yet");
        redactor.learn(&SavedLogin {
            name: "shop".to_owned(),
            url: "https://shop.example/".to_owned(),
            origin: "https://shop.example".to_owned(),
            username: "anna".to_owned(),
            password: SecretText::new("c&nary".to_owned()),
            totp_secret: None,
            selectors: LoginSelectors::default(),
        });
        let redacted = redactor.redact(Ok(plain)).expect("a result");
        assert_eq!(redacted.value, json!({"html": "<i title=\"•••\">", "list": ["•••", 1]}));
        assert_eq!(redacted.text, "has ••• and •••");
        assert_eq!(redacted.notices, ["•••"]);
        let failure = Failure::new(ErrorCode::EvalFailed, "c&nary!").with_remedy("c&nary?");
        let redacted =
            redactor.redact(Err(failure.with_details(json!({"at": "c&nary"})))).expect_err("failed");
        assert!(!format!("{redacted:?}").contains("c&nary"), "{redacted:?}");
        assert!(!format!("{redactor:?}").contains("nary"));
    }
}
