//! The trail: a screenshot of the page after each action of a session, for the dashboard and for exports. Off by default.
//!
//! A screenshot is named after its row in the audit log: its time, session and action. It is stored before the row.

pub mod html;
pub(crate) mod screenshot;

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use tabwire_audit::Row;
use tabwire_browser::PrivateDir;

use crate::limits::{TRAIL_AGE, TRAIL_BYTES};

/// The directory of screenshots, below the state directory.
const DIRECTORY: &str = "trail";

/// Largest screenshot.
const SCREENSHOT_BYTES: u64 = 512 * 1024;

/// Screenshots between two checks of the directory's size.
const BETWEEN_CHECKS: u32 = 16;

/// The screenshots of all sessions.
#[derive(Debug)]
pub struct Trail {
    state: PathBuf,
    /// Screenshots that were stored, to check the size now and then.
    stored: AtomicU32,
}

/// What a screenshot belongs to.
#[derive(Clone, Debug)]
pub(crate) struct ScreenshotName(String);

impl ScreenshotName {
    pub(crate) fn new(time_ms: i64, project: Option<&str>, session: &str, action: &str) -> Self {
        let plain = |text: &str| -> String {
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-.".contains(letter);
            text.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).take(64).collect()
        };
        let project = project.map(plain).unwrap_or_default();
        Self(format!("{time_ms}_{project}_{}_{}.jpg", plain(session), plain(action)))
    }

    fn of(row: &Row) -> Self {
        Self::new(row.time_ms, row.session.project.as_deref(), &row.session.name, &row.action)
    }
}

impl Trail {
    /// The trail below a state directory.
    #[must_use]
    pub fn new(state: PathBuf) -> Self {
        Self { state, stored: AtomicU32::new(0) }
    }

    fn directory(&self) -> PathBuf {
        self.state.join(DIRECTORY)
    }

    /// Stores a screenshot in a file that only the user can read. Deletes the oldest when there are too many.
    pub(crate) fn store(&self, name: &ScreenshotName, screenshot: &[u8]) -> io::Result<()> {
        if u64::try_from(screenshot.len()).unwrap_or(u64::MAX) > SCREENSHOT_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let directory = PrivateDir::create(&self.state).and_then(|state| state.subdirectory(DIRECTORY));
        let directory = directory.map_err(io::Error::other)?;
        if self.stored.fetch_add(1, Ordering::Relaxed).is_multiple_of(BETWEEN_CHECKS) {
            let room = u64::from(BETWEEN_CHECKS) * SCREENSHOT_BYTES;
            prune(directory.path(), TRAIL_BYTES.saturating_sub(room), TRAIL_AGE);
        }
        let path = directory.path().join(&name.0);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(screenshot).inspect_err(|_| drop(std::fs::remove_file(&path)))
    }

    /// Whether a row has a screenshot.
    #[must_use]
    pub fn has(&self, row: &Row) -> bool {
        self.directory().join(ScreenshotName::of(row).0).symlink_metadata().is_ok_and(|found| found.is_file())
    }

    /// The screenshot of a row.
    #[must_use]
    pub fn find(&self, row: &Row) -> Option<Vec<u8>> {
        let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let path = self.directory().join(ScreenshotName::of(row).0);
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
        let mut screenshot = Vec::new();
        file.take(SCREENSHOT_BYTES).read_to_end(&mut screenshot).ok()?;
        Some(screenshot)
    }

    /// The number of screenshots and their bytes.
    pub(crate) fn size(&self) -> (usize, u64) {
        let found = screenshots(&self.directory());
        (found.len(), found.iter().map(|screenshot| screenshot.bytes).sum())
    }

    /// Deletes screenshots that are too old, when the daemon starts.
    pub(crate) fn forget_old(&self) {
        prune(&self.directory(), TRAIL_BYTES, TRAIL_AGE);
    }
}

struct StoredFile {
    path: PathBuf,
    modified: SystemTime,
    bytes: u64,
}

/// The screenshots in a directory, the oldest first.
fn screenshots(directory: &Path) -> Vec<StoredFile> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<StoredFile> = entries
        .filter_map(|entry| {
            let facts = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some(StoredFile { path: entry.path(), modified: facts.modified().ok()?, bytes: facts.len() })
        })
        .collect();
    found.sort_by(|one, other| one.modified.cmp(&other.modified).then_with(|| one.path.cmp(&other.path)));
    found
}

/// Deletes screenshots beyond an age, and the oldest ones until the rest has at most so many bytes.
fn prune(directory: &Path, most: u64, age: Duration) {
    let found = screenshots(directory);
    let mut bytes: u64 = found.iter().map(|screenshot| screenshot.bytes).sum();
    for screenshot in found {
        let is_old = screenshot.modified.elapsed().is_ok_and(|elapsed| elapsed > age);
        if !is_old && bytes <= most {
            return;
        }
        bytes = bytes.saturating_sub(screenshot.bytes);
        // What cannot be deleted now is tried again with a later screenshot.
        let _ = std::fs::remove_file(screenshot.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn name(time: i64) -> ScreenshotName {
        ScreenshotName::new(time, Some("../up"), "work", "click")
    }

    #[test]
    fn screenshots_are_private_and_have_plain_names() {
        let home = tempfile::tempdir().expect("a directory");
        let trail = Trail::new(home.path().join("state"));
        trail.store(&name(7), b"jpeg").expect("stored");
        assert!(trail.store(&name(7), b"again").is_err(), "a screenshot is never replaced");
        let path = home.path().join("state/trail/7_..-up_work_click.jpg");
        let mode = std::fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(trail.store(&name(8), &vec![0; 1024 * 1024]).is_err(), "too large");
        assert_eq!(trail.size(), (1, 4));
    }

    #[test]
    fn the_oldest_screenshots_are_deleted_by_size_and_age() {
        let home = tempfile::tempdir().expect("a directory");
        let trail = Trail::new(home.path().join("state"));
        for time in 0..6 {
            trail.store(&name(time), &[0; 100]).expect("stored");
            let file = std::fs::File::options()
                .write(true)
                .open(trail.directory().join(name(time).0))
                .expect("a file");
            let hours = u64::try_from(6 - time).expect("positive");
            file.set_modified(SystemTime::now() - Duration::from_secs(3600 * hours)).expect("set");
        }
        prune(&trail.directory(), 350, Duration::from_secs(u64::from(u32::MAX)));
        assert_eq!(trail.size(), (3, 300), "by size");
        prune(&trail.directory(), 350, Duration::from_secs(3600 + 1800));
        assert_eq!(trail.size(), (1, 100), "by age");
        assert!(trail.directory().join(name(5).0).exists(), "the newest one is left");
    }
}
