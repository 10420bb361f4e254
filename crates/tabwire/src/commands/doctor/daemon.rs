//! Whether a daemon runs, answers and is of this version, and what a dead one left: its socket and its handshake.
//!
//! What is left is removed only under the daemon's lock, so that one that is just starting loses nothing.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use tabwire_daemon::{Handshake, Paths};
use tabwire_wire::api::StatusAnswer;
use tabwire_wire::{ErrorCode, Failure, VERSION};

use super::Visit;
use super::finding::Finding;
use crate::daemon_client::{AskError, ask_within};
use crate::limits::DOCTOR_PATIENCE;

/// How the daemon is.
pub(super) enum Pulse {
    /// It answers.
    Running(Box<StatusAnswer>),
    /// It answers that it is older than this program.
    Older,
    /// It does not answer, or not as it should.
    Failing(Failure),
    /// Nobody listens.
    Absent,
}

impl Pulse {
    /// Asks the daemon how it is; starts none.
    pub(super) fn take(socket: &Path) -> Self {
        match ask_within(socket, "GET", "/v1/status", None, DOCTOR_PATIENCE) {
            Ok(answer) => match serde_json::from_value(answer) {
                Ok(status) => Self::Running(Box::new(status)),
                Err(error) => Self::Failing(super::super::action::unreadable(&error)),
            },
            Err(AskError::NotRunning) => Self::Absent,
            Err(AskError::DaemonOlder) => Self::Older,
            Err(AskError::Failed(failure)) => Self::Failing(failure),
        }
    }
}

/// Keeps a daemon from starting for as long as it is held.
pub(super) struct Stillness(#[expect(dead_code, reason = "held, not used")] File);

impl Stillness {
    /// Holds the daemon's lock; nothing when a daemon has it, or there is no place for one.
    pub(super) fn hold(paths: &Paths) -> Option<Self> {
        let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).ok()?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600).custom_flags(flags);
        let file = options.open(paths.lock()).ok()?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(Self(file))
    }
}

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    let mut findings = vec![life(visit)];
    findings.extend(version(&visit.pulse));
    findings.extend(socket(visit));
    findings.extend(handshake(visit));
    findings
}

fn life(visit: &Visit<'_>) -> Finding {
    let code = "daemon";
    match &visit.pulse {
        Pulse::Running(status) => Finding::ok(code, format!("It runs as process {}.", status.pid)),
        Pulse::Older => Finding::ok(code, "It runs."),
        Pulse::Failing(failure) if failure.code == ErrorCode::VersionMismatch => {
            Finding::ok(code, "It runs.")
        }
        Pulse::Failing(failure) => {
            let process = Handshake::find(&visit.paths().handshake()).map(|handshake| handshake.pid);
            let by_hand = process.map(|pid| format!(" If it stays so, end process {pid}; its browsers live on for a while and are taken up again."));
            let hint = failure.hint.as_deref().unwrap_or("Run `tabwire daemon stop`.");
            Finding::wrong(code, failure.message.clone(), format!("{hint}{}", by_hand.unwrap_or_default()))
        }
        Pulse::Absent => Finding::ok(code, "It does not run; the next command starts it."),
    }
}

fn version(pulse: &Pulse) -> Option<Finding> {
    let code = "version";
    let replace = "The next command replaces it, and browsers stay; or run `tabwire daemon stop`.";
    match pulse {
        Pulse::Running(status) if status.version == VERSION => {
            Some(Finding::ok(code, format!("The daemon and this command are version {VERSION}.")))
        }
        Pulse::Running(status) => {
            let sentence = format!("The daemon is version {}, this command {VERSION}.", status.version);
            Some(Finding::warning(code, sentence, replace))
        }
        Pulse::Older => {
            let sentence = format!("The daemon is older than this command, which is version {VERSION}.");
            Some(Finding::warning(code, sentence, replace))
        }
        Pulse::Failing(failure) if failure.code == ErrorCode::VersionMismatch => {
            let remedy = failure.hint.clone().unwrap_or_else(|| "Run `tabwire daemon stop`.".to_owned());
            Some(Finding::wrong(code, failure.message.clone(), remedy))
        }
        Pulse::Failing(_) | Pulse::Absent => None,
    }
}

/// A socket that nobody answers.
fn socket(visit: &Visit<'_>) -> Option<Finding> {
    let code = "daemon-socket";
    let path = visit.paths().socket();
    let kind = path.symlink_metadata().ok()?.file_type();
    if !kind.is_socket() {
        let sentence = format!("{} is no socket, so no daemon can listen there.", path.display());
        return Some(Finding::wrong(
            code,
            sentence,
            format!("Look at it, then remove it: `rm {}`.", path.display()),
        ));
    }
    if !matches!(visit.pulse, Pulse::Absent) {
        return None;
    }
    let sentence = format!("{} is left over from a daemon that died.", path.display());
    let finding =
        Finding::warning(code, sentence, "The next command replaces it; `tabwire doctor --fix` removes it.");
    Some(if visit.fix { removed(visit, finding, &path) } else { finding })
}

/// A handshake of a daemon that is not there, or not that of the one that is.
fn handshake(visit: &Visit<'_>) -> Option<Finding> {
    let code = "handshake";
    let path = visit.paths().handshake();
    path.symlink_metadata().ok()?;
    let found = Handshake::find(&path);
    match (&visit.pulse, found) {
        (Pulse::Absent, _) => {
            let sentence = format!("{} is left over from a daemon that died.", path.display());
            let remedy = "The next command replaces it; `tabwire doctor --fix` removes it.";
            let finding = Finding::warning(code, sentence, remedy);
            Some(if visit.fix { removed(visit, finding, &path) } else { finding })
        }
        (Pulse::Running(status), Some(handshake)) if handshake.pid == status.pid => None,
        (Pulse::Running(_), _) => {
            let sentence = format!("{} is not the running daemon's.", path.display());
            let remedy = "Run `tabwire daemon stop`; the next command starts it anew.";
            Some(Finding::wrong(code, sentence, remedy))
        }
        (Pulse::Older | Pulse::Failing(_), _) => None,
    }
}

fn removed(visit: &Visit<'_>, finding: Finding, path: &Path) -> Finding {
    match Stillness::hold(visit.paths()) {
        Some(_held) => finding.after(fs::remove_file(path), "it was removed"),
        None => finding.not_mended("a daemon is just starting"),
    }
}
