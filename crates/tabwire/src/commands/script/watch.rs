//! `run --watch`: runs a file again whenever it, or a file that it imports, changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use tabwire_api::Failure;

use super::files::{self, ScriptFiles};
use crate::output::printer::Printer;

/// How often files are looked at.
const INTERVAL: Duration = Duration::from_millis(200);

/// Between two runs.
const SEPARATOR: &str = "────────────────────────────────────────";

/// Time and size of each file of a script; none for a file that is not there.
type Stamps = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

/// Runs a file now and after each change, until the process is ended.
pub(super) fn watch(
    file: &Path,
    printer: Printer,
    mut run: impl FnMut(ScriptFiles) -> Result<ExitCode, Failure>,
) -> Result<ExitCode, Failure> {
    loop {
        let read = files::read(file);
        let watched = match &read {
            Ok(script) => script.paths(file),
            Err(_) => vec![file.to_owned()],
        };
        let before = stamps(&watched);
        if let Err(failure) = read.and_then(&mut run) {
            printer.failure(&failure);
        }
        printer.progress(&format!("{SEPARATOR}\nWaiting for a change of {}.", file.display()));
        while stamps(&watched) == before {
            std::thread::sleep(INTERVAL);
        }
    }
}

fn stamps(paths: &[PathBuf]) -> Stamps {
    let stamp = |path: &PathBuf| {
        let data = path.metadata().ok()?;
        Some((data.modified().ok()?, data.len()))
    };
    paths.iter().map(|path| (path.clone(), stamp(path))).collect()
}
