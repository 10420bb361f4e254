//! Lists every session record with its state, for the doctor. Changes nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use tabwire_api::{BrowserId, SessionKey};
use tabwire_browser::{ProcessIdentity, atomic_file};

use crate::paths::FILE_BYTES;
use crate::session::record::{FORMAT, SessionRecord};
use crate::session::store::RECORDS_LISTED;

/// The file of a session record.
#[derive(Clone, Debug)]
pub struct FoundRecord {
    /// Its path.
    pub path: PathBuf,
    /// Its state.
    pub state: RecordState,
}

/// The state of a session record.
#[derive(Clone, Debug)]
pub enum RecordState {
    /// It can be read.
    Good {
        /// The session.
        key: SessionKey,
        /// The launched browser in it.
        browser: Option<(BrowserId, Option<ProcessIdentity>)>,
        /// When it was written.
        saved_at: SystemTime,
    },
    /// A newer Tabwire wrote it.
    Newer,
    /// It is damaged, or of an older format.
    Unreadable,
}

/// The part that every format has.
#[derive(Deserialize)]
struct Head {
    format: u32,
}

/// Lists the records below the directory of sessions, sorted by path.
#[must_use]
pub fn survey_records(directory: &Path) -> Vec<FoundRecord> {
    let projects = entries(directory).filter(|path| path.is_dir());
    let files = projects.flat_map(|project| entries(&project).collect::<Vec<_>>());
    let mut paths: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "json")).take(RECORDS_LISTED).collect();
    paths.sort();
    paths.into_iter().map(|path| FoundRecord { state: read_state(&path), path }).collect()
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn read_state(path: &Path) -> RecordState {
    let Ok(content) = atomic_file::read(path, FILE_BYTES) else { return RecordState::Unreadable };
    if serde_json::from_slice::<Head>(&content).is_ok_and(|head| head.format > FORMAT) {
        return RecordState::Newer;
    }
    let named_so = |key: &SessionKey| {
        path.file_stem().is_some_and(|stem| stem == key.name.as_str())
            && path.parent().and_then(Path::file_name).is_some_and(|name| name == key.project.as_str())
    };
    match SessionRecord::parse(&content) {
        Some(record) if named_so(&record.key()) => RecordState::Good {
            key: record.key(),
            saved_at: UNIX_EPOCH + Duration::from_millis(record.saved_at.min(u64::from(u32::MAX) * 1000)),
            browser: record.running.and_then(|running| Some((running.browser?, running.process))),
        },
        _ => RecordState::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::memory::Remembered;
    use crate::session::store::SessionStore;

    #[test]
    fn damaged_newer_and_copied_records_are_recognised() {
        let home = tempfile::tempdir().unwrap();
        let store = SessionStore::new(home.path().join("sessions"));
        let key = SessionKey::find("default").unwrap();
        let record = SessionRecord::new(key.clone(), "secret".to_owned(), Remembered::default());
        store.write(&record).unwrap();
        let good = store.file(&key);
        fs::copy(&good, good.with_file_name("copied.json")).unwrap();
        fs::write(good.with_file_name("newer.json"), "{\"format\": 99}").unwrap();
        fs::write(good.with_file_name("torn.json"), "{\"format\": 2").unwrap();
        let found: Vec<String> = survey_records(&home.path().join("sessions"))
            .iter()
            .map(|found| {
                let name = found.path.file_stem().unwrap().to_string_lossy().into_owned();
                let word = match found.state {
                    RecordState::Good { .. } => "good",
                    RecordState::Newer => "newer",
                    RecordState::Unreadable => "unreadable",
                };
                format!("{name} {word}")
            })
            .collect();
        assert_eq!(found, ["copied unreadable", "default good", "newer newer", "torn unreadable"]);
        assert!(survey_records(&home.path().join("nowhere")).is_empty());
    }
}
