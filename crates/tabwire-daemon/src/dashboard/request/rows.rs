//! Rows of the audit log, their screenshots, and the export of a session.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, SessionName};
use tabwire_audit::{AuditError, Filter, Reader, Row, RowNumber};

use super::blocking;
pub(super) use crate::audit::events::unreadable;
use crate::daemon::Daemon;
use crate::trail::{Trail, html};

/// Most rows of one response.
const MOST_ROWS: u32 = 200;

/// Most rows and bytes of screenshots in an export. The command line has a larger limit.
const EXPORT_ROWS: u32 = 2_000;
const EXPORT_SCREENSHOT_BYTES: usize = 8 * 1024 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dashboard) struct RowsRequest {
    /// Only rows before this one.
    before: Option<i64>,
    #[schemars(with = "Option<String>")]
    session: Option<SessionName>,
    /// The session's project; empty for none. Without it, sessions of every project fit.
    project: Option<String>,
    /// Only rows after this one, the oldest of them.
    after: Option<i64>,
    client: Option<String>,
    /// The effect class.
    kind: Option<String>,
    /// A text in the origin or action.
    text: Option<String>,
    #[serde(default)]
    refused: bool,
    limit: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dashboard) struct ScreenshotRequest {
    number: i64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dashboard) struct ExportRequest {
    #[schemars(with = "String")]
    session: SessionName,
    /// The session's project; empty for none.
    project: Option<String>,
}

/// A row, and whether it has a screenshot.
#[derive(Serialize, JsonSchema)]
pub(in crate::dashboard) struct ShownRow {
    #[serde(flatten)]
    row: Row,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    screenshot: bool,
}

impl ShownRow {
    pub(in crate::dashboard) fn new(row: Row, trail: &Trail) -> Self {
        Self { screenshot: trail.has(&row), row }
    }
}

/// Matching rows, the newest first, and whether there may be older ones.
pub(super) async fn rows(daemon: &Daemon, request: RowsRequest) -> Result<Value, Failure> {
    let filled =
        |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let limit = request.limit.unwrap_or(MOST_ROWS).clamp(1, MOST_ROWS);
    let filter = Filter {
        session: request.session,
        project: request.project,
        after: request.after.map(RowNumber),
        client: filled(request.client),
        effect: filled(request.kind),
        text: filled(request.text),
        failed: request.refused,
        before: request.before.map(RowNumber),
        ..Filter::default()
    };
    let (path, trail) = (daemon.config.paths.audit_log(), std::sync::Arc::clone(&daemon.trail));
    let rows = blocking(move || {
        let Some(reader) = open(&path)? else { return Ok(Vec::new()) };
        let mut rows = match filter.after {
            Some(_) => reader.next(&filter),
            None => reader.last(&filter, limit),
        }
        .map_err(|error| unreadable(&error))?;
        rows.truncate(limit as usize);
        Ok(rows.into_iter().rev().map(|row| ShownRow::new(row, &trail)).collect::<Vec<_>>())
    });
    let rows = rows.await?;
    let has_more = u32::try_from(rows.len()) == Ok(limit);
    Ok(json!({"rows": rows, "more": has_more}))
}

/// The names that the log contains, for filters.
pub(super) async fn names(daemon: &Daemon) -> Result<Value, Failure> {
    let path = daemon.config.paths.audit_log();
    let names = blocking(move || match open(&path)? {
        Some(reader) => reader
            .names()
            .and_then(|names| Ok((names, reader.sessions()?)))
            .map_err(|error| unreadable(&error)),
        None => Ok(Default::default()),
    });
    let ([sessions, clients, kinds], session_keys) = names.await?;
    Ok(json!({"sessions": sessions, "clients": clients, "kinds": kinds, "session_keys": session_keys}))
}

/// The screenshot of a row, as base64.
pub(super) async fn screenshot(daemon: &Daemon, request: ScreenshotRequest) -> Result<Value, Failure> {
    let (path, trail) = (daemon.config.paths.audit_log(), std::sync::Arc::clone(&daemon.trail));
    blocking(move || {
        let row = match open(&path)? {
            Some(reader) => reader.find(RowNumber(request.number)).map_err(|error| unreadable(&error))?,
            None => None,
        };
        let screenshot = row.and_then(|row| trail.find(&row)).ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, format!("Row {} has no screenshot.", request.number))
                .with_remedy("Sessions with `--trail` keep screenshots for 7 days.")
        })?;
        Ok(json!({"type": "image/jpeg", "data": STANDARD.encode(screenshot)}))
    })
    .await
}

/// The last rows of a session and their screenshots, as one HTML file.
pub(super) async fn export(daemon: &Daemon, request: ExportRequest) -> Result<Value, Failure> {
    let (path, trail) = (daemon.config.paths.audit_log(), std::sync::Arc::clone(&daemon.trail));
    let ExportRequest { session, project } = request;
    blocking(move || {
        let filter = Filter { session: Some(session.clone()), project, ..Filter::default() };
        let rows = match open(&path)? {
            Some(reader) => reader.last(&filter, EXPORT_ROWS).map_err(|error| unreadable(&error))?,
            None => Vec::new(),
        };
        if rows.is_empty() {
            let message = format!("The log has no row of session {session}.");
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        let mut left = EXPORT_SCREENSHOT_BYTES;
        let screenshot = |row: &Row| {
            let found = trail.find(row).filter(|screenshot| screenshot.len() <= left)?;
            left -= found.len();
            Some(found)
        };
        let html = html::document(session.as_str(), &rows, screenshot);
        Ok(json!({"file": format!("tabwire-{session}.html"), "html": html}))
    })
    .await
}

/// The log for reading; `None` if there is none yet.
pub(super) fn open(path: &std::path::Path) -> Result<Option<Reader>, Failure> {
    match Reader::open(path) {
        Ok(reader) => Ok(Some(reader)),
        Err(AuditError::Missing) => Ok(None),
        Err(error) => Err(unreadable(&error)),
    }
}
