//! Errors of the emulated browser: methods that it lacks, and failures that the extension reports.

use tabwire_api::ErrorCode;
use tabwire_cdp::ProtocolError;

use crate::link::message::ExtensionError;

/// The error for a method that extensions cannot offer.
pub(super) fn unsupported(method: &str) -> ProtocolError {
    let message = format!("'{method}' wasn't found: the user's own browser does not offer it to extensions");
    ProtocolError::chrome(-32601, message)
}

impl From<ExtensionError> for ProtocolError {
    fn from(error: ExtensionError) -> Self {
        match error.number {
            Some(number) => Self::chrome(number, error.message),
            None if error.code == ErrorCode::CdpError.as_str() => Self::chrome(-32000, error.message),
            None => Self::with_code(error.code, error.message),
        }
    }
}
