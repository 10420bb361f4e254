//! Appends to an audit log and prints the count of acknowledged rows, or reads one. Tests kill it or fill its disk.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use tabwire_api::SessionName;
use tabwire_audit::{
    AuditError, AuditLog, Bounds, ClientInfo, Entry, Filter, LogVisibility, Outcome, Reader, Ruling, Summary,
};

/// How long one row may take before the program gives up.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Failures after which the program removes the filler or gives up, and rows it appends after that.
const FAILURES: usize = 3;
const FAILURES_AT_MOST: usize = 100;
const ROWS_AFTER: usize = 50;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let done = match arguments.as_slice() {
        [verb, path] if verb.as_os_str() == "append" => append(path, None),
        [verb, path, filler] if verb.as_os_str() == "append" => append(path, Some(filler)),
        [verb, path, rows] if verb.as_os_str() == "read" => {
            read(path, rows.to_string_lossy().parse().unwrap_or(0))
        }
        _ => None,
    };
    if done.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn entry() -> Entry {
    let params = serde_json::json!({"path": "x".repeat(150)});
    Entry {
        time: SystemTime::now(),
        duration: Duration::from_millis(1),
        project: None,
        session: SessionName::default(),
        client: ClientInfo::default(),
        action: "click",
        effect: "act",
        tab: None,
        origin: None,
        ruling: Ruling::open(),
        outcome: Outcome::Done,
        parameters: Summary::of(&params, &[("path", LogVisibility::Path)]),
        changes: Summary::default(),
        run: None,
    }
}

/// Appends until its output is closed. After some failures it removes the filler and appends a few rows more.
fn append(path: &Path, filler: Option<&Path>) -> Option<()> {
    let log = AuditLog::start(path, Bounds::default(), |_| {}).ok()?;
    let mut stdout = std::io::stdout().lock();
    let (mut failures, mut acknowledged) = (0, 0_u64);
    let mut left = None;
    while left != Some(0) {
        let line = match log.append(entry(), TIMEOUT) {
            Ok(()) => {
                acknowledged += 1;
                left = left.map(|left: usize| left.saturating_sub(1));
                acknowledged.to_string()
            }
            Err(AuditError::Full) => {
                failures += 1;
                "full".to_owned()
            }
            Err(error) => {
                failures += 1;
                error.to_string()
            }
        };
        writeln!(stdout, "{line}").and_then(|()| stdout.flush()).ok()?;
        if failures > FAILURES_AT_MOST {
            return None;
        }
        if failures == FAILURES && left.is_none() {
            std::fs::remove_file(filler?).ok()?;
            left = Some(ROWS_AFTER);
        }
    }
    log.close(TIMEOUT).ok()
}

/// Reads until the log has so many rows. No row may be missing in between.
fn read(path: &Path, rows: usize) -> Option<()> {
    let deadline = Instant::now() + TIMEOUT;
    while Instant::now() < deadline {
        let reader = match Reader::open(path) {
            Ok(reader) => reader,
            Err(AuditError::Missing) => continue,
            Err(_) => return None,
        };
        let found = reader.last(&Filter::default(), 200).ok()?;
        let last = found.last().map_or(0, |row| row.number.0);
        let first = found.first().map_or(1, |row| row.number.0);
        let gapless = found.iter().zip(first..).all(|(row, number)| row.number.0 == number);
        if !gapless || usize::try_from(last - first + 1).ok()? != found.len() {
            return None;
        }
        if usize::try_from(last).ok()? >= rows {
            return Some(());
        }
    }
    None
}
