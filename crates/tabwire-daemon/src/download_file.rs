//! Putting a finished download where its client wants it, off the hub's task.

use std::io;
use std::path::{Path, PathBuf};

/// Moves a file, or copies it when others want it too; says under its ticket whether that worked.
pub(crate) async fn place(ticket: u64, from: PathBuf, to: PathBuf, keep: bool) -> (u64, bool) {
    let placed = tokio::task::spawn_blocking(move || place_now(&from, &to, keep)).await;
    match placed {
        Ok(Ok(())) => (ticket, true),
        Ok(Err(error)) => {
            tracing::warn!(%error, "a download could not be placed");
            (ticket, false)
        }
        Err(_) => (ticket, false),
    }
}

/// Removes a file that nobody wants.
pub(crate) async fn remove(path: PathBuf) -> (u64, bool) {
    let removed = tokio::task::spawn_blocking(move || std::fs::remove_file(path)).await;
    (0, matches!(removed, Ok(Ok(()))))
}

fn place_now(from: &Path, to: &Path, keep: bool) -> io::Result<()> {
    if let Some(directory) = to.parent() {
        std::fs::create_dir_all(directory)?;
    }
    if !keep && std::fs::rename(from, to).is_ok() {
        return Ok(());
    }
    // Another file system, or a file that is still wanted here.
    std::fs::copy(from, to)?;
    if keep { Ok(()) } else { std::fs::remove_file(from) }
}

#[cfg(test)]
mod tests {
    use super::place_now;

    #[test]
    fn a_file_is_copied_for_all_and_moved_for_the_last() {
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
}
