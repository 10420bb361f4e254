//! What this system says of the Windows around it: names of paths there, and whether both have one loopback.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::windows_path::{of_distribution, of_mount};
use crate::limits::WSL_TOOL_DEADLINE;

/// Where PowerShell is when it is not on the search path.
const POWERSHELL: &str = "/mnt/c/Windows/System32/WindowsPowerShell/v1.0/powershell.exe";

/// The distribution's name where nothing tells it.
const ANY_DISTRIBUTION: &str = "Ubuntu";

/// The Windows around this system.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wsl {
    /// What Windows calls this system; none outside WSL.
    pub(crate) distribution: Option<String>,
    /// Where programs are searched.
    pub(crate) search_path: Option<std::ffi::OsString>,
}

impl Wsl {
    /// What Windows calls a path of this system: as `wslpath` says, else by its drive, else through the share that
    /// Windows has of this system.
    pub(crate) fn convert(&self, path: &Path) -> String {
        let text = path.to_string_lossy();
        let told = self.ask("wslpath", &[OsStr::new("-w"), path.as_os_str()]);
        let distribution = self.distribution.as_deref().unwrap_or(ANY_DISTRIBUTION);
        told.or_else(|| of_mount(&text)).unwrap_or_else(|| of_distribution(&text, distribution))
    }

    /// Whether a port of Windows is reached from here as one of this system's.
    pub(crate) fn shares_loopback(&self) -> bool {
        self.ask("wslinfo", &[OsStr::new("--networking-mode")]).is_some_and(|mode| mode == "mirrored")
    }

    /// The program of PowerShell.
    pub(crate) fn powershell(&self) -> PathBuf {
        self.find("powershell.exe").unwrap_or_else(|| PathBuf::from(POWERSHELL))
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        let places = self.search_path.as_deref().map(std::env::split_paths)?;
        places.map(|place| place.join(program)).find(|path| path.is_file())
    }

    /// The one line that a tool of WSL prints; none when it is not there, fails, or takes too long.
    fn ask(&self, program: &str, arguments: &[&OsStr]) -> Option<String> {
        let program = self.find(program)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let deadline = Instant::now() + WSL_TOOL_DEADLINE;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                _ => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return None;
                }
            }
        };
        let mut text = String::new();
        child.stdout.take()?.take(4096).read_to_string(&mut text).ok()?;
        Some(text.trim().to_owned()).filter(|line| status.success() && !line.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn with_tools(tools: &[(&str, &str)]) -> (tempfile::TempDir, Wsl) {
        let place = tempfile::tempdir().unwrap();
        for (name, script) in tools {
            let path = place.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        let search_path = Some(place.path().as_os_str().to_owned());
        (place, Wsl { distribution: Some("Debian".to_owned()), search_path })
    }

    #[test]
    fn a_path_is_converted_by_the_systems_tool_else_by_its_drive_else_through_the_share() {
        let (_place, wsl) = with_tools(&[("wslpath", r"printf '%s' 'Z:\told\by\tool'")]);
        assert_eq!(wsl.convert(Path::new("/home/me")), r"Z:\told\by\tool");
        let (_place, wsl) = with_tools(&[("wslpath", "exit 1")]);
        assert_eq!(wsl.convert(Path::new("/mnt/c/Users/me")), r"C:\Users\me");
        assert_eq!(wsl.convert(Path::new("/home/me")), r"\\wsl$\Debian\home\me");
        let unnamed = Wsl::default();
        assert_eq!(unnamed.convert(Path::new("/home/me")), r"\\wsl$\Ubuntu\home\me");
    }

    #[test]
    fn one_loopback_is_what_the_system_calls_mirrored() {
        for (script, is_shared) in
            [("echo mirrored", true), ("echo nat", false), ("echo mirrored; exit 1", false)]
        {
            let (_place, wsl) = with_tools(&[("wslinfo", script)]);
            assert_eq!(wsl.shares_loopback(), is_shared, "{script}");
        }
        assert!(!Wsl::default().shares_loopback());
    }

    #[test]
    fn a_tool_that_hangs_is_not_waited_for() {
        let (_place, wsl) = with_tools(&[("wslinfo", "exec sleep 60")]);
        let before = Instant::now();
        assert!(!wsl.shares_loopback());
        assert!(before.elapsed() < WSL_TOOL_DEADLINE * 5);
    }

    #[test]
    fn powershell_is_searched_then_expected_where_windows_has_it() {
        let (place, wsl) = with_tools(&[("powershell.exe", "true")]);
        assert_eq!(wsl.powershell(), place.path().join("powershell.exe"));
        assert_eq!(Wsl::default().powershell(), Path::new(POWERSHELL));
    }
}
