//! Lists, creates and removes named profiles. The profile's lock shows whether a browser uses it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tabwire_api::SessionName;

use crate::error::BrowserError;
use crate::files::private_dir::PrivateDir;
use crate::files::random_name::random_name;
use crate::profile::lock::{LockState, lock_state, remove_socket_directory};

/// Prefix of directories that are being removed. No profile name begins with a dot.
const LEAVING: &str = ".leaving-";

/// One named profile.
#[derive(Clone, Debug)]
pub struct NamedProfile {
    /// Its name.
    pub name: String,
    /// Its directory.
    pub path: PathBuf,
    /// Bytes in its files.
    pub bytes: u64,
    /// When one of its files was last written.
    pub last_use: Option<SystemTime>,
    /// The state of its lock.
    pub lock: LockState,
}

/// The result of removing a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The profile was removed.
    Gone,
    /// A browser uses it, or possibly uses it. Nothing was changed.
    InUse(LockState),
    /// It has a stale lock, and the caller did not request the removal of locked profiles. Nothing was changed.
    LockLeft,
    /// There is no profile of that name.
    Missing,
}

/// The directory of a profile, whether or not it exists.
///
/// # Errors
/// When the name is invalid.
pub fn path_of(data_dir: &Path, name: &str) -> Result<PathBuf, BrowserError> {
    if SessionName::new(name).is_err() {
        return Err(BrowserError::BadProfileName { name: name.chars().take(80).collect() });
    }
    Ok(data_dir.join("profiles").join(name))
}

/// Creates a profile. Returns whether it is new.
///
/// # Errors
/// When the name is invalid, or the directory cannot be created.
pub fn create(data_dir: &Path, name: &str) -> Result<bool, BrowserError> {
    let path = path_of(data_dir, name)?;
    let is_new = path.symlink_metadata().is_err();
    PrivateDir::create(data_dir)?.subdirectory("profiles")?.subdirectory(name)?;
    Ok(is_new)
}

/// Every profile, by name.
///
/// # Errors
/// When the directory of profiles cannot be read.
pub fn list(data_dir: &Path) -> Result<Vec<NamedProfile>, BrowserError> {
    let home = data_dir.join("profiles");
    let entries = match fs::read_dir(&home) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|error| BrowserError::system("read", &home, error))?,
    };
    let is_profile = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let named = entries.flatten().filter(is_profile).filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = named.filter(|name| SessionName::new(name).is_ok()).collect();
    names.sort();
    Ok(names.into_iter().map(|name| inspect(&home, name)).collect())
}

fn inspect(home: &Path, name: String) -> NamedProfile {
    let path = home.join(&name);
    let (bytes, last_use) = measure(&path);
    NamedProfile { lock: lock_state(&path), name, path, bytes, last_use }
}

/// The size of all files below a directory, and the latest modification time. Links are not followed.
fn measure(directory: &Path) -> (u64, Option<SystemTime>) {
    let (mut bytes, mut latest) = (0, None);
    let mut open = vec![directory.to_owned()];
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
            // A running browser removes files at any time.
            let Ok(data) = entry.path().symlink_metadata() else { continue };
            if data.is_dir() {
                open.push(entry.path());
            } else if data.is_file() {
                bytes += data.len();
                latest = latest.max(data.modified().ok());
            }
        }
    }
    (bytes, latest)
}

/// Removes a profile that no browser uses. `stale_lock_too` also removes a profile with a stale lock.
///
/// # Errors
/// When the name is invalid, or the directory cannot be removed.
pub fn remove(data_dir: &Path, name: &str, stale_lock_too: bool) -> Result<Removal, BrowserError> {
    let path = path_of(data_dir, name)?;
    if !path.symlink_metadata().is_ok_and(|data| data.is_dir()) {
        return Ok(Removal::Missing);
    }
    let home = PrivateDir::open(&data_dir.join("profiles"))?;
    match lock_state(&path) {
        LockState::Free => {}
        LockState::Stale { .. } if stale_lock_too => {}
        LockState::Stale { .. } => return Ok(Removal::LockLeft),
        state => return Ok(Removal::InUse(state)),
    }
    let leaving = home.path().join(format!("{LEAVING}{}", random_name()?));
    let moved = |from: &Path, to: &Path| {
        fs::rename(from, to).map_err(|error| BrowserError::system("remove", from, error))
    };
    moved(&path, &leaving)?;
    // A browser may have started on the profile since the first check.
    if let state @ (LockState::Live { .. } | LockState::Unknown { .. }) = lock_state(&leaving) {
        moved(&leaving, &path)?;
        return Ok(Removal::InUse(state));
    }
    remove_socket_directory(&leaving);
    finish_removals(home.path())?;
    Ok(Removal::Gone)
}

/// Deletes directories marked for removal, including those of interrupted removals.
fn finish_removals(home: &Path) -> Result<(), BrowserError> {
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(LEAVING) {
            fs::remove_dir_all(entry.path())
                .map_err(|error| BrowserError::system("remove", &entry.path(), error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn profiles_are_created_listed_and_removed() {
        let home = tempfile::tempdir().unwrap();
        assert!(list(home.path()).unwrap().is_empty());
        assert!(create(home.path(), "work").unwrap() && !create(home.path(), "work").unwrap());
        create(home.path(), "a").unwrap();
        fs::create_dir_all(home.path().join("profiles/work/Default")).unwrap();
        fs::write(home.path().join("profiles/work/Default/x"), "12345").unwrap();
        fs::create_dir(home.path().join("profiles/.leaving-x")).unwrap();
        let listed = list(home.path()).unwrap();
        let names_and_sizes: Vec<_> = listed.iter().map(|one| (one.name.as_str(), one.bytes)).collect();
        assert_eq!(names_and_sizes, [("a", 0), ("work", 5)]);
        assert!(listed[1].last_use.is_some() && listed[1].lock == LockState::Free);
        assert_eq!(remove(home.path(), "work", false).unwrap(), Removal::Gone);
        assert_eq!(remove(home.path(), "work", false).unwrap(), Removal::Missing);
        let left: Vec<_> = fs::read_dir(home.path().join("profiles")).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "the rest of an interrupted removal is gone too");
        for bad in ["", "..", "a/b", ".leaving-x", "-x"] {
            assert!(remove(home.path(), bad, true).is_err() && create(home.path(), bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn links_are_not_profiles_and_their_targets_stay() {
        let home = tempfile::tempdir().unwrap();
        create(home.path(), "work").unwrap();
        let precious = home.path().join("precious");
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join("letter"), "x").unwrap();
        symlink(&precious, home.path().join("profiles/link")).unwrap();
        symlink(&precious, home.path().join("profiles/work/link")).unwrap();
        assert_eq!(remove(home.path(), "link", true).unwrap(), Removal::Missing);
        assert_eq!(list(home.path()).unwrap().len(), 1);
        assert_eq!(remove(home.path(), "work", true).unwrap(), Removal::Gone);
        assert!(precious.join("letter").exists());
    }

    #[test]
    fn f36_profile_with_unknown_lock_is_not_removed() {
        let home = tempfile::tempdir().unwrap();
        create(home.path(), "work").unwrap();
        let lock = home.path().join("profiles/work/SingletonLock");
        symlink("elsewhere-77", &lock).unwrap();
        assert!(matches!(
            remove(home.path(), "work", true).unwrap(),
            Removal::InUse(LockState::Unknown { .. })
        ));
        fs::remove_file(&lock).unwrap();
        let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
        // Above the highest possible pid.
        symlink(format!("{host}-4194305"), &lock).unwrap();
        assert_eq!(remove(home.path(), "work", false).unwrap(), Removal::LockLeft);
        assert!(lock.symlink_metadata().is_ok());
        assert_eq!(remove(home.path(), "work", true).unwrap(), Removal::Gone);
    }
}
