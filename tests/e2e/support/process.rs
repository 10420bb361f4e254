//! Processes found through /proc, and signals.

use std::fs;

use rustix::process::{Pid, Signal};

use crate::support::wait::eventually;

/// A running process; zombies do not count.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) command: String,
}

impl Process {
    /// Every process of this machine that we may inspect.
    pub(crate) fn all() -> Vec<Self> {
        let entries = fs::read_dir("/proc").expect("/proc is there");
        let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter_map(Self::find).collect()
    }

    /// The process with this pid, if it runs.
    pub(crate) fn find(pid: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        if matches!(fields.next()?, "Z" | "X") && !has_living_thread(pid) {
            return None;
        }
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ").trim().to_owned();
        Some(Self { pid, parent, group, command })
    }

    /// Whether its command line or environment contains the text.
    pub(crate) fn mentions(&self, text: &str) -> bool {
        let environment = fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        self.command.contains(text) || String::from_utf8_lossy(&environment).contains(text)
    }
}

/// The browsers among processes, without the processes that they started.
pub(crate) fn main_browsers(all: &[Process]) -> Vec<Process> {
    // A child has the command line of its parent between fork and exec.
    let is_fork =
        |child: &Process| all.iter().any(|one| one.pid == child.parent && one.command == child.command);
    let is_main = |process: &&Process| {
        process.command.contains("--user-data-dir")
            && !process.command.contains("--type=")
            && !is_fork(process)
    };
    all.iter().filter(is_main).cloned().collect()
}

/// Whether a process whose first thread has ended has other threads; its files stay open until they end.
fn has_living_thread(pid: i32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.into_iter().any(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        state.is_some_and(|state| !"ZX".contains(state))
    })
}

/// Whether a process runs.
pub(crate) fn is_running(pid: i32) -> bool {
    Process::find(pid).is_some()
}

/// Sends a signal, if the process exists. After SIGSTOP, waits until it has stopped: its threads run until
/// the kernel has interrupted each of them.
pub(crate) fn signal(pid: i32, signal: Signal) {
    let Some(process) = Pid::from_raw(pid) else { return };
    let sent = rustix::process::kill_process(process, signal);
    if sent.is_ok() && signal == Signal::STOP {
        eventually("a stopped process stops", 10, || is_stopped(pid));
    }
}

fn is_stopped(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && line.contains('T'))
}

/// Kills a process with SIGKILL, and waits until it is gone.
pub(crate) fn kill(pid: i32) {
    signal(pid, Signal::KILL);
    eventually("a killed process ends", 10, || !is_running(pid));
}

/// The peak memory of a process, in MiB.
pub(crate) fn peak_memory(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a high-water mark");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
}
