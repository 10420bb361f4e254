//! `log export`: writes rows to a file or to standard output.

use std::fs::OpenOptions;
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;
use tabwire_api::{ErrorCode, Failure, count};
use tabwire_audit::{AuditError, Filter, Row, csv_heading, csv_line};
use tabwire_daemon::{OutputKind, refuse_protected};
use tabwire_engine::{visible_json, visible_text};

use super::rows::line;
use super::{find_reader, unreadable};
use crate::commands::Context;

pub(crate) fn run(
    context: &Context<'_>,
    filter: Filter,
    file: Option<PathBuf>,
    csv: bool,
) -> Result<(), Failure> {
    match file.filter(|file| file.as_os_str() != "-") {
        None => match print_rows(context, filter, csv) {
            Ok(_) => Ok(()),
            Err(ExportError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Err(ExportError::Output(error)) => Err(unwritable(Path::new("standard output"), &error)),
            Err(ExportError::Failed(failure)) => Err(failure),
        },
        Some(path) => {
            check_output(&path)?;
            let rows = write_file(context, filter, csv, &path)?;
            let response = json!({"rows": rows, "path": path});
            context
                .printer
                .result(&response, || format!("Wrote {} to {}.", count(rows, "row"), path.display()));
            Ok(())
        }
    }
}

/// Refuses a path that programs run or read by its name.
pub(super) fn check_output(path: &Path) -> Result<(), Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let below = match path.strip_prefix(&here) {
        Ok(below) => below,
        Err(_) if path.is_absolute() => path.file_name().map_or(path, Path::new),
        Err(_) => path,
    };
    refuse_protected(below, OutputKind::File)
}

/// Why rows were not written.
enum ExportError {
    Output(std::io::Error),
    Failed(Failure),
}

/// Writes to a temporary file and renames it at the end, so that an incomplete export never has the name. Replaces no
/// file.
fn write_file(context: &Context<'_>, filter: Filter, csv: bool, path: &Path) -> Result<u64, Failure> {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(part);
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part);
    let mut output = BufWriter::new(opened.map_err(|error| unwritable(&part, &error))?);
    let written = match write_rows(context, filter, csv, false, &mut output) {
        Ok(rows) => output.flush().and_then(|()| publish(&part, path)).map(|()| rows),
        Err(ExportError::Output(error)) => Err(error),
        Err(ExportError::Failed(failure)) => {
            let _ = std::fs::remove_file(&part);
            return Err(failure);
        }
    };
    written.map_err(|error| {
        let _ = std::fs::remove_file(&part);
        unwritable(path, &error)
    })
}

/// Gives the complete file its name. Fails when the name exists.
pub(super) fn publish(part: &Path, path: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(part, path) {
        // A leftover second name does no harm.
        Ok(()) => drop(std::fs::remove_file(part)),
        Err(error) if path.symlink_metadata().is_ok() => return Err(error),
        // The file system has no hard links.
        Err(_) => std::fs::rename(part, path)?,
    }
    Ok(())
}

/// Prints rows; escapes control characters on a terminal.
fn print_rows(context: &Context<'_>, filter: Filter, csv: bool) -> Result<u64, ExportError> {
    let stdout = std::io::stdout().lock();
    let is_escaped = stdout.is_terminal();
    write_rows(context, filter, csv, is_escaped, &mut BufWriter::new(stdout))
}

fn write_rows(
    context: &Context<'_>,
    mut filter: Filter,
    csv: bool,
    is_escaped: bool,
    output: &mut impl Write,
) -> Result<u64, ExportError> {
    let form = |row: &Row| match (csv, is_escaped) {
        (true, false) => csv_line(row),
        (true, true) => visible_text(&csv_line(row)).into_owned(),
        (false, false) => line(row, true, None),
        (false, true) => visible_json(&line(row, true, None)).into_owned(),
    };
    if csv {
        writeln!(output, "{}", csv_heading()).map_err(ExportError::Output)?;
    }
    let mut count = 0;
    let reader = find_reader(context).map_err(ExportError::Failed)?;
    while let Some(reader) = &reader {
        let failed = |error: AuditError| ExportError::Failed(unreadable(context, &error));
        let rows = reader.next(&filter).map_err(failed)?;
        let Some(last) = rows.last() else { break };
        filter.after = Some(last.number);
        for row in &rows {
            writeln!(output, "{}", form(row)).map_err(ExportError::Output)?;
            count += 1;
        }
    }
    output.flush().map_err(ExportError::Output)?;
    Ok(count)
}

pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("Writing the rows to {} failed: {error}.", path.display());
    Failure::new(ErrorCode::BadArgs, message).with_remedy("Choose another file, or free some disk space.")
}
