//! Finds installed browsers on Linux and macOS, and the browser that a request names. The search path and the home
//! directory are parameters.

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::{BrowserError, LaunchFault};
use crate::launch::browser_kind::{BrowserKind, Channel};
use crate::launch::other_engine::OtherEngine;
use crate::launch::spec::BrowserEngine;
use crate::limits;

/// Most output of `--version` that is read.
const VERSION_BYTES: usize = 4096;

/// A browser on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundBrowser {
    /// Its family; `None` for an executable that the caller named.
    pub kind: Option<BrowserKind>,
    /// Its channel.
    pub channel: Channel,
    /// Its program.
    pub path: PathBuf,
}

impl FoundBrowser {
    /// How it is launched and driven. An unknown executable is a Firefox by its name only.
    #[must_use]
    pub fn engine(&self) -> BrowserEngine {
        let name =
            self.path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let is_firefox = match self.kind {
            Some(kind) => kind == BrowserKind::Firefox,
            None => name.starts_with("firefox"),
        };
        if is_firefox { BrowserEngine::Firefox } else { BrowserEngine::Chromium }
    }
}

/// The possible locations of one browser.
struct Install {
    kind: BrowserKind,
    channel: Channel,
    /// Paths below the root, in the order of the search.
    places: &'static [&'static str],
    /// Program names in the directories of the search path.
    names: &'static [&'static str],
}

macro_rules! application {
    ($name:literal) => {
        concat!("Applications/", $name, ".app/Contents/MacOS/", $name)
    };
}

/// In order of preference when the caller names no browser.
const INSTALLS: &[Install] = &[
    Install {
        kind: BrowserKind::Chrome,
        channel: Channel::Stable,
        places: &["opt/google/chrome/chrome", application!("Google Chrome")],
        names: &["google-chrome-stable", "google-chrome"],
    },
    Install {
        kind: BrowserKind::Chromium,
        channel: Channel::Stable,
        places: &[
            "usr/bin/chromium",
            "usr/bin/chromium-browser",
            "snap/bin/chromium",
            application!("Chromium"),
        ],
        names: &["chromium", "chromium-browser"],
    },
    Install {
        kind: BrowserKind::Edge,
        channel: Channel::Stable,
        places: &["opt/microsoft/msedge/msedge", application!("Microsoft Edge")],
        names: &["microsoft-edge-stable", "microsoft-edge"],
    },
    Install {
        kind: BrowserKind::Brave,
        channel: Channel::Stable,
        places: &["opt/brave.com/brave/brave", "snap/bin/brave", application!("Brave Browser")],
        names: &["brave-browser-stable", "brave-browser", "brave"],
    },
    Install {
        kind: BrowserKind::Firefox,
        channel: Channel::Stable,
        places: &[
            "usr/bin/firefox-esr",
            "usr/bin/firefox",
            "Applications/Firefox.app/Contents/MacOS/firefox",
        ],
        names: &["firefox-esr", "firefox"],
    },
    Install {
        kind: BrowserKind::Chrome,
        channel: Channel::Beta,
        places: &["opt/google/chrome-beta/chrome", application!("Google Chrome Beta")],
        names: &["google-chrome-beta"],
    },
    Install {
        kind: BrowserKind::Chrome,
        channel: Channel::Dev,
        places: &["opt/google/chrome-unstable/chrome", application!("Google Chrome Dev")],
        names: &["google-chrome-unstable"],
    },
    Install {
        kind: BrowserKind::Chrome,
        channel: Channel::Canary,
        places: &["opt/google/chrome-canary/chrome", application!("Google Chrome Canary")],
        names: &["google-chrome-canary"],
    },
    Install {
        kind: BrowserKind::Edge,
        channel: Channel::Beta,
        places: &["opt/microsoft/msedge-beta/msedge", application!("Microsoft Edge Beta")],
        names: &["microsoft-edge-beta"],
    },
    Install {
        kind: BrowserKind::Edge,
        channel: Channel::Dev,
        places: &["opt/microsoft/msedge-dev/msedge", application!("Microsoft Edge Dev")],
        names: &["microsoft-edge-dev"],
    },
    Install {
        kind: BrowserKind::Edge,
        channel: Channel::Canary,
        places: &["opt/microsoft/msedge-canary/msedge", application!("Microsoft Edge Canary")],
        names: &["microsoft-edge-canary"],
    },
    Install {
        kind: BrowserKind::Brave,
        channel: Channel::Beta,
        places: &["opt/brave.com/brave-beta/brave", application!("Brave Browser Beta")],
        names: &["brave-browser-beta"],
    },
    Install {
        kind: BrowserKind::Brave,
        channel: Channel::Dev,
        places: &["opt/brave.com/brave-dev/brave", application!("Brave Browser Dev")],
        names: &["brave-browser-dev"],
    },
    Install {
        kind: BrowserKind::Brave,
        channel: Channel::Canary,
        places: &["opt/brave.com/brave-nightly/brave", application!("Brave Browser Nightly")],
        names: &["brave-browser-nightly"],
    },
];

/// The directories to search.
#[derive(Clone, Copy, Debug)]
pub struct SearchPlaces<'a> {
    /// The root of the file system.
    pub root: &'a Path,
    /// The search path for programs (`PATH`).
    pub path_env: Option<&'a OsStr>,
    /// The user's home, which has `Applications` on macOS.
    pub home: Option<&'a Path>,
}

impl<'a> SearchPlaces<'a> {
    /// This machine, with the given search path.
    #[must_use]
    pub fn here(path_env: Option<&'a OsStr>) -> Self {
        Self { root: Path::new("/"), path_env, home: None }
    }

    fn find(&self, install: &Install) -> Option<PathBuf> {
        let roots = [Some(self.root), self.home].into_iter().flatten();
        let known = roots.flat_map(|root| install.places.iter().map(move |place| root.join(place)));
        // Relative entries of a search path depend on the current directory, so they are skipped.
        let directories: Vec<_> =
            self.path_env.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
        let on_path = directories
            .iter()
            .filter(|directory| directory.is_absolute())
            .flat_map(|directory| install.names.iter().map(move |name| directory.join(name)));
        known.chain(on_path).find(|path| is_executable(path))
    }

    /// Every browser that is installed, best first.
    #[must_use]
    pub fn find_all(&self) -> Vec<FoundBrowser> {
        let found = |install: &Install| {
            let path = self.find(install)?;
            Some(FoundBrowser { kind: Some(install.kind), channel: install.channel, path })
        };
        INSTALLS.iter().filter_map(found).collect()
    }

    /// The requested browser: a kind, a channel, or an executable's path.
    ///
    /// # Errors
    /// `NO_BACKEND` when it is not installed.
    pub fn find_requested(&self, request: Option<&str>) -> Result<FoundBrowser, BrowserError> {
        let missing = || BrowserError::NoBrowser {
            request: request.map(|request| request.chars().take(200).collect()),
        };
        let Some(request) = request else {
            return self.find_all().into_iter().next().ok_or_else(missing);
        };
        if let Some((kind, channel)) = BrowserKind::find(request) {
            let matches = |found: &FoundBrowser| found.kind == Some(kind) && found.channel == channel;
            return self.find_all().into_iter().find(matches).ok_or_else(missing);
        }
        if let Some(engine) = OtherEngine::find(request) {
            return Err(BrowserError::OtherEngine(engine));
        }
        let path = Path::new(request);
        if path.is_absolute() && is_executable(path) {
            let known = self.find_all().into_iter().find(|found| found.path == path);
            let by_path = FoundBrowser { kind: None, channel: Channel::Stable, path: path.to_owned() };
            return Ok(known.unwrap_or(by_path));
        }
        Err(missing())
    }
}

/// Every browser that is installed on this machine, best first.
#[must_use]
pub fn find_all(path_env: Option<&OsStr>) -> Vec<FoundBrowser> {
    SearchPlaces::here(path_env).find_all()
}

/// The requested browser: a kind, a channel, or an executable's absolute path.
///
/// # Errors
/// `NO_BACKEND` when it is not on this machine.
pub fn find(request: Option<&str>, path_env: Option<&OsStr>) -> Result<FoundBrowser, BrowserError> {
    SearchPlaces::here(path_env).find_requested(request)
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Runs a browser with `--version` and returns the line it prints.
///
/// # Errors
/// When it cannot be run, fails, or does not respond in time.
pub fn version(path: &Path, deadline: Instant) -> Result<String, BrowserError> {
    let failed = |why| BrowserError::LaunchFailed { executable: path.to_owned(), why, stderr: String::new() };
    let mut child = Command::new(path)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(LaunchFault::NotExecutable(error.to_string())))?;
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(limits::RECHECK),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                let after = deadline.saturating_duration_since(started);
                return Err(BrowserError::Timeout { what: "The browser's version", after });
            }
        }
    };
    let mut text = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        // A grandchild can hold the pipe open, so only available output is read.
        let _ = rustix::io::ioctl_fionbio(&stdout, true);
        let bound = u64::try_from(VERSION_BYTES).unwrap_or(u64::MAX);
        let _ = stdout.take(bound).read_to_end(&mut text);
    }
    let line = String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned();
    if status.success() && !line.is_empty() {
        Ok(line)
    } else {
        Err(failed(LaunchFault::Ended(status.to_string())))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use super::{INSTALLS, SearchPlaces, version};
    use crate::{BrowserError, BrowserKind, Channel};

    fn program(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn every_known_location_is_found_on_a_fake_root() {
        for install in INSTALLS {
            for place in install.places {
                let root = tempfile::tempdir().unwrap();
                program(&root.path().join(place), "");
                let places = SearchPlaces { root: root.path(), path_env: None, home: None };
                let found = places.find_all();
                assert_eq!(found.len(), 1, "{place}");
                assert_eq!((found[0].kind, found[0].channel), (Some(install.kind), install.channel));
                assert_eq!(found[0].path, root.path().join(place));
            }
        }
    }

    #[test]
    fn requests_are_kinds_channels_or_paths() {
        let root = tempfile::tempdir().unwrap();
        let bin = root.path().join("elsewhere");
        program(&bin.join("google-chrome-beta"), "");
        program(&root.path().join("usr/bin/chromium"), "");
        fs::write(bin.join("brave"), "not executable").unwrap();
        let path_env = bin.as_os_str().to_owned();
        let places = SearchPlaces { root: root.path(), path_env: Some(&path_env), home: None };
        let find = |request: Option<&str>| places.find_requested(request);
        assert_eq!(find(None).unwrap().kind, Some(BrowserKind::Chromium));
        assert_eq!(find(Some("chromium")).unwrap().path, root.path().join("usr/bin/chromium"));
        assert_eq!(find(Some("Chrome-Beta")).unwrap().channel, Channel::Beta);
        let own = root.path().join("my-browser");
        program(&own, "");
        assert_eq!(find(own.to_str()).unwrap().path, own);
        for missing in ["brave", "chrome", "relative/path", "/nonexistent", "netscape"] {
            let error = find(Some(missing)).unwrap_err();
            assert!(matches!(error, BrowserError::NoBrowser { .. }), "{missing}");
            assert!(tabwire_api::Failure::from(error).hint().contains("Install"));
        }
        let relative = SearchPlaces { path_env: Some(OsStr::new("elsewhere:.")), ..places };
        assert_eq!(relative.find_all().len(), 1, "relative entries of the search path do not count");
    }

    #[test]
    fn version_query_has_a_deadline() {
        let root = tempfile::tempdir().unwrap();
        let quick = root.path().join("quick");
        program(&quick, "#!/bin/sh\necho ' Fake 1.2.3 '\n");
        let soon = || Instant::now() + Duration::from_secs(5);
        assert_eq!(version(&quick, soon()).unwrap(), "Fake 1.2.3");
        let slow = root.path().join("slow");
        program(&slow, "#!/bin/sh\nexec sleep 60\n");
        let now = Instant::now() + Duration::from_millis(50);
        assert!(matches!(version(&slow, now), Err(BrowserError::Timeout { .. })));
        let failing = root.path().join("failing");
        program(&failing, "#!/bin/sh\necho no\nexit 3\n");
        assert!(matches!(version(&failing, soon()), Err(BrowserError::LaunchFailed { .. })));
        assert!(version(&root.path().join("none"), soon()).is_err());
    }
}
