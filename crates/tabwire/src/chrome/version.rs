//! The line that launchers read a Chrome's version from: that of the browser they would get.

use std::time::Instant;

use tabwire_browser::finder;
use tabwire_wire::Failure;

use super::launcher_line::LauncherLine;
use super::settings::ChromeSettings;
use super::windows::{self, WindowsPlan};
use crate::environment::Environment;
use crate::limits::CHROME_VERSION_DEADLINE;

/// Asks the browser that would be used.
///
/// # Errors
/// When there is none, or it does not answer.
pub(super) fn ask(
    line: &LauncherLine,
    settings: &ChromeSettings,
    environment: &Environment,
) -> Result<String, Failure> {
    if windows::is_meant(line, settings)? {
        return windows::find_version(WindowsPlan::make(line, settings)?.wish.executable.as_deref());
    }
    let found = finder::find(settings.browser.as_deref(), environment.path.as_deref())?;
    Ok(finder::version(&found.path, Instant::now() + CHROME_VERSION_DEADLINE)?)
}
