//! The directory of session records: one file each, below the directory of its project. A write replaces the whole
//! file, so that a crash leaves the old record or the new one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tabwire_api::{ErrorCode, Failure, ProjectKey, SessionKey, SessionName};
use tabwire_browser::{BrowserError, PrivateDir, atomic_file};

use crate::paths::FILE_BYTES;
use crate::session::record::SessionRecord;

/// Largest saved state (cookies and local storage) that is restored.
const STATE_BYTES: usize = 64 * 1024 * 1024;

/// Session records that are listed.
pub(crate) const RECORDS_LISTED: usize = 1_000;

/// The directory of session records.
#[derive(Clone, Debug)]
pub(crate) struct SessionStore {
    directory: PathBuf,
}

impl SessionStore {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The file of a session's record.
    pub(crate) fn file(&self, key: &SessionKey) -> PathBuf {
        self.directory.join(key.project.as_str()).join(format!("{}.json", key.name))
    }

    /// Where a session's cookies and local storage are saved.
    pub(crate) fn state_file(&self, key: &SessionKey) -> PathBuf {
        self.directory.join(key.project.as_str()).join(format!("{}.state", key.name))
    }

    /// A private directory for a project's sessions.
    fn project(&self, project: &ProjectKey) -> Result<PrivateDir, BrowserError> {
        PrivateDir::create(&self.directory)?.subdirectory(project.as_str())
    }

    pub(crate) fn write(&self, record: &SessionRecord) -> Result<(), BrowserError> {
        let key = record.key();
        self.project(&key.project)?;
        atomic_file::write(&self.file(&key), &record.to_bytes())
    }

    /// Reads a session's record; `None` when there is none that can be read.
    pub(crate) fn find(&self, key: &SessionKey) -> Option<SessionRecord> {
        let text = atomic_file::read(&self.file(key), FILE_BYTES).ok()?;
        SessionRecord::parse(&text).filter(|record| record.key() == *key)
    }

    /// Deletes the record of a session. Its saved cookies stay for the next session of that name.
    pub(crate) fn forget_record(&self, key: &SessionKey) {
        // The file may not exist.
        let _ = fs::remove_file(self.file(key));
    }

    /// Deletes the record and the saved state of a session.
    pub(crate) fn remove(&self, key: &SessionKey) {
        self.forget_record(key);
        let _ = fs::remove_file(self.state_file(key));
    }

    /// Renames a session's files. Existing files are not overwritten.
    pub(crate) fn rename(&self, from: &SessionKey, to: &SessionKey) -> Result<(), Failure> {
        if self.file(to).exists() {
            return Err(Failure::new(ErrorCode::Busy, format!("There is a session {to} already."))
                .with_remedy("Choose another name, or delete that session first."));
        }
        let Some(mut record) = self.find(from) else { return Ok(()) };
        (record.project, record.name) = (to.project.clone(), to.name.clone());
        self.write(&record)?;
        match fs::rename(self.state_file(from), self.state_file(to)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::new(
                ErrorCode::Internal,
                format!("The saved state of session {from} could not be renamed: {error}."),
            )),
            _ => {
                let _ = fs::remove_file(self.file(from));
                Ok(())
            }
        }
    }

    pub(crate) fn write_state(&self, key: &SessionKey, content: &[u8]) -> Result<(), BrowserError> {
        self.project(&key.project)?;
        atomic_file::write(&self.state_file(key), content)
    }

    /// The saved state of a session, if any.
    pub(crate) fn find_state(&self, key: &SessionKey) -> Result<Option<Vec<u8>>, BrowserError> {
        let path = self.state_file(key);
        if !path.exists() {
            return Ok(None);
        }
        atomic_file::read(&path, STATE_BYTES).map(Some)
    }

    /// Every session with a record, of one project or of all. Other files are skipped.
    pub(crate) fn list(&self, project: Option<&ProjectKey>) -> Vec<SessionKey> {
        let projects = match project {
            Some(project) => vec![project.clone()],
            None => names(&self.directory).filter_map(|name| ProjectKey::new(&name).ok()).collect(),
        };
        let mut keys = Vec::new();
        for project in projects {
            let directory = self.directory.join(project.as_str());
            let sessions =
                names(&directory).filter_map(|name| SessionName::new(name.strip_suffix(".json")?).ok());
            keys.extend(sessions.map(|name| SessionKey::new(project.clone(), name)));
        }
        keys.sort_unstable();
        keys.truncate(RECORDS_LISTED);
        keys
    }
}

/// The names in a directory; empty when it cannot be read.
fn names(directory: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

#[cfg(test)]
mod tests {
    use tabwire_api::SessionKey;

    use super::SessionStore;
    use crate::session::memory::Remembered;
    use crate::session::record::SessionRecord;

    fn key(text: &str) -> SessionKey {
        SessionKey::find(text).expect(text)
    }

    fn record(text: &str) -> SessionRecord {
        SessionRecord::new(key(text), "secret".to_owned(), Remembered::default())
    }

    #[test]
    fn sessions_of_two_projects_are_separate() {
        let home = tempfile::tempdir().expect("a directory");
        let store = SessionStore::new(home.path().join("sessions"));
        for text in ["a", "one-1/a", "two-2/a"] {
            store.write(&record(text)).expect("written");
        }
        assert_eq!(store.list(None), [key("a"), key("one-1/a"), key("two-2/a")]);
        assert_eq!(store.list(Some(&key("one-1/a").project)), [key("one-1/a")]);
        store.remove(&key("one-1/a"));
        assert!(store.find(&key("one-1/a")).is_none() && store.find(&key("two-2/a")).is_some());
    }

    #[test]
    fn a_record_of_another_session_or_format_is_ignored() {
        let home = tempfile::tempdir().expect("a directory");
        let store = SessionStore::new(home.path().join("sessions"));
        store.write(&record("a")).expect("written");
        std::fs::copy(store.file(&key("a")), store.file(&key("b"))).expect("copied");
        assert!(store.find(&key("b")).is_none());
        let text = std::fs::read_to_string(store.file(&key("a"))).expect("read");
        std::fs::write(store.file(&key("a")), text.replace("\"format\": 2", "\"format\": 9"))
            .expect("written");
        assert!(store.find(&key("a")).is_none());
    }

    #[test]
    fn a_rename_moves_all_files_and_overwrites_nothing() {
        let home = tempfile::tempdir().expect("a directory");
        let store = SessionStore::new(home.path().join("sessions"));
        for text in ["a", "b"] {
            store.write(&record(text)).expect("written");
        }
        store.write_state(&key("a"), b"state").expect("written");
        assert!(store.rename(&key("a"), &key("b")).is_err());
        store.rename(&key("a"), &key("c")).expect("renamed");
        assert_eq!(store.list(None), [key("b"), key("c")]);
        assert_eq!(store.find_state(&key("c")).expect("read").as_deref(), Some(&b"state"[..]));
        assert!(store.find_state(&key("a")).expect("read").is_none());
    }
}
