//! The shim's log file (`TABWIRE_CHROME_LOG`), with fixed field names. Off by default. Never on stdout or stderr: the
//! launcher reads them.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use tabwire_api::api::{ChromeEnd, ChromeOpened};
use tabwire_api::{ErrorCode, Failure};

use super::launcher_args::LauncherArgs;
use super::lifecycle::Lifecycle;
use super::plan::{Plan, TransportMode};
use super::settings::LogLevel;

/// Starts to append to the log file.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn start(path: &Path, level: LogLevel) -> Result<(), Failure> {
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(|error| {
        Failure::new(ErrorCode::BadArgs, format!("TABWIRE_CHROME_LOG cannot be written: {error}."))
            .with_remedy("Set it to a file in an existing directory, or unset it.")
    })?;
    let max_level = match level {
        LogLevel::Important => tracing::Level::INFO,
        LogLevel::All => tracing::Level::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(max_level)
        .with_ansi(false)
        .with_target(false)
        .with_writer(Arc::new(file))
        .init();
    Ok(())
}

pub(super) fn planned(plan: &Plan, args: &LauncherArgs) {
    tracing::info!(runtimeState = "starting", "browser requested");
    tracing::debug!(
        transportMode = plan.mode.name(),
        forwarded = ?args.forwarded,
        dropped = ?args.dropped,
        "arguments of the launcher"
    );
}

pub(super) fn opened(mode: TransportMode, port: Option<u16>, life: &Lifecycle, opened: &ChromeOpened) {
    tracing::info!(
        transportMode = mode.name(),
        runtimeState = life.state_name(),
        ownership = %opened.ownership,
        userDataDir = opened.profile.as_ref().map(|profile| tracing::field::display(profile.display())),
        resolvedDebugPort = opened.debugging_port.or(port),
        browserPid = opened.pid,
        "browser connected"
    );
}

/// The shim is about to close or release its browser.
pub(super) fn closing(why: &str) {
    tracing::info!(runtimeState = "closing", why, "the shim ends");
}

pub(super) fn ended(life: &Lifecycle, end: &ChromeEnd) {
    tracing::info!(
        runtimeState = life.state_name(),
        ownership = life.origin().map(super::lifecycle::BrowserOrigin::name),
        why = %end.sentence,
        "browser connection ended"
    );
}
