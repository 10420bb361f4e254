//! An error as people and models see it: code, sentence, next step.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ErrorCode;

/// A failed request: what happened, to what, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The stable code.
    pub code: ErrorCode,
    /// What happened and to what, in one sentence.
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What else a program may want to know, such as the elements that were meant.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
}

impl Failure {
    /// Makes a failure without advice.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, details: Value::Null }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds data for programs.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }
}
