//! Moves finished downloads to the directories of their clients, off the hub's task.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::action::files::output_dirs::NAMES_REMEMBERED;
use crate::action::files::protected_path::is_protected_name;

/// Directories whose files other tools run or trust.
const FOR_TOOLS: &[&str] = &[
    ".agents",
    ".cargo",
    ".circleci",
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".gemini",
    ".git",
    ".github",
    ".gnupg",
    ".hg",
    ".husky",
    ".idea",
    ".ssh",
    ".svn",
    ".vscode",
    "autostart",
    "node_modules",
    "site-packages",
    "systemd",
];

/// Device, inode and ctime of a file. A replaced or rewritten file has other values.
type Identity = (u64, u64, i64, i64);

/// Files that clients of one browser downloaded. A client may download such a file again under the same name.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlacedFiles {
    known: Arc<Mutex<HashMap<PathBuf, Identity>>>,
}

impl PlacedFiles {
    /// Moves a file, or copies it when other clients want it too. Returns its ticket and whether that worked.
    pub(crate) async fn place(self, ticket: u64, from: PathBuf, to: PathBuf, keep: bool) -> (u64, bool) {
        let placed = tokio::task::spawn_blocking(move || {
            let placed = match place_now(&from, &to, keep) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.make_room(&to) => {
                    place_now(&from, &to, keep)
                }
                placed => placed,
            };
            placed.inspect(|()| self.note(&to))
        })
        .await;
        match placed {
            Ok(Ok(())) => (ticket, true),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a download could not be moved to its directory");
                (ticket, false)
            }
            Err(_) => (ticket, false),
        }
    }

    fn note(&self, path: &Path) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= NAMES_REMEMBERED {
            // The only cost: a forgotten file is not replaced.
            known.clear();
        }
        if let Some(identity) = identity(path) {
            known.insert(path.to_owned(), identity);
        }
    }

    /// Removes a file if it is one of these.
    fn make_room(&self, path: &Path) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ours = known.get(path).is_some_and(|known| identity(path) == Some(*known));
        is_ours && std::fs::remove_file(path).is_ok()
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let found = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((found.dev(), found.ino(), found.ctime(), found.ctime_nsec()))
}

/// Removes a file that no client wants.
pub(crate) async fn remove(path: PathBuf) -> (u64, bool) {
    let removed = tokio::task::spawn_blocking(move || std::fs::remove_file(path)).await;
    (0, matches!(removed, Ok(Ok(()))))
}

/// Never replaces a file and follows no link, because a page suggests the name.
fn place_now(from: &Path, to: &Path, keep: bool) -> io::Result<()> {
    let (Some(directory), Some(name)) = (to.parent(), to.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    if is_protected_name(&name.to_string_lossy()) || is_for_tools(directory) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "other tools read or run files of that name",
        ));
    }
    std::fs::create_dir_all(directory)?;
    // A hard link and an unlink move a file without replacing another one.
    if !keep && std::fs::hard_link(from, to).is_ok() {
        return std::fs::remove_file(from);
    }
    // Another file system, or a file that another client still wants.
    let mut content = File::open(from)?;
    let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    if let Err(error) = io::copy(&mut content, &mut copy) {
        // A partial file must not stay.
        let _ = std::fs::remove_file(to);
        return Err(error);
    }
    if keep { Ok(()) } else { std::fs::remove_file(from) }
}

/// Whether a directory, or one above it, holds files that other tools run. Other dot directories are allowed: clients
/// keep their own files there.
fn is_for_tools(directory: &Path) -> bool {
    let real = directory.canonicalize();
    let parts = |path: &Path| {
        let names = path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase());
        names.collect::<Vec<_>>()
    };
    let mut parts = [parts(directory), real.as_deref().map(parts).unwrap_or_default()].concat().into_iter();
    parts.any(|part| FOR_TOOLS.contains(&part.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{PlacedFiles, place_now};

    #[test]
    fn a_download_is_copied_for_all_clients_and_moved_for_the_last() {
        let directory = tempfile::tempdir().expect("a directory");
        let from = directory.path().join("staged");
        std::fs::write(&from, "content").expect("written");
        let (first, last) = (directory.path().join("a/one"), directory.path().join("b/two"));
        place_now(&from, &first, true).expect("copied");
        place_now(&from, &last, false).expect("moved");
        assert!(!from.exists());
        for path in [first, last] {
            assert_eq!(std::fs::read_to_string(path).expect("placed"), "content");
        }
        assert!(place_now(&from, &directory.path().join("c"), false).is_err());
    }

    #[tokio::test]
    async fn m5_a_client_replaces_only_its_own_download() {
        let directory = tempfile::tempdir().expect("a directory");
        let known = PlacedFiles::default();
        let to = directory.path().join("report.txt");
        for (content, is_replaced, may) in
            [("one", false, true), ("two", false, true), ("three", true, false)]
        {
            if is_replaced {
                std::fs::write(directory.path().join("other"), "other content").expect("written");
                std::fs::rename(directory.path().join("other"), &to).expect("moved");
            }
            let from = directory.path().join(content);
            std::fs::write(&from, content).expect("written");
            assert_eq!(known.clone().place(1, from, to.clone(), false).await, (1, may), "{content}");
            let expected = if may { content } else { "other content" };
            assert_eq!(std::fs::read_to_string(&to).expect("there"), expected);
        }
    }

    #[test]
    fn m5_a_download_replaces_nothing_and_avoids_tool_files() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("precious"), "precious").expect("written");
        std::fs::create_dir_all(path(".git/hooks")).expect("a directory");
        std::os::unix::fs::symlink(path("precious"), path("link")).expect("a link");
        std::os::unix::fs::symlink(path("new"), path("dangling")).expect("a link");
        std::os::unix::fs::symlink(path(".git/hooks"), path("innocent")).expect("a link");
        for (number, name) in
            ["precious", "link", "dangling", ".envrc", "Makefile", ".git/hooks/x", "innocent/x"]
                .iter()
                .enumerate()
        {
            for keep in [true, false] {
                let from = path(&format!("staged-{number}"));
                std::fs::write(&from, "page").expect("written");
                assert!(place_now(&from, &path(name), keep).is_err(), "{name}");
            }
        }
        assert_eq!(std::fs::read_to_string(path("precious")).expect("there"), "precious");
        assert!(!path("new").exists() && !path(".envrc").exists());
        assert_eq!(std::fs::read_dir(path(".git/hooks")).expect("there").count(), 0);
    }
}
