//! The version of the formats of all stored files, in one marker file: an older Tabwire refuses the files of a newer one
//! before it reads or changes any of them.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, VERSION};
use tabwire_browser::atomic_file;

use crate::paths::FILE_BYTES;

/// Grows when this version writes a file that older versions would misread: sessions, grants, saved logins, the audit
/// log, chats. A new field that older versions ignore is no reason.
const FORMAT: u32 = 1;

/// The marker's content.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    format: u32,
    /// The newest version that used the files, for the error's sentence.
    version: String,
}

/// Checks the marker and writes it where it is missing or older.
///
/// # Errors
/// When a newer version has written the files, or the marker cannot be read or written.
pub(crate) fn claim(path: &Path) -> Result<(), Failure> {
    claim_as(path, FORMAT)
}

fn claim_as(path: &Path, own: u32) -> Result<(), Failure> {
    let found = find(path)?;
    if let Some(newer) = found.as_ref().filter(|found| found.format > own) {
        let directory = path.parent().unwrap_or(path).display();
        // The text is from a file: a version is short and has no other characters.
        let is_version = newer.version.len() <= 40
            && newer.version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte));
        let version = if is_version { newer.version.as_str() } else { "a newer version" };
        let message = format!(
            "The files in {directory} were written by Tabwire {version}, which this {VERSION} cannot read."
        );
        return Err(Failure::new(ErrorCode::VersionMismatch, message).with_remedy(
            "Install the newer version again, or set TABWIRE_HOME to another directory. Nothing was changed.",
        ));
    }
    if found.is_some_and(|found| found.format == own && found.version == VERSION) {
        return Ok(());
    }
    let marker = Marker { format: own, version: VERSION.to_owned() };
    Ok(atomic_file::write(path, &serde_json::to_vec(&marker).unwrap_or_default())?)
}

/// The marker; `None` in a new directory, and for a damaged marker, which is written again.
fn find(path: &Path) -> Result<Option<Marker>, Failure> {
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    Ok(serde_json::from_slice(&atomic_file::read(path, FILE_BYTES)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_newer_version_are_refused_and_stay_unchanged() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("format.json");
        claim_as(&path, 1).unwrap();
        claim_as(&path, 1).unwrap();
        std::fs::write(&path, "{\"format\": 2, \"version\": \"7.8.9\", \"more\": true}").unwrap();
        let before = std::fs::read(&path).unwrap();
        let failure = claim_as(&path, 1).unwrap_err();
        assert_eq!(failure.code, ErrorCode::VersionMismatch);
        assert!(failure.message.contains("written by Tabwire 7.8.9"), "{}", failure.message);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        claim_as(&path, 3).unwrap();
        assert_eq!(find(&path).unwrap().unwrap().format, 3);
    }

    #[test]
    fn a_version_that_is_none_is_not_repeated() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("format.json");
        std::fs::write(&path, "{\"format\": 2, \"version\": \"\\u001b[31m\"}").unwrap();
        assert!(claim_as(&path, 1).unwrap_err().message.contains("Tabwire a newer version"));
        std::fs::write(&path, "torn").unwrap();
        claim_as(&path, 1).unwrap();
    }
}
