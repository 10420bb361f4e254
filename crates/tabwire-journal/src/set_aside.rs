//! Moves a file out of the way that cannot be used. Nothing is deleted.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::JournalError;
use crate::limits::NAMES_TRIED;

/// A journal that was set aside, so that a new one could be begun.
#[derive(Clone, Debug)]
pub struct SetAside {
    /// Where it is now.
    pub path: PathBuf,
    /// Why.
    pub reason: JournalError,
}

/// What belongs to a database besides its file.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

/// Gives a journal and what belongs to it a name that is free. Nobody may have it open.
///
/// # Errors
/// When it cannot be renamed, or every name that is tried is taken.
pub fn set_aside(path: &Path, reason: JournalError) -> Result<SetAside, JournalError> {
    let stem = path.file_stem().unwrap_or_default();
    let word = if matches!(reason, JournalError::Newer { .. }) { "newer" } else { "damaged" };
    let name = |number: u32| {
        let mut name = OsString::from(stem);
        name.push(format!("-{word}-{number}.db"));
        path.with_file_name(name)
    };
    let is_free = |candidate: &PathBuf| candidate.symlink_metadata().is_err();
    let Some(to) = (1..=NAMES_TRIED).map(name).find(is_free) else { return Err(reason) };
    // The log first: without its database it is harmless, while a new database with an old log is not.
    for companion in COMPANIONS {
        let (from, to) = (with_suffix(path, companion), with_suffix(&to, companion));
        match std::fs::rename(&from, to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(JournalError::system(&from, error));
            }
            _ => {}
        }
    }
    std::fs::rename(path, &to).map_err(|error| JournalError::system(path, error))?;
    Ok(SetAside { path: to, reason })
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
