//! Chooses, creates and removes the profile directory of a browser; refuses default profiles.

pub(crate) mod directory;
pub(crate) mod lock;
pub mod named;
pub(crate) mod preferences;

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tabwire_api::BrowserId;

use crate::error::BrowserError;
use crate::files::atomic_file;
use crate::files::private_dir::{DirectoryFault, PrivateDir};
use crate::limits;
use crate::process::identity::ProcessIdentity;
use crate::profile::directory::{refuse_other_content, refuse_system};
use crate::profile::lock::remove_socket_directory;

/// How long removing a temporary profile is retried.
///
/// The children of a killed browser can still write while the directory is emptied.
const PROFILE_REMOVAL: std::time::Duration = std::time::Duration::from_secs(3);

/// The file that marks a directory as Tabwire's to delete.
const MARK: &str = ".tabwire-throw-away";

/// Longest mark file that is read.
const MARK_BYTES: usize = 4096;

/// Which profile a browser uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileChoice {
    /// A new profile, removed with the browser.
    Temporary,
    /// A profile that Tabwire keeps under this name.
    Named(String),
    /// A directory of the caller's choice.
    Directory(PathBuf),
    /// A directory that a launcher names with `--user-data-dir` and may have filled before.
    OfLauncher(PathBuf),
}

/// The directories in which profiles are created and looked up.
#[derive(Clone, Debug)]
pub struct ProfileHomes {
    /// For temporary profiles.
    pub runtime_dir: PathBuf,
    /// For named profiles.
    pub data_dir: PathBuf,
    /// The user's configuration directory when it is not `~/.config`.
    pub config_home: Option<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
}

impl ProfileHomes {
    /// Whether Tabwire created a profile. Only profiles directly in Tabwire's own directories count, because a
    /// checked-out repository cannot place files there.
    #[must_use]
    pub fn has_made(&self, profile: &Path) -> bool {
        let own = [self.data_dir.join("profiles"), temporary_home(&self.runtime_dir)];
        let is_in = |home: &PathBuf| {
            resolved(profile).is_ok_and(|profile| profile.parent() == resolved(home).ok().as_deref())
        };
        own.iter().any(is_in)
    }
}

impl ProfileChoice {
    /// The directory of this choice. Refuses default profiles.
    ///
    /// Creates only named profiles. The keeper creates temporary ones when it starts the browser.
    ///
    /// # Errors
    /// When the name or directory is not acceptable.
    pub fn resolve(&self, id: &BrowserId, homes: &ProfileHomes) -> Result<PathBuf, BrowserError> {
        let directory = match self {
            Self::Temporary => return Ok(temporary_home(&homes.runtime_dir).join(id.as_str())),
            Self::Named(name) => {
                if tabwire_api::SessionName::new(name).is_err() {
                    return Err(BrowserError::BadProfileName { name: name.chars().take(80).collect() });
                }
                let profiles = PrivateDir::create(&homes.data_dir)?.subdirectory("profiles")?;
                profiles.subdirectory(name)?.path().to_owned()
            }
            Self::Directory(directory) | Self::OfLauncher(directory) => directory.clone(),
        };
        let real = refuse_default_profile(&directory, homes.config_home.as_deref())?;
        if !matches!(self, Self::Named(_)) {
            let home = homes.home.as_deref().and_then(|home| resolved(home).ok());
            refuse_system(&real, home.as_deref())?;
        }
        if matches!(self, Self::Directory(_)) {
            refuse_other_content(&real)?;
        }
        Ok(real)
    }

    /// Whether the profile is removed with the browser.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::Temporary)
    }
}

/// Where temporary profiles are kept.
pub(crate) fn temporary_home(runtime_dir: &Path) -> PathBuf {
    runtime_dir.join("profiles")
}

/// Default profile directories below a user's home (T38).
const DEFAULT_BELOW_HOME: &[&str] = &[
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/google-chrome-unstable",
    ".config/google-chrome-canary",
    ".config/google-chrome-for-testing",
    ".config/chromium",
    ".config/microsoft-edge",
    ".config/microsoft-edge-beta",
    ".config/microsoft-edge-dev",
    ".config/BraveSoftware",
    ".config/vivaldi",
    ".config/opera",
    ".var/app/com.google.Chrome",
    ".var/app/org.chromium.Chromium",
    ".var/app/com.brave.Browser",
    ".var/app/com.microsoft.Edge",
    "snap/chromium",
    "snap/brave",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Google/Chrome Beta",
    "Library/Application Support/Google/Chrome Dev",
    "Library/Application Support/Google/Chrome Canary",
    "Library/Application Support/Google/Chrome for Testing",
    "Library/Application Support/Chromium",
    "Library/Application Support/Microsoft Edge",
    "Library/Application Support/Microsoft Edge Beta",
    "Library/Application Support/Microsoft Edge Dev",
    "Library/Application Support/Microsoft Edge Canary",
    "Library/Application Support/BraveSoftware",
    "AppData/Local/Google/Chrome",
    "AppData/Local/Microsoft/Edge",
    "AppData/Local/Chromium",
    "AppData/Local/BraveSoftware",
];

/// Resolves a profile directory and refuses any user's default profile (T38).
///
/// Links and `..` are resolved first; a part that does not exist yet is taken
/// as written. Directories inside a default profile are refused as well.
///
/// # Errors
/// When the directory is a default profile or cannot be resolved.
pub fn refuse_default_profile(directory: &Path, config_home: Option<&Path>) -> Result<PathBuf, BrowserError> {
    let real = resolved(directory)?;
    let in_moved_config = config_home.and_then(|home| resolved(home).ok()).is_some_and(|home| {
        let below_config = DEFAULT_BELOW_HOME.iter().filter_map(|default| default.strip_prefix(".config/"));
        below_config.into_iter().any(|default| starts_with_ignoring_case(&real, &home.join(default)))
    });
    let is_default = real
        .ancestors()
        .any(|above| DEFAULT_BELOW_HOME.iter().any(|default| ends_with_ignoring_case(above, default)));
    if in_moved_config || is_default {
        Err(BrowserError::DefaultProfile { directory: real })
    } else {
        Ok(real)
    }
}

/// macOS file systems ignore case, so the comparison does too.
fn lowercase(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_lowercase())
}

fn ends_with_ignoring_case(path: &Path, end: &str) -> bool {
    lowercase(path).ends_with(end.to_lowercase())
}

fn starts_with_ignoring_case(path: &Path, start: &Path) -> bool {
    lowercase(path).starts_with(lowercase(start))
}

/// The resolved path of the existing part, followed by the rest as written.
fn resolved(path: &Path) -> Result<PathBuf, BrowserError> {
    let absolute = std::path::absolute(path).map_err(|error| BrowserError::system("resolve", path, error))?;
    let mut rest = Vec::new();
    let mut existing = absolute.as_path();
    let mut real = loop {
        // `symlink_metadata` so that a dangling link counts as existing and fails below.
        if existing.symlink_metadata().is_ok() {
            break existing.canonicalize().map_err(|error| BrowserError::system("resolve", path, error))?;
        }
        let (Some(parent), Some(last)) = (existing.parent(), existing.components().next_back()) else {
            break PathBuf::from("/");
        };
        rest.push(last.as_os_str().to_owned());
        existing = parent;
    };
    for part in rest.iter().rev() {
        match Path::new(part).components().next() {
            Some(Component::ParentDir) => drop(real.pop()),
            Some(Component::Normal(name)) => real.push(name),
            _ => {}
        }
    }
    Ok(real)
}

/// The content of the mark of a temporary profile.
#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    owner: ProcessIdentity,
}

/// Creates a temporary profile and marks it with its keeper.
///
/// Uses an existing directory only if it is empty or already marked.
pub(crate) fn make_temporary(directory: &Path, owner: ProcessIdentity) -> Result<(), BrowserError> {
    if let Some(parent) = directory.parent() {
        PrivateDir::create(parent)?;
    }
    let place = PrivateDir::create(directory)?;
    let is_empty = fs::read_dir(place.path())
        .map_err(|error| BrowserError::system("read", directory, error))?
        .next()
        .is_none();
    if !is_empty && find_owner(directory).is_none() {
        return Err(BrowserError::UntrustedDirectory {
            path: directory.to_owned(),
            fault: DirectoryFault::OtherOwner,
        });
    }
    let mark = serde_json::to_vec(&Mark { owner })
        .map_err(|error| BrowserError::system("mark", directory, error))?;
    // No sweep removes a directory without a mark, so it is removed here. `remove_dir` refuses a directory with files.
    atomic_file::write(&directory.join(MARK), &mark).inspect_err(|_| drop(fs::remove_dir(directory)))
}

/// The keeper in the directory's mark; `None` if Tabwire may not delete the directory.
pub(crate) fn find_owner(directory: &Path) -> Option<ProcessIdentity> {
    if !directory.symlink_metadata().ok()?.is_dir() {
        return None;
    }
    let mark = atomic_file::read(&directory.join(MARK), MARK_BYTES).ok()?;
    serde_json::from_slice::<Mark>(&mark).ok().map(|mark| mark.owner)
}

/// Removes a marked directory, and retries while a process still writes into it.
///
/// Returns whether it is gone. Never changes a directory without a mark.
pub(crate) fn remove_temporary(directory: &Path) -> bool {
    if directory.symlink_metadata().is_err() {
        return true;
    }
    if find_owner(directory).is_none() {
        return false;
    }
    remove_socket_directory(directory);
    let deadline = Instant::now() + PROFILE_REMOVAL;
    loop {
        if empty_but_mark(directory) && fs::remove_dir_all(directory).is_ok() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(limits::RECHECK);
    }
}

/// Removes everything except the mark, so that a sweep can finish an interrupted removal.
fn empty_but_mark(directory: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.flatten().filter(|entry| entry.file_name() != MARK).fold(true, |empty, entry| {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let removed =
            if is_directory { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
        empty && removed.is_ok()
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use tabwire_api::BrowserId;

    use super::{
        DEFAULT_BELOW_HOME, ProfileChoice, ProfileHomes, find_owner, make_temporary, refuse_default_profile,
        remove_temporary,
    };
    use crate::{BrowserError, ProcessIdentity};

    #[test]
    fn t38_default_profiles_are_refused_by_path() {
        let home = tempfile::tempdir().unwrap();
        for default in DEFAULT_BELOW_HOME {
            for path in [home.path().join(default), home.path().join(default).join("Default")] {
                let refused = refuse_default_profile(&path, None);
                assert!(matches!(refused, Err(BrowserError::DefaultProfile { .. })), "{}", path.display());
            }
        }
        for fine in ["profile", ".config", ".config/google-chrome-mine", "chromium", "Library"] {
            assert!(refuse_default_profile(&home.path().join(fine), None).is_ok(), "{fine}");
        }
    }

    #[test]
    fn t38_default_profiles_are_refused_through_links_dots_and_config_home() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".config/chromium")).unwrap();
        fs::create_dir_all(home.path().join("work")).unwrap();
        symlink(home.path().join(".config/chromium"), home.path().join("innocent")).unwrap();
        symlink(home.path().join(".config"), home.path().join("settings")).unwrap();
        for path in [
            "innocent",
            "innocent/Default",
            "settings/chromium",
            "settings/google-chrome",
            "work/../.config/chromium",
            "none/../.config/chromium",
            ".config/./chromium/",
            ".CONFIG/Chromium",
        ] {
            assert!(refuse_default_profile(&home.path().join(path), None).is_err(), "{path}");
        }
        let moved = home.path().join("moved");
        assert!(refuse_default_profile(&moved.join("google-chrome"), None).is_ok());
        assert!(refuse_default_profile(&moved.join("google-chrome"), Some(&moved)).is_err());
        assert!(refuse_default_profile(&moved.join("mine"), Some(&moved)).is_ok());
    }

    #[test]
    fn only_marked_directories_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let owner = ProcessIdentity::current().unwrap();
        let profile = home.path().join("profiles/b1");
        make_temporary(&profile, owner).unwrap();
        assert_eq!(fs::metadata(&profile).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(find_owner(&profile), Some(owner));
        fs::create_dir_all(profile.join("Default/Cache")).unwrap();
        fs::write(profile.join("Default/Cache/x"), "x").unwrap();
        let precious = home.path().join("precious");
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join("letter"), "x").unwrap();
        symlink(&precious, profile.join("link")).unwrap();
        assert!(remove_temporary(&profile));
        assert!(!profile.exists() && precious.join("letter").exists());

        assert!(!remove_temporary(&precious));
        assert!(precious.join("letter").exists());
        assert!(make_temporary(&precious, owner).is_err(), "a directory with files in it is refused");
        let link = home.path().join("profiles/link");
        make_temporary(&profile, owner).unwrap();
        symlink(&profile, &link).unwrap();
        assert!(!remove_temporary(&link), "a link is not followed");
    }

    #[test]
    fn choices_become_directories() {
        let home = tempfile::tempdir().unwrap();
        let homes = ProfileHomes {
            runtime_dir: home.path().join("run"),
            data_dir: home.path().join("data"),
            config_home: None,
            home: Some(home.path().join("user")),
        };
        let id = BrowserId::new("b1");
        let resolve = |choice: ProfileChoice| choice.resolve(&id, &homes);
        assert_eq!(resolve(ProfileChoice::Temporary).unwrap(), home.path().join("run/profiles/b1"));
        assert_eq!(
            resolve(ProfileChoice::Named("work".into())).unwrap(),
            home.path().join("data/profiles/work")
        );
        for bad in ["", "..", "a/b", ".hidden"] {
            assert!(matches!(
                resolve(ProfileChoice::Named(bad.into())),
                Err(BrowserError::BadProfileName { .. })
            ));
        }
        assert!(resolve(ProfileChoice::Directory(home.path().join(".config/chromium"))).is_err());
        fs::create_dir_all(home.path().join("user/full")).unwrap();
        fs::write(home.path().join("user/full/letter"), "x").unwrap();
        symlink(home.path().join("user"), home.path().join("innocent")).unwrap();
        for unfit in ["user", "innocent", "user/full"] {
            let refused = resolve(ProfileChoice::Directory(home.path().join(unfit)));
            assert!(matches!(refused, Err(BrowserError::UnfitProfile { .. })), "{unfit}: {refused:?}");
        }
        assert!(resolve(ProfileChoice::OfLauncher(home.path().join("user"))).is_err());
        assert!(resolve(ProfileChoice::OfLauncher(home.path().join("user/full"))).is_ok());
        let made = |path: &str| homes.has_made(&home.path().join(path));
        assert!(made("data/profiles/work") && made("run/profiles/b1"));
        symlink(home.path().join("user/full"), home.path().join("data/profiles/link")).unwrap();
        assert!(!made("user/full") && !made("data/profiles/link") && !made("data/profiles/work/../../x"));
    }
}
