//! Unpredictable names from the system's random source.

use std::path::Path;

use tabwire_api::{BrowserId, InstanceId};

use crate::error::BrowserError;

fn hexadecimal<const BYTES: usize>() -> Result<String, BrowserError> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        BrowserError::system("draw random bytes from", Path::new("the system"), std::io::Error::other(error))
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A short random word for file names.
pub(crate) fn random_name() -> Result<String, BrowserError> {
    hexadecimal::<8>()
}

/// Generates the id of a new browser.
///
/// # Errors
/// When the system gives no random bytes.
pub fn new_browser_id() -> Result<BrowserId, BrowserError> {
    Ok(BrowserId::new(&hexadecimal::<4>()?))
}

/// Generates the id of one run of a process.
///
/// # Errors
/// When the system gives no random bytes.
pub fn new_instance_id() -> Result<InstanceId, BrowserError> {
    Ok(InstanceId::new(&hexadecimal::<16>()?))
}
