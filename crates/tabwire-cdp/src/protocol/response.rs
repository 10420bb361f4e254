//! A browser's response, parsed on demand.

use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::error::{CdpError, Method};
use crate::protocol::lenient_json;

/// The result of one command, as the browser's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    method: Method,
    result: Bytes,
}

impl Response {
    pub(crate) fn new(method: Method, result: Bytes) -> Self {
        Self { method, result }
    }

    /// Parses the result; unknown fields are skipped.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, CdpError> {
        lenient_json::read_as(&self.result)
            .map_err(|error| CdpError::Malformed { method: self.method.clone(), detail: error.to_string() })
    }

    /// The result's JSON text, unchanged.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.result
    }

    /// Returns the result's JSON text without copying.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.result
    }

    /// The method of its command.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }
}
