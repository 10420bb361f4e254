//! Whether remembered sessions can be read, and whether their browsers are there. What cannot be read is set aside,
//! never deleted.

use std::path::Path;

use tabwire_browser::{BrowserDescriptor, ProcessIdentity};
use tabwire_daemon::{FoundRecord, RecordState, survey_records};
use tabwire_wire::BrowserId;

use super::Visit;
use super::aside::set_aside;
use super::finding::Finding;

/// How many sessions are named in one sentence.
const NAMED: usize = 5;

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    let paths = visit.paths();
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
                "Use that version; it is left as it is.",
            )),
            RecordState::Unreadable => findings.push(unreadable(&paths.state, path, visit.fix)),
        }
    }
    findings.push(told(found.len(), &gone));
    findings
}

fn is_there(browsers: &Path, browser: &BrowserId, process: Option<ProcessIdentity>) -> bool {
    BrowserDescriptor::file(browsers, browser).exists() && process.is_none_or(|process| process.is_alive())
}

/// A session whose browser is gone is well: its record is what brings its tabs back.
fn told(count: usize, gone: &[String]) -> Finding {
    let code = "sessions";
    if gone.is_empty() {
        return Finding::ok(code, format!("{count} remembered; none has lost its browser."));
    }
    let mut names = gone.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if gone.len() > NAMED {
        names.push_str(&format!(" and {} more", gone.len() - NAMED));
    }
    Finding::warning(
        code,
        format!("The browser of these sessions is gone: {names}."),
        "The next command in such a session starts a new one and opens its tabs again; `tabwire session delete NAME` forgets it.",
    )
}

fn unreadable(state: &Path, path: &Path, fix: bool) -> Finding {
    let sentence = format!("The remembered session in {} cannot be read.", path.display());
    let finding = Finding::wrong("session-record", sentence, "Run `tabwire doctor --fix` to set it aside.");
    if !fix {
        return finding;
    }
    let project = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let name = format!("{project}-{}", path.file_name().unwrap_or_default().to_string_lossy());
    match set_aside(state, path, &name) {
        Ok(to) => finding.mended(&format!("it is now {}", to.display())),
        Err(failure) => finding.not_mended(failure.message.trim_end_matches('.')),
    }
}
