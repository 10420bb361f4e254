//! `--version`: prints the version of the browser that the launcher would get.

use std::time::{Duration, Instant};

use tabwire_api::Failure;
use tabwire_browser::finder;

use super::launcher_args::LauncherArgs;
use super::settings::ChromeSettings;
use super::windows::{self, WindowsPlan};
use crate::ShimEnvironment;

/// How long a browser may take to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// The version line of the browser that would be used.
///
/// # Errors
/// When there is no browser, or it does not respond.
pub(super) fn find(
    args: &LauncherArgs,
    settings: &ChromeSettings,
    environment: &ShimEnvironment,
) -> Result<String, Failure> {
    if windows::is_requested(args, settings)? {
        return windows::find_version(WindowsPlan::make(args, settings)?.request.executable.as_deref());
    }
    let found = finder::find(settings.browser.as_deref(), environment.search_path.as_deref())?;
    Ok(finder::version(&found.path, Instant::now() + VERSION_TIMEOUT)?)
}
