//! Decides which directories of the caller's choice may become a profile: new and empty directories and Chromium
//! profiles, except directories of the system. Only reads.

use std::fs;
use std::path::{Component, Path};

use crate::error::BrowserError;

/// Why a directory may not become a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileFault {
    /// It is a system directory or a home directory.
    #[error("it is a directory of the system, or a user's home directory")]
    System,
    /// The path is not a directory.
    #[error("it is not a directory")]
    NotDirectory,
    /// It contains files that do not belong to a profile.
    #[error("it contains `{0}` and is not a Chromium profile")]
    OtherContent(String),
}

/// System directories, with everything below them.
const SYSTEM_TREES: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/efi",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/lost+found",
    "/nix",
    "/proc",
    "/run",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
    "/var/cache",
    "/var/lib/dpkg",
    "/var/lib/systemd",
    "/var/lock",
    "/var/log",
    "/var/mail",
    "/var/run",
    "/var/spool",
    "/Applications",
    "/Library",
    "/System",
    "/private/etc",
    "/private/var/db",
    "/private/var/log",
    "/mnt/c/Windows",
    "/mnt/c/Program Files",
    "/mnt/c/Program Files (x86)",
];

/// Exceptions in those trees, whose contents belong to users.
const USER_TREES: &[&str] = &["/dev/shm", "/run/user", "/usr/home"];

/// System directories whose contents do not belong to the system.
const SYSTEM_ROOTS: &[&str] = &[
    "/",
    "/dev/shm",
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/private",
    "/private/tmp",
    "/private/var",
    "/private/var/tmp",
    "/root",
    "/run/user",
    "/srv",
    "/tmp",
    "/usr/home",
    "/var",
    "/var/home",
    "/var/lib",
    "/var/root",
    "/var/tmp",
    "/Users",
    "/Volumes",
];

/// Directories whose direct entries are home directories, or hold all data of a user.
const HOMES: &[&str] = &["/home", "/Users", "/usr/home", "/var/home", "/run/user", "/mnt", "/mnt/c/Users"];

/// Files that show that a directory is a profile of a browser.
const MARKS: &[&str] = &["Local State", "Default/Preferences", "firefox/user.js"];

/// Files that a browser that ended early, or a tool that keeps empty directories, leaves in a directory.
const LEFTOVERS: &[&str] = &[
    ".DS_Store",
    ".gitignore",
    ".gitkeep",
    ".keep",
    "BrowserMetrics",
    "BrowserMetrics-spare.pma",
    "Crash Reports",
    "Crashpad",
    "Default",
    "DevToolsActivePort",
    "First Run",
    "GrShaderCache",
    "GraphiteDawnCache",
    "Last Browser",
    "Last Version",
    "ShaderCache",
    "SingletonCookie",
    "SingletonLock",
    "SingletonSocket",
    "Variations",
    "chrome_debug.log",
    "lost+found",
];

/// Refuses a directory that belongs to the system. The path has no links.
///
/// # Errors
/// When the directory belongs to the system.
pub(crate) fn refuse_system(directory: &Path, home: Option<&Path>) -> Result<(), BrowserError> {
    if is_system(directory, home) { Err(unfit(directory, ProfileFault::System)) } else { Ok(()) }
}

/// Refuses a directory that contains other files than a profile. The path has no links.
///
/// # Errors
/// When the path is neither an empty directory nor a Chromium profile.
pub(crate) fn refuse_other_content(directory: &Path) -> Result<(), BrowserError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(unfit(directory, ProfileFault::NotDirectory));
        }
        Err(error) => return Err(BrowserError::system("read", directory, error)),
    };
    if is_chromium(directory) {
        return Ok(());
    }
    for entry in entries {
        let entry = entry.map_err(|error| BrowserError::system("read", directory, error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !LEFTOVERS.contains(&name.as_str()) {
            return Err(unfit(directory, ProfileFault::OtherContent(name.chars().take(80).collect())));
        }
    }
    Ok(())
}

/// Whether a directory looks like a Chromium profile. The lock of a running browser is a dangling link.
fn is_chromium(directory: &Path) -> bool {
    let is_file = |mark: &&str| directory.join(mark).symlink_metadata().is_ok_and(|found| found.is_file());
    MARKS.iter().any(is_file) || directory.join("SingletonLock").is_symlink()
}

/// Whether a directory belongs to the system, or is or contains a home directory.
fn is_system(directory: &Path, home: Option<&Path>) -> bool {
    if !directory.is_absolute() || directory.components().any(|part| part == Component::ParentDir) {
        return true;
    }
    // macOS file systems ignore case.
    let small = |path: &Path| path.to_string_lossy().to_lowercase();
    let place = small(directory);
    let place = Path::new(&place);
    let is = |other: &&str| place == Path::new(&other.to_lowercase());
    let is_below = |other: &&str| place.starts_with(other.to_lowercase());
    let is_home_of = |other: &&str| place.parent() == Some(Path::new(&other.to_lowercase()));
    // A parent of the home directory contains more than a profile, too.
    let holds_home = home.is_some_and(|home| Path::new(&small(home)).starts_with(place));
    let in_tree = SYSTEM_TREES.iter().any(is_below) && !USER_TREES.iter().any(is_below);
    in_tree || holds_home || SYSTEM_ROOTS.iter().any(is) || HOMES.iter().any(is_home_of)
}

fn unfit(directory: &Path, fault: ProfileFault) -> BrowserError {
    BrowserError::UnfitProfile { directory: directory.to_owned(), fault }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn m3_system_directories_are_refused_as_profiles() {
        let home = Some(Path::new("/data/users/me"));
        for system in [
            "/",
            "/etc",
            "/etc/new",
            "/usr",
            "/usr/share/x",
            "/bin",
            "/home",
            "/home/me",
            "/root",
            "/tmp",
            "/var",
            "/var/tmp",
            "/var/log/x",
            "/run",
            "/run/user",
            "/run/user/1000",
            "/proc/1",
            "/dev",
            "/dev/shm",
            "/opt",
            "/Users/me",
            "/Library/x",
            "/System",
            "/ETC",
            "/data/users/me",
            "/data/users",
            "/data",
            "/mnt/c",
            "/mnt/c/Windows/x",
            "relative",
            "/tmp/../etc",
        ] {
            assert!(is_system(Path::new(system), home), "{system}");
            assert!(refuse_system(Path::new(system), home).is_err(), "{system}");
        }
        for fine in [
            "/data/users/me/profile",
            "/home/me/profile",
            "/tmp/x",
            "/var/tmp/x",
            "/run/user/1000/x",
            "/dev/shm/x",
            "/opt/x",
            "/srv/x",
            "/etcetera",
            "/var/lib/agent/profile",
            "/mnt/data/x",
            "/Users/me/x",
        ] {
            assert!(!is_system(Path::new(fine), home), "{fine}");
        }
        assert!(!is_system(&Path::new("/root").join("profile"), home));
    }

    #[test]
    fn m3_only_empty_directories_and_chromium_profiles_are_accepted() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        for name in ["empty", "kept", "real", "old", "running", "mine", "other/Default"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        fs::write(path("kept/.gitignore"), "*").unwrap();
        fs::write(path("real/Local State"), "{}").unwrap();
        fs::write(path("real/whatever"), "").unwrap();
        fs::create_dir(path("old/Default")).unwrap();
        fs::write(path("old/Default/Preferences"), "{}").unwrap();
        symlink("host-1", path("running/SingletonLock")).unwrap();
        fs::write(path("mine/letter.txt"), "").unwrap();
        fs::write(path("other/notes.txt"), "").unwrap();
        fs::write(path("file"), "").unwrap();
        for fine in ["new", "empty", "kept", "real", "old", "running"] {
            refuse_other_content(&path(fine)).unwrap();
        }
        for (bad, word) in [("mine", "letter.txt"), ("other", "notes.txt"), ("file", "not a directory")] {
            let refused = refuse_other_content(&path(bad)).unwrap_err();
            assert!(refused.to_string().contains(word), "{refused}");
        }
    }
}
