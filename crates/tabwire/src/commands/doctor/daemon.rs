//! Checks that the daemon responds and has this version, and finds the socket and handshake of a dead one.
//!
//! `--fix` removes them only under the daemon's lock, so that a starting daemon keeps its own.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use tabwire_api::api::StatusResponse;
use tabwire_api::{ErrorCode, Failure, Remedy, Step, VERSION};
use tabwire_daemon::{Handshake, Paths};

use super::CheckInputs;
use super::finding::{Finding, run, run_fix};
use tabwire_client::{RequestError, request_within};

/// How long the daemon may take to report its status; a healthy one takes a millisecond.
const STATUS_TIMEOUT: Duration = Duration::from_secs(5);

/// The state of the daemon.
pub(super) enum DaemonState {
    Running(Box<StatusResponse>),
    /// It runs and is older than this program.
    Older,
    /// It does not respond, or responds with an error.
    Failing(Failure),
    /// It does not run.
    Absent,
}

impl DaemonState {
    /// Requests the daemon's status; never starts it.
    pub(super) fn query(socket: &Path) -> Self {
        match request_within(socket, "GET", "/v1/status", None, STATUS_TIMEOUT) {
            Ok(response) => match serde_json::from_value(response) {
                Ok(status) => Self::Running(Box::new(status)),
                Err(error) => Self::Failing(super::super::action::unreadable(&error)),
            },
            Err(RequestError::NotRunning) => Self::Absent,
            Err(RequestError::DaemonOlder) => Self::Older,
            Err(RequestError::Failed(failure)) => Self::Failing(failure),
        }
    }
}

/// Keeps a daemon from starting while it is held.
pub(super) struct DaemonLock(#[expect(dead_code, reason = "held, not used")] File);

impl DaemonLock {
    /// Takes the daemon's lock; `None` when a daemon has it, or the directory does not exist.
    pub(super) fn take(paths: &Paths) -> Option<Self> {
        let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).ok()?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600).custom_flags(flags);
        let file = options.open(paths.lock()).ok()?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(Self(file))
    }
}

pub(super) fn check(inputs: &CheckInputs<'_>) -> Vec<Finding> {
    let mut findings = vec![response(inputs)];
    findings.extend(version(&inputs.daemon));
    findings.extend(socket(inputs));
    findings.extend(handshake(inputs));
    findings
}

fn response(inputs: &CheckInputs<'_>) -> Finding {
    let code = "daemon";
    match &inputs.daemon {
        DaemonState::Running(status) => Finding::ok(code, format!("It runs as process {}.", status.pid)),
        DaemonState::Older => Finding::ok(code, "It runs."),
        DaemonState::Failing(failure) if failure.code == ErrorCode::VersionMismatch => {
            Finding::ok(code, "It runs.")
        }
        DaemonState::Failing(failure) => {
            let process = Handshake::find(&inputs.paths().handshake()).map(|handshake| handshake.pid);
            let remedy = match process {
                Some(pid) => Remedy::new(
                    "Run {} to see what it is doing. If it stays stuck, run {}; its browsers keep running.",
                    [Step::command("tabwire daemon logs"), Step::command(format!("kill {pid}"))],
                ),
                None => failure.remedy.clone().unwrap_or_else(|| run("Run {}.", "tabwire daemon stop")),
            };
            Finding::wrong(code, failure.message.clone(), remedy)
        }
        DaemonState::Absent => Finding::ok(code, "It does not run. The next command starts it."),
    }
}

fn version(daemon: &DaemonState) -> Option<Finding> {
    let code = "version";
    let replace =
        run("The next command replaces it; browsers keep running. Or run {}.", "tabwire daemon stop");
    match daemon {
        DaemonState::Running(status) if status.version == VERSION => {
            Some(Finding::ok(code, format!("The daemon and this command are version {VERSION}.")))
        }
        DaemonState::Running(status) => {
            let sentence = format!("The daemon is version {}, this command {VERSION}.", status.version);
            Some(Finding::warning(code, sentence, replace))
        }
        DaemonState::Older => {
            let sentence = format!("The daemon is older than this command, which is version {VERSION}.");
            Some(Finding::warning(code, sentence, replace))
        }
        DaemonState::Failing(failure) if failure.code == ErrorCode::VersionMismatch => {
            let remedy = failure.remedy.clone().unwrap_or_else(|| run("Run {}.", "tabwire daemon stop"));
            Some(Finding::wrong(code, failure.message.clone(), remedy))
        }
        DaemonState::Failing(_) | DaemonState::Absent => None,
    }
}

/// The socket of a dead daemon.
fn socket(inputs: &CheckInputs<'_>) -> Option<Finding> {
    let code = "daemon-socket";
    let path = inputs.paths().socket();
    let kind = path.symlink_metadata().ok()?.file_type();
    if !kind.is_socket() {
        let sentence = format!("{} is not a socket, so the daemon cannot listen there.", path.display());
        return Some(Finding::wrong(
            code,
            sentence,
            run("Inspect it, then remove it: {}.", &format!("rm {}", path.display())),
        ));
    }
    if !matches!(inputs.daemon, DaemonState::Absent) {
        return None;
    }
    let sentence = format!("{} belongs to a dead daemon.", path.display());
    let finding = Finding::warning(code, sentence, run_fix("The next command replaces it; {} removes it."));
    Some(if inputs.fix { removed(inputs, finding, &path) } else { finding })
}

/// The handshake of a dead daemon, or of another one than the running.
fn handshake(inputs: &CheckInputs<'_>) -> Option<Finding> {
    let code = "handshake";
    let path = inputs.paths().handshake();
    path.symlink_metadata().ok()?;
    let found = Handshake::find(&path);
    match (&inputs.daemon, found) {
        (DaemonState::Absent, _) => {
            let sentence = format!("{} belongs to a dead daemon.", path.display());
            let remedy = run_fix("The next command replaces it; {} removes it.");
            let finding = Finding::warning(code, sentence, remedy);
            Some(if inputs.fix { removed(inputs, finding, &path) } else { finding })
        }
        (DaemonState::Running(status), Some(handshake)) if handshake.pid == status.pid => None,
        (DaemonState::Running(_), _) => {
            let sentence = format!("{} does not belong to the running daemon.", path.display());
            let remedy = run("Run {}; the next command starts a new daemon.", "tabwire daemon stop");
            Some(Finding::wrong(code, sentence, remedy))
        }
        (DaemonState::Older | DaemonState::Failing(_), _) => None,
    }
}

fn removed(inputs: &CheckInputs<'_>, finding: Finding, path: &Path) -> Finding {
    match DaemonLock::take(inputs.paths()) {
        Some(_lock) => finding.after(fs::remove_file(path), "it was removed"),
        None => finding.not_fixed("a daemon is starting"),
    }
}
