//! A browser's response, read only as far as the caller wants. Knows nothing of how it arrived.

use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::error::{CdpError, Method};
use crate::protocol::lenient_json;

/// The result of one command, as the bytes the browser wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    method: Method,
    result: Bytes,
}

impl Response {
    pub(crate) fn new(method: Method, result: Bytes) -> Self {
        Self { method, result }
    }

    /// Reads the result as a type; fields the type does not name are skipped.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, CdpError> {
        lenient_json::read_as(&self.result)
            .map_err(|error| CdpError::Malformed { method: self.method.clone(), detail: error.to_string() })
    }

    /// The result's JSON text as the browser wrote it.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.result
    }

    /// Gives up the result's JSON text.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.result
    }

    /// The method this answers.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }
}
