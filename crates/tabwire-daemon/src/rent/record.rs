//! The record of a rented browser on disk. It is written before the browser is requested, so that a daemon that dies at
//! any moment leaves enough for the next one to release the browser.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tabwire_api::{Failure, SessionKey};
use tabwire_browser::{PrivateDir, atomic_file, new_instance_id};

use crate::paths::FILE_BYTES;

/// The version of the format. Other versions are not read.
const FORMAT: u32 = 1;

/// Records that are read.
const RECORDS: usize = 10_000;

/// Where a browser was rented. Holds credentials, so the file is private.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SavedSource {
    /// A Selenium Grid.
    Grid { url: String, headers: Vec<String> },
    /// A provider, with the text of its recipe: the file may change meanwhile.
    Provider { name: String, recipe: String },
}

/// One rented browser, or one that was requested.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct RentalRecord {
    format: u32,
    /// Our own id.
    pub(crate) id: String,
    /// The session that wanted it.
    pub(crate) session: SessionKey,
    pub(crate) source: SavedSource,
    /// The id at the provider. Absent while the browser is requested, and where there is none.
    pub(crate) remote: Option<String>,
    /// Whether the provider has responded.
    pub(crate) is_held: bool,
    /// When it was requested, in milliseconds since 1970.
    pub(crate) requested_at: u64,
}

impl std::fmt::Debug for RentalRecord {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "RentalRecord({} of {})", self.id, self.session)
    }
}

impl RentalRecord {
    pub(crate) fn new(session: SessionKey, source: SavedSource) -> Result<Self, Failure> {
        let id: String = new_instance_id()?.as_str().chars().take(16).collect();
        let (remote, is_held, requested_at) = (None, false, milliseconds());
        Ok(Self { format: FORMAT, id, session, source, remote, is_held, requested_at })
    }

    /// The record of the browser that the provider has given under this id.
    pub(crate) fn held_as(self, remote: Option<String>) -> Self {
        Self { remote, is_held: true, ..self }
    }

    /// The name of the rental at the provider.
    pub(crate) fn name(&self) -> String {
        format!("tabwire-{}", self.id)
    }
}

/// The directory of the records.
#[derive(Clone, Debug)]
pub(crate) struct RentalStore {
    directory: PathBuf,
}

impl RentalStore {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn file(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.json"))
    }

    /// Writes a record. Returns when it is on the disk.
    pub(crate) fn write(&self, record: &RentalRecord) -> Result<(), Failure> {
        PrivateDir::create(&self.directory)?;
        let content = serde_json::to_vec(record).unwrap_or_default();
        Ok(atomic_file::write(&self.file(&record.id), &content)?)
    }

    /// Removes the record of a browser that is released.
    pub(crate) fn remove(&self, id: &str) {
        // It may be removed already.
        let _ = std::fs::remove_file(self.file(id));
    }

    /// All records that can be read.
    pub(crate) fn list(&self) -> Vec<RentalRecord> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let paths = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "json"));
        paths.take(RECORDS).filter_map(|path| read(&path)).collect()
    }
}

fn read(path: &Path) -> Option<RentalRecord> {
    let record: RentalRecord = serde_json::from_slice(&atomic_file::read(path, FILE_BYTES).ok()?).ok()?;
    let is_named = path.file_stem().is_some_and(|stem| stem == record.id.as_str());
    (record.format == FORMAT && is_named).then_some(record)
}

/// Now, in milliseconds since 1970.
pub(crate) fn milliseconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn records_are_private_and_damaged_ones_are_skipped() {
        let home = tempfile::tempdir().expect("a directory");
        let store = RentalStore::new(home.path().join("rentals"));
        let source = SavedSource::Grid { url: "http://me:word@g".to_owned(), headers: Vec::new() };
        let key = SessionKey::find("default").expect("a key");
        let record = RentalRecord::new(key, source).expect("random");
        store.write(&record).expect("written");
        let file = store.file(&record.id);
        assert_eq!(file.metadata().expect("there").permissions().mode() & 0o777, 0o600);
        std::fs::write(file.with_file_name("torn.json"), "{").expect("written");
        std::fs::copy(&file, file.with_file_name("copy.json")).expect("copied");
        let found = store.list();
        assert!(found.len() == 1 && found[0].name() == record.name(), "{found:?}");
        assert!(!format!("{record:?}").contains("word"));
        store.remove(&record.id);
        assert!(store.list().is_empty());
    }
}
