//! A stand-in for a Chrome of Windows, from within WSL: what is asked of Windows, decided from the launcher's line.
//!
//! The Windows side is the script `host.ps1`. Knows nothing of how it is spoken to: that is the daemon's.

mod version;
mod windows_path;
mod wsl;

use std::path::{Path, PathBuf};

use tabwire_browser::{PrivateDir, atomic_file};
use tabwire_wire::api::{WindowsPort, WindowsWish};
use tabwire_wire::{ErrorCode, Failure};

pub(super) use self::version::find_version;
use self::windows_path::{find_windows, is_everyday, is_windows, of_mount};
pub(super) use self::wsl::Wsl;
use super::launcher_line::LauncherLine;
use super::settings::{ChromeSettings, HostChoice};
use crate::environment::Environment;

/// The Windows side.
const SCRIPT: &str = include_str!("host.ps1");

/// What the script is called among our files.
const SCRIPT_NAME: &str = "windows-host.ps1";

/// The profile of launchers that make one of their own and remove it, which they cannot do on Windows.
const DEFAULT_PROFILE: &str = r"%TEMP%\tabwire-chrome\profile-default";

/// Flags whose value is a path that the browser writes to.
const PATH_FLAGS: &[&str] = &["crash-dumps-dir", "disk-cache-dir"];

/// What is asked of Windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WindowsPlan {
    pub(super) wish: WindowsWish,
    /// The flags that are passed on, with paths as Windows names them.
    pub(super) arguments: Vec<String>,
    /// A directory that the launcher made here from the name of one of Windows; of no use to anybody.
    pub(super) mistaken: Option<PathBuf>,
}

/// Whether a browser of Windows is meant: when the user says so, or names its profile or program, within WSL.
///
/// # Errors
/// When it is meant and there is no Windows.
pub(super) fn is_meant(line: &LauncherLine, settings: &ChromeSettings) -> Result<bool, Failure> {
    let is_wsl = settings.wsl.distribution.is_some() || settings.powershell.is_some();
    let profile = settings.profile.as_ref().or(line.profile.as_ref());
    let names_profile = profile.is_some_and(|profile| find_windows(&profile.to_string_lossy()).is_some());
    let names_program =
        settings.browser.as_deref().is_some_and(|program| program.to_lowercase().ends_with(".exe"));
    match settings.host {
        HostChoice::Local => Ok(false),
        HostChoice::Windows if !is_wsl => Err(no_windows()),
        HostChoice::Windows => Ok(true),
        HostChoice::Unsaid => Ok(is_wsl && (names_profile || names_program)),
    }
}

impl WindowsPlan {
    /// Decides what is asked of Windows. The script's name is filled in when it is written.
    ///
    /// # Errors
    /// When a path is meant that no browser of Windows can use.
    pub(super) fn make(line: &LauncherLine, settings: &ChromeSettings) -> Result<Self, Failure> {
        let given = settings.profile.as_ref().or(line.profile.as_ref());
        let profile = profile_of(given.map(PathBuf::as_path))?;
        let mistaken = line
            .profile
            .clone()
            .filter(|given| given.is_absolute() && find_windows(&given.to_string_lossy()).is_some());
        let listened = line.port.map(|port| settings.port.unwrap_or(port)).filter(|port| *port != 0);
        let shares_loopback = settings.wsl.shares_loopback();
        let port = match line.own_port.or(settings.windows_port) {
            Some(port) => WindowsPort::Fixed(port),
            // With one loopback that port is our own.
            None if shares_loopback => WindowsPort::Any,
            None => listened.map_or(WindowsPort::Any, WindowsPort::Wished),
        };
        let interop = settings.interop.clone().map(|socket| ("WSL_INTEROP".to_owned(), socket));
        let wish = WindowsWish {
            powershell: settings.powershell.clone().unwrap_or_else(|| settings.wsl.powershell()),
            script: String::new(),
            profile,
            executable: program_of(settings)?,
            port,
            shares_loopback,
            environment: interop.into_iter().collect(),
        };
        let arguments = line.passed.iter().map(|flag| convert_flag(flag, &settings.wsl)).collect();
        Ok(Self { wish, arguments, mistaken })
    }

    /// Writes the script to where PowerShell can read it, and clears away what the launcher made by mistake.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn prepare(&mut self, environment: &Environment, wsl: &Wsl) -> Result<(), Failure> {
        let directory = PrivateDir::create(&environment.paths.runtime)?;
        let path = directory.path().join(SCRIPT_NAME);
        let is_current = std::fs::read(&path).is_ok_and(|content| content == SCRIPT.as_bytes());
        if !is_current {
            atomic_file::write(&path, SCRIPT.as_bytes())?;
        }
        self.wish.script = wsl.convert(&path);
        if let Some(mistaken) = &self.mistaken {
            remove_if_empty(mistaken);
        }
        Ok(())
    }
}

/// Removes a directory, unless it is a link or has something in it.
fn remove_if_empty(directory: &Path) {
    let is_directory = std::fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir());
    if is_directory {
        // Refused by the system when it is not empty, which is what is wanted.
        let _ = std::fs::remove_dir(directory);
    }
}

/// The profile directory as Windows names it. Browsers of Windows do not work on directories of this system: those of
/// launchers that make their own share one, every other has one of its own.
fn profile_of(given: Option<&Path>) -> Result<String, Failure> {
    let Some(given) = given else { return Ok(DEFAULT_PROFILE.to_owned()) };
    let text = given.to_string_lossy();
    let profile = find_windows(&text).or_else(|| of_mount(&text));
    let profile = profile.unwrap_or_else(|| match given.starts_with(std::env::temp_dir()) {
        true => DEFAULT_PROFILE.to_owned(),
        false => {
            let digest = sha1_smol::Sha1::from(text.as_bytes()).digest().to_string();
            format!(r"%TEMP%\tabwire-chrome\profile-{}", digest.get(..12).unwrap_or_default())
        }
    });
    if is_everyday(&profile) {
        let message = format!("{profile} is where somebody's everyday profile is, which is not automated.");
        return Err(Failure::new(ErrorCode::BadArgs, message)
            .with_hint(r"Give the launcher a directory of its own, such as %LOCALAPPDATA%\my-agent."));
    }
    Ok(profile)
}

/// The browser's program as Windows names it; none where Windows is to look for Chrome.
fn program_of(settings: &ChromeSettings) -> Result<Option<String>, Failure> {
    let Some(named) = settings.browser.as_deref() else { return Ok(None) };
    if is_windows(named) {
        return Ok(Some(named.to_owned()));
    }
    match named {
        "chrome" => Ok(None),
        "edge" => Ok(Some(r"%ProgramFiles(x86)%\Microsoft\Edge\Application\msedge.exe".to_owned())),
        other => of_mount(other).map(Some).ok_or_else(|| {
            let message = format!("`{other}` is no browser of Windows.");
            Failure::new(ErrorCode::BadArgs, message).with_hint(
                r"Set TABWIRE_CHROME_EXECUTABLE to `chrome`, `edge`, or a path such as C:\x\chrome.exe.",
            )
        }),
    }
}

/// A flag with its path as Windows names it; any other flag as it is.
fn convert_flag(flag: &str, wsl: &Wsl) -> String {
    let named = flag.strip_prefix("--").and_then(|bare| bare.split_once('='));
    match named {
        Some((name, path)) if PATH_FLAGS.contains(&name) && path.starts_with('/') => {
            let path = find_windows(path).unwrap_or_else(|| wsl.convert(Path::new(path)));
            format!("--{name}={path}")
        }
        _ => flag.to_owned(),
    }
}

fn no_windows() -> Failure {
    let message = "TABWIRE_CHROME_HOST is `windows`, and this is no WSL: WSL_DISTRO_NAME is not set.";
    Failure::new(ErrorCode::BadArgs, message).with_hint("Set it to `local`, or not at all.")
}

#[cfg(test)]
mod tests;
