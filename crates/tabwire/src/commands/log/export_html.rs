//! `log export --html`: writes a session with its screenshots as one HTML file.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;
use tabwire_api::{ErrorCode, Failure, count};
use tabwire_audit::{Filter, Row};
use tabwire_daemon::{Trail, html};

use super::export::{check_output, publish, unwritable};
use super::{find_reader, unreadable};
use crate::commands::Context;

/// Most rows in a file. The last ones are written.
const ROWS: u32 = 10_000;

pub(crate) fn run(context: &Context<'_>, filter: Filter, file: Option<PathBuf>) -> Result<(), Failure> {
    let wrong = |message: &str, remedy: &str| {
        Failure::new(ErrorCode::BadArgs, message.to_owned()).with_remedy(remedy.to_owned())
    };
    let session = filter
        .session
        .clone()
        .ok_or_else(|| wrong("`--html` writes one session, and none is named.", "Add `--session NAME`."))?;
    let path = file.filter(|file| file.as_os_str() != "-").ok_or_else(|| {
        wrong("`--html` needs a file.", "Name a file that does not exist, such as session.html.")
    })?;
    check_output(&path)?;
    let rows = match find_reader(context)? {
        Some(reader) => reader.last(&filter, ROWS).map_err(|error| unreadable(context, &error))?,
        None => Vec::new(),
    };
    if rows.is_empty() {
        let message = format!("The audit log has no matching row of session {session}.");
        return Err(wrong(&message, "Run `tabwire log` to see the sessions."));
    }
    let trail = Trail::new(context.environment.paths.state.clone());
    let mut screenshots = 0;
    let screenshot = |row: &Row| trail.find(row).inspect(|_| screenshots += 1);
    let text = html::document(session.as_str(), &rows, screenshot);
    write(&path, &text)?;
    let response = json!({"rows": rows.len(), "screenshots": screenshots, "path": path});
    context.printer.result(&response, || {
        format!(
            "Wrote {} and {} to {}.",
            count(rows.len(), "row"),
            count(screenshots, "screenshot"),
            path.display()
        )
    });
    Ok(())
}

/// Writes to a temporary file and renames it at the end. Replaces no file.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(part);
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part);
    let mut file = opened.map_err(|error| unwritable(&part, &error))?;
    let written = file.write_all(text.as_bytes()).and_then(|()| publish(&part, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&part);
        unwritable(path, &error)
    })
}
