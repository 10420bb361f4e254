//! BiDi messages: commands out, responses and events in.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::ErrorCode;
use tabwire_cdp::ProtocolError;

/// A message of the browser.
#[derive(Debug, Deserialize)]
pub(crate) struct Incoming {
    #[serde(default)]
    pub(crate) id: Option<u64>,
    #[serde(default)]
    pub(crate) result: Option<Value>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    pub(crate) method: Option<String>,
    #[serde(default)]
    pub(crate) params: Option<Value>,
}

/// The error of a command: BiDi's error name and message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BidiError {
    pub(crate) name: String,
    pub(crate) message: String,
    code: Option<ErrorCode>,
}

impl Incoming {
    /// The outcome of a response.
    pub(crate) fn into_outcome(self) -> Result<Value, BidiError> {
        match (self.error, self.result) {
            (Some(name), _) => Err(BidiError { name, message: self.message.unwrap_or_default(), code: None }),
            (None, result) => Ok(result.unwrap_or_default()),
        }
    }
}

impl BidiError {
    /// An error of Tabwire itself.
    pub(crate) fn own(code: ErrorCode, message: &str) -> Self {
        Self { name: String::new(), message: message.to_owned(), code: Some(code) }
    }

    /// The document went away while the command ran.
    pub(crate) fn destroyed() -> Self {
        Self { name: DESTROYED.to_owned(), message: CONTEXT_DESTROYED.to_owned(), code: None }
    }

    /// Whether the command named a realm, frame or node of a document that is gone.
    pub(crate) fn is_document_gone(&self) -> bool {
        let is_named = matches!(self.name.as_str(), "no such frame" | "no such handle" | "no such node");
        // Firefox 153 finds no realm of a document that is about to be replaced.
        self.code.is_none() && (is_named || self.message.contains("realm is null"))
    }

    /// The CDP error for a client.
    pub(crate) fn to_protocol(&self) -> ProtocolError {
        match (self.code, self.name.as_str()) {
            (Some(code), _) => ProtocolError::tabwire(code, self.message.clone()),
            (None, "invalid argument") => ProtocolError::invalid_params(&self.message),
            (None, name) => {
                let text = if self.message.is_empty() { name } else { &self.message };
                ProtocolError::chrome(-32000, text)
            }
        }
    }

    /// The CDP error of a command in a document: Chrome's text where the document is gone.
    pub(crate) fn to_script_error(&self) -> ProtocolError {
        if self.is_document_gone() {
            return ProtocolError::chrome(-32000, CONTEXT_MISSING);
        }
        self.to_protocol()
    }
}

const DESTROYED: &str = "destroyed";

/// Chrome's message for a script whose execution context does not exist.
pub(crate) const CONTEXT_MISSING: &str = "Cannot find context with specified id";

/// Chrome's message for a script whose document went away while it ran.
pub(crate) const CONTEXT_DESTROYED: &str = "Execution context was destroyed.";

/// The text of a command.
pub(crate) fn command(id: u64, method: &str, params: &Value) -> String {
    json!({"id": id, "method": method, "params": params}).to_string()
}

/// The text of a parameter; empty when it is missing.
pub(crate) fn text<'a>(params: &'a Value, name: &str) -> &'a str {
    params.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A flag of the parameters; false when it is missing.
pub(crate) fn flag(params: &Value, name: &str) -> bool {
    params.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// A number of the parameters.
pub(crate) fn number(params: &Value, name: &str) -> Option<f64> {
    params.get(name).and_then(Value::as_f64)
}

/// BiDi's time in milliseconds as CDP's in seconds.
pub(crate) fn seconds(params: &Value) -> f64 {
    number(params, "timestamp").unwrap_or_default() / 1000.0
}
