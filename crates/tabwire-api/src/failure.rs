//! The error that every front end receives: code, message, remedy.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ErrorCode, Remedy};

/// A failed request: the error and its remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(from = "FailureJson", into = "FailureJson")]
#[error("{message}")]
pub struct Failure {
    /// The stable code.
    pub code: ErrorCode,
    /// The error in one sentence.
    pub message: String,
    /// How to fix it.
    pub remedy: Option<Remedy>,
    /// Data for programs, such as the elements that matched.
    pub details: Value,
}

/// A failure as JSON: `hint` is the remedy as text for a terminal, `remedy` its steps as data.
#[derive(Serialize, Deserialize)]
struct FailureJson {
    code: ErrorCode,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remedy: Option<Remedy>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    details: Value,
}

impl From<Failure> for FailureJson {
    fn from(failure: Failure) -> Self {
        Self {
            code: failure.code,
            message: failure.message,
            hint: failure.remedy.as_ref().map(Remedy::for_terminal),
            remedy: failure.remedy.filter(|remedy| !remedy.steps.is_empty()),
            details: failure.details,
        }
    }
}

impl From<FailureJson> for Failure {
    fn from(sent: FailureJson) -> Self {
        let remedy = sent.remedy.or_else(|| sent.hint.map(Remedy::from));
        Self { code: sent.code, message: sent.message, remedy, details: sent.details }
    }
}

impl Failure {
    /// The system refused random bytes, which keys, secrets and names need.
    #[must_use]
    pub fn no_random_bytes(error: impl std::fmt::Display) -> Self {
        Self::new(ErrorCode::Internal, format!("Random bytes are not available from the system: {error}."))
    }

    /// Creates a failure without a remedy.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), remedy: None, details: Value::Null }
    }

    /// Adds the remedy.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<Remedy>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Adds data for programs.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// The remedy as text for a terminal; empty if there is none.
    #[must_use]
    pub fn hint(&self) -> String {
        self.remedy.as_ref().map(Remedy::for_terminal).unwrap_or_default()
    }
}
