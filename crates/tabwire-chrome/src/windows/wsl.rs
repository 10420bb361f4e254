//! Queries WSL about its Windows host: path conversion, network mode, PowerShell.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::windows_path::{from_mount, wsl_share_path};

/// How long `wslpath` or `wslinfo` may take; a few milliseconds are usual.
const TOOL_TIMEOUT: Duration = Duration::from_secs(2);

/// PowerShell, when it is not in `PATH`.
const POWERSHELL: &str = "/mnt/c/Windows/System32/WindowsPowerShell/v1.0/powershell.exe";

/// The distribution's name when `WSL_DISTRO_NAME` is unset.
const DEFAULT_DISTRIBUTION: &str = "Ubuntu";

/// The Windows system that hosts WSL.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wsl {
    /// The name of this distribution; `None` outside WSL.
    pub(crate) distribution: Option<String>,
    /// `PATH`.
    pub(crate) search_path: Option<std::ffi::OsString>,
}

impl Wsl {
    /// The Windows path of a local path: from `wslpath`, else from its drive, else through the share `\\wsl$`.
    pub(crate) fn convert(&self, path: &Path) -> String {
        let text = path.to_string_lossy();
        let converted = self.run_tool("wslpath", &[OsStr::new("-w"), path.as_os_str()]);
        let distribution = self.distribution.as_deref().unwrap_or(DEFAULT_DISTRIBUTION);
        converted.or_else(|| from_mount(&text)).unwrap_or_else(|| wsl_share_path(&text, distribution))
    }

    /// Whether Windows and WSL share the loopback interface.
    pub(crate) fn shares_loopback(&self) -> bool {
        self.run_tool("wslinfo", &[OsStr::new("--networking-mode")]).is_some_and(|mode| mode == "mirrored")
    }

    pub(crate) fn powershell(&self) -> PathBuf {
        self.find("powershell.exe").unwrap_or_else(|| PathBuf::from(POWERSHELL))
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        let directories = self.search_path.as_deref().map(std::env::split_paths)?;
        directories.map(|directory| directory.join(program)).find(|path| path.is_file())
    }

    /// The output of a WSL tool; `None` when it is missing, fails or times out.
    fn run_tool(&self, program: &str, arguments: &[&OsStr]) -> Option<String> {
        let program = self.find(program)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let deadline = Instant::now() + TOOL_TIMEOUT;
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
        let directory = tempfile::tempdir().unwrap();
        for (name, script) in tools {
            let path = directory.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        let search_path = Some(directory.path().as_os_str().to_owned());
        (directory, Wsl { distribution: Some("Debian".to_owned()), search_path })
    }

    #[test]
    fn a_path_is_converted_by_wslpath_then_drive_then_share() {
        let (_directory, wsl) = with_tools(&[("wslpath", r"printf '%s' 'Z:\from\tool'")]);
        assert_eq!(wsl.convert(Path::new("/home/me")), r"Z:\from\tool");
        let (_directory, wsl) = with_tools(&[("wslpath", "exit 1")]);
        assert_eq!(wsl.convert(Path::new("/mnt/c/Users/me")), r"C:\Users\me");
        assert_eq!(wsl.convert(Path::new("/home/me")), r"\\wsl$\Debian\home\me");
        let unnamed = Wsl::default();
        assert_eq!(unnamed.convert(Path::new("/home/me")), r"\\wsl$\Ubuntu\home\me");
    }

    #[test]
    fn mirrored_networking_shares_the_loopback() {
        for (script, is_shared) in
            [("echo mirrored", true), ("echo nat", false), ("echo mirrored; exit 1", false)]
        {
            let (_directory, wsl) = with_tools(&[("wslinfo", script)]);
            assert_eq!(wsl.shares_loopback(), is_shared, "{script}");
        }
        assert!(!Wsl::default().shares_loopback());
    }

    #[test]
    fn a_hanging_tool_times_out() {
        let (_directory, wsl) = with_tools(&[("wslinfo", "exec sleep 60")]);
        let before = Instant::now();
        assert!(!wsl.shares_loopback());
        assert!(before.elapsed() < TOOL_TIMEOUT * 5);
    }

    #[test]
    fn powershell_is_searched_in_path_then_at_its_usual_path() {
        let (directory, wsl) = with_tools(&[("powershell.exe", "true")]);
        assert_eq!(wsl.powershell(), directory.path().join("powershell.exe"));
        assert_eq!(Wsl::default().powershell(), Path::new(POWERSHELL));
    }
}
