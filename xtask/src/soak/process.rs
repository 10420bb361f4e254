//! Processes found through /proc.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A running process.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) command: String,
}

impl Process {
    /// Every other process whose command line or environment contains this path.
    pub(super) fn all_of(path: &Path) -> Vec<Process> {
        let path = path.to_string_lossy().into_owned();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let named = pids.filter(|pid| *pid != std::process::id()).filter_map(|pid| {
            let text = |name: &str| {
                let bytes = fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
                String::from_utf8_lossy(&bytes).replace('\0', " ").trim().to_owned()
            };
            let command = text("cmdline");
            let is_ours = command.contains(&path) || text("environ").contains(&path);
            (is_ours && !command.is_empty()).then_some(Process { pid, command })
        });
        named.collect()
    }

    /// Whether it is a browser's main process.
    pub(super) fn is_browser(&self) -> bool {
        self.command.contains("--user-data-dir") && !self.command.contains("--type=")
    }
}

/// Sends a signal by its name. Ignores processes that have ended.
pub(super) fn signal(pid: u32, name: &str) {
    let mut kill = Command::new("kill");
    kill.args([format!("-{name}"), pid.to_string()]).stderr(Stdio::null());
    let _ = kill.status();
}
