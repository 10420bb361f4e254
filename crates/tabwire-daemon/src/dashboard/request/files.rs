//! Files that sessions have written: a list, and the content of one by its id. A page never names a path.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_audit::Filter;

use super::blocking;
use super::rows::open;
use crate::action::files::listed_files::WrittenFile;
use crate::action::files::output_dirs::OutputDirs;
use crate::daemon::Daemon;

/// Bytes of a file in one response.
const PART_BYTES: u64 = 1024 * 1024;

/// Rows of the log in which the sessions of files are looked up.
const ROWS: u32 = 2_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dashboard) struct FileRequest {
    /// The id in the list.
    file: String,
    #[serde(default)]
    offset: u64,
}

/// The files, the newest first.
pub(super) async fn list(daemon: &Arc<Daemon>) -> Result<Value, Failure> {
    let (dirs, log) = (Arc::clone(&daemon.files), daemon.config.paths.audit_log());
    blocking(move || {
        let files = dirs.list_files();
        // After a restart only the log knows which session wrote a file.
        let sessions =
            if files.iter().any(|file| file.session.is_none()) { logged(&log) } else { HashMap::new() };
        let files: Vec<Value> = files.into_iter().map(|file| describe(file, &sessions)).collect();
        Ok(json!({"files": files}))
    })
    .await
}

fn describe(file: WrittenFile, sessions: &HashMap<String, String>) -> Value {
    let path = file.path.display().to_string();
    let session = file.session.map(|key| key.name.to_string()).or_else(|| sessions.get(&path).cloned());
    json!({
        "id": file.id, "kind": file.kind, "name": file.name, "path": path, "bytes": file.bytes,
        "modified": file.modified, "session": session, "type": media_type(&file.path),
    })
}

/// The sessions of files in the log, by path.
fn logged(log: &Path) -> HashMap<String, String> {
    let Ok(Some(reader)) = open(log) else { return HashMap::new() };
    let rows = reader.last(&Filter { has_file: true, ..Filter::default() }, ROWS).unwrap_or_default();
    let pair = |row: tabwire_audit::Row| {
        let path = row.changes.get("path")?.as_str()?.to_owned();
        Some((path, row.session.name))
    };
    rows.into_iter().filter_map(pair).collect()
}

/// How a page may show a file. Everything else is a download for it.
fn media_type(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    Some(match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        "webm" => "video/webm",
        "mp4" => "video/mp4",
        "txt" | "log" | "json" | "har" | "csv" | "md" | "html" | "xml" | "js" | "css" | "svg" => "text/plain",
        _ => return None,
    })
}

/// A part of a file.
pub(super) async fn read(daemon: &Arc<Daemon>, request: FileRequest) -> Result<Value, Failure> {
    let dirs: Arc<OutputDirs> = Arc::clone(&daemon.files);
    blocking(move || {
        let gone = || {
            Failure::new(ErrorCode::BadArgs, "The file is gone, or was changed.")
                .with_remedy("Look at the list again.")
        };
        let listed = dirs.list_files().into_iter().find(|file| file.id == request.file).ok_or_else(gone)?;
        let mut file = listed.open().map_err(|_| gone())?;
        let unreadable = |error: std::io::Error| {
            Failure::new(ErrorCode::Internal, format!("{} cannot be read: {error}.", listed.name))
        };
        file.seek(SeekFrom::Start(request.offset)).map_err(unreadable)?;
        let mut part = Vec::new();
        file.take(PART_BYTES).read_to_end(&mut part).map_err(unreadable)?;
        let kind = media_type(&listed.path);
        Ok(json!({"data": STANDARD.encode(part), "bytes": listed.bytes, "type": kind}))
    })
    .await
}
