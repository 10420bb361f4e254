//! What a stand-in logs of its life, in fields with fixed names. Off unless a file is named; stdout and stderr are its
//! launcher's.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use tabwire_wire::api::{ChromeEnd, ChromeOpened};
use tabwire_wire::{ErrorCode, Failure};

use super::launcher_line::LauncherLine;
use super::lifecycle::Lifecycle;
use super::plan::{Plan, TransportMode};
use super::settings::LogLevel;

/// Logs to a file from now on, behind what is there.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn start(path: &Path, level: LogLevel) -> Result<(), Failure> {
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(|error| {
        Failure::new(ErrorCode::BadArgs, format!("TABWIRE_CHROME_LOG cannot be written: {error}."))
            .with_hint("Set it to a file in a directory that exists, or not at all.")
    })?;
    let most = match level {
        LogLevel::Important => tracing::Level::INFO,
        LogLevel::All => tracing::Level::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(most)
        .with_ansi(false)
        .with_target(false)
        .with_writer(Arc::new(file))
        .init();
    Ok(())
}

/// What will be done.
pub(super) fn planned(plan: &Plan, line: &LauncherLine) {
    tracing::debug!(
        transportMode = plan.mode.name(),
        runtimeState = "starting",
        passedOn = ?line.passed,
        dropped = ?line.dropped,
        "a launcher wants a browser"
    );
}

/// The browser is there.
pub(super) fn opened(mode: TransportMode, port: Option<u16>, life: &Lifecycle, opened: &ChromeOpened) {
    tracing::info!(
        transportMode = mode.name(),
        runtimeState = life.state_name(),
        ownership = %opened.ownership,
        userDataDir = ?opened.profile,
        resolvedDebugPort = opened.debugging_port.or(port),
        browserPid = opened.pid,
        "the browser is there"
    );
}

/// It is over, or the browser is lost.
pub(super) fn ended(life: &Lifecycle, end: &ChromeEnd) {
    tracing::info!(
        runtimeState = life.state_name(),
        ownership = life.found().map(super::lifecycle::Found::name),
        why = %end.sentence,
        "the line to the browser ended"
    );
}
