//! Chrome on Windows from within WSL: decides from the launcher's arguments what to request of the Windows side.
//!
//! The Windows side is the script `host.ps1`, which the daemon runs in PowerShell.

mod version;
mod windows_path;
mod wsl;

use std::path::{Path, PathBuf};

use tabwire_api::api::{WindowsBrowserRequest, WindowsPort};
use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::{PrivateDir, atomic_file};

pub(super) use self::version::find_version;
use self::windows_path::{extract_windows_path, from_mount, is_default_profile, is_windows_path};
pub(super) use self::wsl::Wsl;
use super::launcher_args::LauncherArgs;
use super::settings::{ChromeSettings, HostChoice};
use crate::ShimEnvironment;

const SCRIPT: &str = include_str!("host.ps1");

/// The script's file name in the runtime directory.
const SCRIPT_NAME: &str = "windows-host.ps1";

/// The profile for launchers that use a temporary one: they could not remove it on Windows.
const DEFAULT_PROFILE: &str = r"%TEMP%\tabwire-chrome\profile-default";

/// Flags whose value is a path that the browser writes to.
const PATH_FLAGS: &[&str] = &["crash-dumps-dir", "disk-cache-dir"];

/// The request to the Windows side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WindowsPlan {
    pub(super) request: WindowsBrowserRequest,
    /// The forwarded flags, with Windows paths.
    pub(super) arguments: Vec<String>,
    /// A local directory that the launcher created because it took a Windows path for a relative one.
    pub(super) stray_directory: Option<PathBuf>,
}

/// Whether the browser runs on Windows: by setting, or because the profile or program has a Windows path within WSL.
///
/// # Errors
/// When it is required by setting and this is not WSL.
pub(super) fn is_requested(args: &LauncherArgs, settings: &ChromeSettings) -> Result<bool, Failure> {
    let is_wsl = settings.wsl.distribution.is_some() || settings.powershell.is_some();
    let profile = settings.profile.as_ref().or(args.profile.as_ref());
    let has_windows_profile =
        profile.is_some_and(|profile| extract_windows_path(&profile.to_string_lossy()).is_some());
    let has_windows_program =
        settings.browser.as_deref().is_some_and(|program| program.to_lowercase().ends_with(".exe"));
    match settings.host {
        HostChoice::Local => Ok(false),
        HostChoice::Windows if !is_wsl => Err(no_windows()),
        HostChoice::Windows => Ok(true),
        HostChoice::Auto => Ok(is_wsl && (has_windows_profile || has_windows_program)),
    }
}

impl WindowsPlan {
    /// [`WindowsPlan::prepare`] fills in the script's path.
    ///
    /// # Errors
    /// When a path cannot be used on Windows.
    pub(super) fn make(args: &LauncherArgs, settings: &ChromeSettings) -> Result<Self, Failure> {
        let given = settings.profile.as_ref().or(args.profile.as_ref());
        let profile = profile_of(given.map(PathBuf::as_path))?;
        let stray_directory = args
            .profile
            .clone()
            .filter(|given| given.is_absolute() && extract_windows_path(&given.to_string_lossy()).is_some());
        let listen_port = args.port.map(|port| settings.port.unwrap_or(port)).filter(|port| *port != 0);
        let shares_loopback = settings.wsl.shares_loopback();
        let port = match args.windows_port.or(settings.windows_port) {
            Some(port) => WindowsPort::Fixed(port),
            // On a shared loopback interface, the shim itself listens on that port.
            None if shares_loopback => WindowsPort::Any,
            None => listen_port.map_or(WindowsPort::Any, WindowsPort::Preferred),
        };
        let interop = settings.interop.clone().map(|socket| ("WSL_INTEROP".to_owned(), socket));
        let request = WindowsBrowserRequest {
            powershell: settings.powershell.clone().unwrap_or_else(|| settings.wsl.powershell()),
            script: String::new(),
            profile,
            executable: program_of(settings)?,
            port,
            shares_loopback,
            environment: interop.into_iter().collect(),
        };
        let arguments = args.forwarded.iter().map(|flag| convert_flag(flag, &settings.wsl)).collect();
        Ok(Self { request, arguments, stray_directory })
    }

    /// Writes the script, and removes the stray directory if it is empty.
    ///
    /// # Errors
    /// When the script cannot be written.
    pub(super) fn prepare(&mut self, environment: &ShimEnvironment, wsl: &Wsl) -> Result<(), Failure> {
        let directory = PrivateDir::create(&environment.paths.runtime)?;
        let path = directory.path().join(SCRIPT_NAME);
        let is_current = std::fs::read(&path).is_ok_and(|content| content == SCRIPT.as_bytes());
        if !is_current {
            atomic_file::write(&path, SCRIPT.as_bytes())?;
        }
        self.request.script = wsl.convert(&path);
        if let Some(stray_directory) = &self.stray_directory {
            remove_if_empty(stray_directory);
        }
        Ok(())
    }
}

/// Removes an empty directory. Links stay.
fn remove_if_empty(directory: &Path) {
    let is_directory = std::fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir());
    if is_directory {
        // The system refuses when it is not empty, as intended.
        let _ = std::fs::remove_dir(directory);
    }
}

/// The profile directory as a Windows path. A browser on Windows cannot use a directory of WSL: temporary profiles share
/// one directory on Windows, every other local directory gets its own.
fn profile_of(given: Option<&Path>) -> Result<String, Failure> {
    let Some(given) = given else { return Ok(DEFAULT_PROFILE.to_owned()) };
    let text = given.to_string_lossy();
    let profile = extract_windows_path(&text).or_else(|| from_mount(&text));
    let profile = profile.unwrap_or_else(|| match given.starts_with(std::env::temp_dir()) {
        true => DEFAULT_PROFILE.to_owned(),
        false => {
            let digest = sha1_smol::Sha1::from(text.as_bytes()).digest().to_string();
            format!(r"%TEMP%\tabwire-chrome\profile-{}", digest.get(..12).unwrap_or_default())
        }
    });
    if is_default_profile(&profile) {
        let message = format!("{profile} is a browser's default profile, which Tabwire does not automate.");
        return Err(Failure::new(ErrorCode::BadArgs, message)
            .with_remedy(r"Use a separate directory such as %LOCALAPPDATA%\my-agent."));
    }
    Ok(profile)
}

/// The browser's program as a Windows path; `None` when the Windows side searches for Chrome.
fn program_of(settings: &ChromeSettings) -> Result<Option<String>, Failure> {
    let Some(named) = settings.browser.as_deref() else { return Ok(None) };
    if is_windows_path(named) {
        return Ok(Some(named.to_owned()));
    }
    match named {
        "chrome" => Ok(None),
        "edge" => Ok(Some(r"%ProgramFiles(x86)%\Microsoft\Edge\Application\msedge.exe".to_owned())),
        other => from_mount(other).map(Some).ok_or_else(|| {
            let message = format!("Invalid Windows browser `{other}`.");
            Failure::new(ErrorCode::BadArgs, message).with_remedy(
                r"Set TABWIRE_CHROME_EXECUTABLE to `chrome`, `edge`, or a path such as C:\x\chrome.exe.",
            )
        }),
    }
}

/// Converts the path of a flag in [`PATH_FLAGS`]; returns other flags unchanged.
fn convert_flag(flag: &str, wsl: &Wsl) -> String {
    let named = flag.strip_prefix("--").and_then(|bare| bare.split_once('='));
    match named {
        Some((name, path)) if PATH_FLAGS.contains(&name) && path.starts_with('/') => {
            let path = extract_windows_path(path).unwrap_or_else(|| wsl.convert(Path::new(path)));
            format!("--{name}={path}")
        }
        _ => flag.to_owned(),
    }
}

fn no_windows() -> Failure {
    let message = "TABWIRE_CHROME_HOST is `windows`, but this system is not WSL: WSL_DISTRO_NAME is unset.";
    Failure::new(ErrorCode::BadArgs, message).with_remedy("Set it to `local`, or unset it.")
}

#[cfg(test)]
mod tests;
