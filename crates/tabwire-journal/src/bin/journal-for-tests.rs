//! Appends to a journal and counts every acknowledged row aloud, or reads one; for tests that kill it or take its disk.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use tabwire_journal::{
    Asker, Bounds, Entry, Filter, Journal, JournalError, Outcome, Reader, Ruling, Summary, Telling,
};
use tabwire_wire::SessionName;

/// How long one row may take before the program gives up.
const PATIENCE: Duration = Duration::from_secs(20);

/// Failures after which the program makes room or gives up, and rows it writes when there is room.
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
        asker: Asker::default(),
        action: "click",
        effect: "act",
        tab: None,
        origin: None,
        ruling: Ruling::open(),
        outcome: Outcome::Done,
        parameters: Summary::of(&params, &[("path", Telling::Path)]),
        changes: Summary::default(),
    }
}

/// Appends until nobody reads what it tells. When rows fail, the filler is removed, and some more are written.
fn append(path: &Path, filler: Option<&Path>) -> Option<()> {
    let journal = Journal::start(path, Bounds::default(), |_| {}).ok()?;
    let mut stdout = std::io::stdout().lock();
    let (mut failures, mut acknowledged) = (0, 0_u64);
    let mut left = None;
    while left != Some(0) {
        let told = match journal.append(entry(), PATIENCE) {
            Ok(()) => {
                acknowledged += 1;
                left = left.map(|left: usize| left.saturating_sub(1));
                acknowledged.to_string()
            }
            Err(JournalError::Full) => {
                failures += 1;
                "full".to_owned()
            }
            Err(error) => {
                failures += 1;
                error.to_string()
            }
        };
        writeln!(stdout, "{told}").and_then(|()| stdout.flush()).ok()?;
        if failures > FAILURES_AT_MOST {
            return None;
        }
        if failures == FAILURES && left.is_none() {
            std::fs::remove_file(filler?).ok()?;
            left = Some(ROWS_AFTER);
        }
    }
    journal.close(PATIENCE).ok()
}

/// Reads again and again until so many rows are there; none may ever be missing.
fn read(path: &Path, rows: usize) -> Option<()> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let reader = match Reader::open(path) {
            Ok(reader) => reader,
            Err(JournalError::Missing) => continue,
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
