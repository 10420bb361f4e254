//! Checks the saved sessions and the audit log. `--fix` moves unreadable files to a quarantine directory; it deletes none.

use super::CheckInputs;
use super::daemon::{DaemonLock, DaemonState};
use super::finding::{Finding, run, run_fix};
use std::path::{Path, PathBuf};
use tabwire_api::BrowserId;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_audit::{AuditError, Filter, Reader};
use tabwire_browser::PrivateDir;
use tabwire_browser::{BrowserDescriptor, ProcessIdentity};
use tabwire_daemon::{FoundRecord, RecordState, survey_records};

/// The directory, beside the one that the file is in.
pub(super) const QUARANTINE: &str = "quarantine";

/// Moves a file into `quarantine` below a directory of Tabwire on the same disk; returns its new path.
pub(super) fn quarantine(home: &Path, file: &Path, name: &str) -> Result<PathBuf, Failure> {
    let directory = PrivateDir::create(&home.join(QUARANTINE))?;
    tabwire_audit::quarantine(file, directory.path(), name).map_err(|error| {
        let message =
            format!("{} could not be moved to {}: {error}.", file.display(), directory.path().display());
        Failure::new(ErrorCode::Internal, message)
    })
}

/// Sessions that one sentence names.
const NAMED: usize = 5;

pub(super) fn check_sessions(inputs: &CheckInputs<'_>) -> Vec<Finding> {
    let paths = inputs.paths();
    let browsers = paths.runtime.join("browsers");
    let found = survey_records(&paths.sessions());
    let mut findings = Vec::new();
    let mut gone = Vec::new();
    for FoundRecord { path, state } in &found {
        match state {
            RecordState::Good { key, browser: Some((browser, process)), .. } => {
                if !is_there(&browsers, browser, *process) {
                    gone.push(key.to_string());
                }
            }
            RecordState::Good { .. } => {}
            RecordState::Newer => findings.push(Finding::warning(
                "session-record",
                format!("{} was written by a newer Tabwire.", path.display()),
                "Use that version; the file stays unchanged.",
            )),
            RecordState::Unreadable => findings.push(unreadable_record(&paths.state, path, inputs.fix)),
        }
    }
    findings.push(summary(found.len(), &gone));
    findings
}

fn is_there(browsers: &Path, browser: &BrowserId, process: Option<ProcessIdentity>) -> bool {
    BrowserDescriptor::file(browsers, browser).exists() && process.is_none_or(|process| process.is_alive())
}

/// A session without its browser is no error: its record restores the tabs.
fn summary(count: usize, gone: &[String]) -> Finding {
    let code = "sessions";
    if gone.is_empty() {
        return Finding::ok(code, format!("{count} saved; none has lost its browser."));
    }
    let mut names = gone.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if gone.len() > NAMED {
        names.push_str(&format!(" and {} more", gone.len() - NAMED));
    }
    Finding::warning(
        code,
        format!("The browser of these sessions is gone: {names}."),
        run(
            "The next command in such a session starts a new browser with its tabs; {} deletes the session.",
            "tabwire session delete NAME",
        ),
    )
}

fn unreadable_record(state: &Path, path: &Path, fix: bool) -> Finding {
    let sentence = format!("The saved session in {} is unreadable.", path.display());
    let finding = Finding::wrong("session-record", sentence, run_fix("Run {} to move it to quarantine."));
    if !fix {
        return finding;
    }
    let project = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let name = format!("{project}-{}", path.file_stem().unwrap_or_default().to_string_lossy());
    match quarantine(state, path, &name) {
        Ok(to) => finding.fixed_by(&format!("it is now {}", to.display())),
        Err(failure) => finding.not_fixed(failure.message.trim_end_matches('.')),
    }
}

const AUDIT_LOG: &str = "audit-log";

pub(super) fn check_audit_log(inputs: &CheckInputs<'_>) -> Finding {
    let path = inputs.paths().audit_log();
    let shown = path.display();
    let read = Reader::open(&path).and_then(|reader| {
        reader.last(&Filter::default(), 1)?;
        reader.ends()
    });
    let error = match read {
        Ok(None) | Err(AuditError::Missing) => return Finding::ok(AUDIT_LOG, "It is empty."),
        Ok(Some(_)) | Err(AuditError::Older { .. }) => {
            return Finding::ok(AUDIT_LOG, "It is readable.");
        }
        Err(error) => error,
    };
    let sentence = format!("The audit log {shown} cannot be used: {error}.");
    match error {
        AuditError::Newer { .. } => Finding::warning(
            AUDIT_LOG,
            sentence,
            "Read it with the newer tabwire; the next daemon of this version quarantines it.",
        ),
        AuditError::Damaged => {
            let finding = Finding::wrong(
                AUDIT_LOG,
                sentence,
                run_fix("Run {} to move it to quarantine; the daemon creates a new one."),
            );
            if inputs.fix { quarantine_log(inputs, finding) } else { finding }
        }
        AuditError::Full => Finding::wrong(AUDIT_LOG, sentence, "Free some disk space."),
        _ => Finding::wrong(
            AUDIT_LOG,
            sentence,
            run("Inspect it ({}), and move it away if it is not yours.", &format!("ls -l {shown}")),
        ),
    }
}

fn quarantine_log(inputs: &CheckInputs<'_>, finding: Finding) -> Finding {
    let lock = DaemonLock::take(inputs.paths());
    if !matches!(inputs.daemon, DaemonState::Absent) || lock.is_none() {
        let finding = finding.with_remedy(Remedy::new(
            "Run {}, then {}. Or wait: the daemon moves it to quarantine with its next row.",
            [Step::command("tabwire daemon stop"), Step::command("tabwire doctor --fix")],
        ));
        return finding.not_fixed("the daemon has it open");
    }
    match tabwire_audit::quarantine(&inputs.paths().audit_log(), &inputs.paths().state, "audit-damaged") {
        Ok(path) => finding.fixed_by(&format!("it is now {}", path.display())),
        Err(error) => finding.not_fixed(&error.to_string()),
    }
}
