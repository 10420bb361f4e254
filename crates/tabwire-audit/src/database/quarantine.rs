//! Moves an unusable file out of the way. Nothing is deleted and nothing is overwritten.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::AuditError;

/// Numbers tried for a free name.
const NUMBERS: u32 = 1_000;

/// Files that belong to an SQLite database. The write-ahead log moves first: without its database it is harmless,
/// while a new database with an old log is damaged.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

/// An audit log that was quarantined, so that a new one could be created.
#[derive(Clone, Debug)]
pub struct Quarantine {
    /// Where it is now.
    pub path: PathBuf,
    /// Why.
    pub reason: AuditError,
}

/// Moves a file to `NAME-NUMBER.EXTENSION` in a directory on the same disk, with the first free number. An SQLite
/// database takes its companion files along; no process may have it open.
///
/// # Errors
/// When the file cannot be renamed, or no number is free.
pub fn quarantine(file: &Path, directory: &Path, name: &str) -> io::Result<PathBuf> {
    let extension = file.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
    let candidate = |number: u32| directory.join(format!("{name}-{number}{extension}"));
    let is_free = |path: &PathBuf| path.symlink_metadata().is_err();
    let free = (1..=NUMBERS).map(candidate).find(is_free);
    let to = free.ok_or_else(|| {
        io::Error::new(io::ErrorKind::AlreadyExists, format!("{} names are taken", NUMBERS))
    })?;
    for companion in COMPANIONS {
        match std::fs::rename(with_suffix(file, companion), with_suffix(&to, companion)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    std::fs::rename(file, &to)?;
    Ok(to)
}

/// Quarantines an audit log beside itself.
pub(crate) fn quarantine_log(path: &Path, reason: AuditError) -> Result<Quarantine, AuditError> {
    let state = if matches!(reason, AuditError::Newer { .. }) { "newer" } else { "damaged" };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let directory = path.parent().unwrap_or(Path::new(""));
    let moved = quarantine(path, directory, &format!("{stem}-{state}"));
    let path = moved.map_err(|error| AuditError::system(path, error))?;
    Ok(Quarantine { path, reason })
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
