//! Lists the files that sessions have written, for the dashboard: those in our own directories, and those elsewhere that a
//! session wrote since the daemon started and nothing changed since.

use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::OFlags;
use tabwire_api::SessionKey;
use tabwire_engine::FileKind;

use crate::action::files::output_dirs::{OutputDirs, directory_name};

/// Files that are listed. The newest ones are.
const LISTED: usize = 500;

/// Files of one kind that are looked at.
const LOOKED_AT: usize = 5_000;

/// Kinds that are listed. Saved states hold logins, and bodies belong to requests.
const LISTED_KINDS: [FileKind; 7] = [
    FileKind::Screenshot,
    FileKind::Pdf,
    FileKind::Download,
    FileKind::Har,
    FileKind::Trace,
    FileKind::Recording,
    FileKind::Capture,
];

/// The kind of a file outside of Tabwire's directories.
const ELSEWHERE: &str = "files";

/// A file that a session has written.
#[derive(Debug)]
pub(crate) struct WrittenFile {
    /// Device and inode: the file itself, whatever its path leads to later.
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    /// Its name; in a folder of ours with the folder.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// In milliseconds since 1970.
    pub(crate) modified: u64,
    /// The session, if this daemon has seen it write the file.
    pub(crate) session: Option<SessionKey>,
}

impl WrittenFile {
    fn new(kind: &'static str, name: String, path: PathBuf, facts: &Metadata) -> Self {
        let since = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or_default());
        Self { id: identity(facts), kind, name, path, bytes: facts.len(), modified, session: None }
    }

    /// Opens the file, if its path still leads to it. Links are not followed.
    pub(crate) fn open(&self) -> io::Result<File> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(&self.path)?;
        let facts = file.metadata()?;
        if !facts.is_file() || identity(&facts) != self.id {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(file)
    }
}

fn identity(facts: &Metadata) -> String {
    format!("{:x}-{:x}", facts.dev(), facts.ino())
}

impl OutputDirs {
    /// The files that sessions have written, the newest first.
    pub(crate) fn list_files(&self) -> Vec<WrittenFile> {
        let written: HashMap<PathBuf, SessionKey> =
            self.written.unchanged().into_iter().map(|(session, path)| (path, session)).collect();
        let mut files: Vec<WrittenFile> = LISTED_KINDS.iter().flat_map(|kind| self.files_of(*kind)).collect();
        for file in &mut files {
            file.session = written.get(&file.path).cloned();
        }
        for (path, session) in written {
            let facts = path.symlink_metadata().ok().filter(Metadata::is_file);
            let Some(facts) = facts.filter(|_| !files.iter().any(|file| file.path == path)) else { continue };
            // Saved states hold logins.
            let is_state =
                [FileKind::State, FileKind::Body].iter().any(|kind| path.starts_with(self.path_of(*kind)));
            if is_state {
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let mut file = WrittenFile::new(ELSEWHERE, name, path, &facts);
            file.session = Some(session);
            files.push(file);
        }
        files.sort_by(|one, other| other.modified.cmp(&one.modified).then_with(|| one.path.cmp(&other.path)));
        files.truncate(LISTED);
        files
    }

    fn files_of(&self, kind: FileKind) -> Vec<WrittenFile> {
        let (directory, kind) = (self.path_of(kind), directory_name(kind));
        let mut files = Vec::new();
        for (path, facts) in entries(&directory) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if facts.is_file() {
                files.push(WrittenFile::new(kind, name, path, &facts));
            } else if facts.is_dir() {
                // A capture is a folder of files.
                files.extend(entries(&path).filter(|(_, facts)| facts.is_file()).map(|(path, facts)| {
                    let inner = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    WrittenFile::new(kind, format!("{name}/{inner}"), path, &facts)
                }));
            }
            if files.len() >= LOOKED_AT {
                break;
            }
        }
        files
    }
}

/// The entries of a directory. Links are not followed.
fn entries(directory: &Path) -> impl Iterator<Item = (PathBuf, Metadata)> + use<> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().take(LOOKED_AT);
    entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_files_are_ours_and_open_by_identity_only() {
        let home = tempfile::tempdir().expect("a directory");
        let state = home.path().join("state");
        let dirs = OutputDirs::new(state.clone());
        for folder in ["screenshots", "states", "captures/one"] {
            std::fs::create_dir_all(state.join(folder)).expect("a directory");
        }
        let secret = home.path().join("secret");
        std::fs::write(&secret, "secret").expect("written");
        std::fs::write(state.join("screenshots/page.png"), "png").expect("written");
        std::fs::write(state.join("captures/one/page.md"), "text").expect("written");
        std::fs::write(state.join("states/state.json"), "{}").expect("written");
        std::os::unix::fs::symlink(&secret, state.join("screenshots/link.png")).expect("a link");
        let files = dirs.list_files();
        let mut names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["one/page.md", "page.png"], "no link, no saved state");
        let page = files.iter().find(|file| file.name == "page.png").expect("the file");
        assert!(page.open().is_ok());
        std::fs::remove_file(&page.path).expect("removed");
        std::os::unix::fs::symlink(&secret, &page.path).expect("a link in its place");
        assert!(page.open().is_err(), "a link is not followed");
    }
}
