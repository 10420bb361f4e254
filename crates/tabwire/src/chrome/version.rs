//! The line that launchers read a Chrome's version from: that of the browser they would get.

use std::time::Instant;

use tabwire_browser::finder;
use tabwire_wire::Failure;

use super::settings::ChromeSettings;
use crate::environment::Environment;
use crate::limits::CHROME_VERSION_DEADLINE;

/// Asks the browser that would be used.
///
/// # Errors
/// When there is none, or it does not answer.
pub(super) fn ask(settings: &ChromeSettings, environment: &Environment) -> Result<String, Failure> {
    let found = finder::find(settings.browser.as_deref(), environment.path.as_deref())?;
    Ok(finder::version(&found.path, Instant::now() + CHROME_VERSION_DEADLINE)?)
}
