//! The files that each session wrote. A session replaces its own files, unless they changed since.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tabwire_api::SessionKey;

use crate::action::files::output_dirs::NAMES_REMEMBERED;

/// Which file a path leads to, and its content as far as size and time tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    /// Device and inode.
    pub(crate) file: String,
    /// Size and time of the last change; none for a file that is still written.
    pub(crate) content: Option<String>,
}

impl FileIdentity {
    /// The file at a path, without following a link.
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let found = path.symlink_metadata().ok()?;
        let content = format!("{} {} {}", found.size(), found.mtime(), found.mtime_nsec());
        Some(Self { file: format!("{} {}", found.dev(), found.ino()), content: Some(content) })
    }

    /// Whether this is the file that was noted, with the same content.
    fn is_still(&self, noted: &Self) -> bool {
        self.file == noted.file && (noted.content.is_none() || self.content == noted.content)
    }
}

/// The files that sessions wrote, by session and path.
#[derive(Debug, Default)]
pub(crate) struct WrittenFiles(Mutex<HashMap<(SessionKey, PathBuf), FileIdentity>>);

impl WrittenFiles {
    /// Notes a file that a session wrote.
    pub(crate) fn note(&self, session: &SessionKey, path: PathBuf, identity: FileIdentity) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() >= NAMES_REMEMBERED {
            // The only cost: older files need `--force` to be replaced.
            files.clear();
        }
        files.insert((session.clone(), path), identity);
    }

    /// The files that sessions wrote and that were not changed since, with their sessions.
    pub(crate) fn unchanged(&self) -> Vec<(SessionKey, PathBuf)> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_unchanged = |path: &Path, noted: &FileIdentity| {
            FileIdentity::of(path).is_some_and(|found| found.is_still(noted))
        };
        let unchanged = files.into_iter().filter(|((_, path), noted)| is_unchanged(path, noted));
        unchanged.map(|(key, _)| key).collect()
    }

    /// Whether the session wrote the file at this path, and nothing changed it since.
    pub(crate) fn is_own(&self, session: &SessionKey, path: &Path, found: &FileIdentity) -> bool {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.get(&(session.clone(), path.to_owned())).is_some_and(|noted| found.is_still(noted))
    }
}
