//! Identifies a process by pid and start time, because the kernel reuses pids.

use std::path::PathBuf;

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

/// A pid and the start time of its process (F35).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pid: i32,
    start_time: u64,
}

/// The result of sending a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalResult {
    /// The process was the expected one and the signal was sent.
    Sent,
    /// The process has ended, or another process has its pid now.
    NotThere,
    /// The process runs, and this user may not signal it.
    NotAllowed,
}

impl ProcessIdentity {
    /// Looks up the process that has this pid now.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let pid = i32::try_from(pid).ok().filter(|pid| *pid > 0)?;
        Some(Self { pid, start_time: platform::start_time(pid)? })
    }

    /// This process.
    #[must_use]
    pub fn current() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// The pid.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Start time in a system-specific unit. Compare it only with other start times of this machine.
    #[must_use]
    pub fn start_time(&self) -> u64 {
        self.start_time
    }

    /// Whether this process still runs. False for a zombie and for a reused pid.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        platform::start_time(self.pid) == Some(self.start_time)
    }

    /// The path of its executable, if this user may read it.
    #[must_use]
    pub fn executable(&self) -> Option<PathBuf> {
        let path = platform::executable(self.pid)?;
        self.is_alive().then_some(path)
    }

    /// Sends a signal if the process is still the same one.
    #[must_use]
    pub fn signal(&self, signal: Signal) -> SignalResult {
        match Pid::from_raw(self.pid) {
            Some(pid) if self.is_alive() => platform::signal(pid, self, signal),
            _ => SignalResult::NotThere,
        }
    }
}

impl ProcessIdentity {
    /// Kills the process and, if it leads a group, everything in that group.
    #[must_use]
    pub fn kill_group(&self) -> SignalResult {
        // A stopped process cannot exit, so its pid cannot be reused before the group is killed.
        let stopped = self.signal(Signal::STOP);
        let leader = Pid::from_raw(self.pid).filter(|pid| rustix::process::getpgid(Some(*pid)) == Ok(*pid));
        match leader {
            Some(leader) if stopped == SignalResult::Sent && self.is_alive() => {
                let _ = rustix::process::kill_process_group(leader, Signal::KILL);
                SignalResult::Sent
            }
            _ => self.signal(Signal::KILL),
        }
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use std::path::PathBuf;

    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, Signal};

    use super::{ProcessIdentity, SignalResult};

    /// Field 22 of `/proc/<pid>/stat`; `None` for zombies, which have ended.
    pub(super) fn start_time(pid: i32) -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in field 2 can contain spaces and parentheses.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        if matches!(state, "Z" | "X" | "x") {
            return None;
        }
        fields.nth(18)?.parse().ok()
    }

    pub(super) fn executable(pid: i32) -> Option<PathBuf> {
        std::fs::read_link(format!("/proc/{pid}/exe")).ok()
    }

    /// Opens the pidfd first: the pid cannot be reused between the check and the signal.
    pub(super) fn signal(pid: Pid, identity: &ProcessIdentity, signal: Signal) -> SignalResult {
        let sent = rustix::process::pidfd_open(pid, PidfdFlags::empty()).and_then(|pinned| {
            if identity.is_alive() {
                rustix::process::pidfd_send_signal(pinned, signal)
            } else {
                Err(Errno::SRCH)
            }
        });
        match sent {
            Ok(()) => SignalResult::Sent,
            Err(Errno::PERM) => SignalResult::NotAllowed,
            Err(_) => SignalResult::NotThere,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::path::PathBuf;
    use std::process::{Command, Stdio};

    use rustix::io::Errno;
    use rustix::process::{Pid, Signal};

    use super::{ProcessIdentity, SignalResult};

    /// Runs `ps`, which needs no unsafe call. Its start times have a resolution of one second.
    fn ask(pid: i32, column: &str) -> Option<String> {
        let output = Command::new("/bin/ps")
            .args(["-o", column, "-p", &pid.to_string()])
            .env_clear()
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let text = text.trim();
        (output.status.success() && !text.is_empty()).then(|| text.to_owned())
    }

    pub(super) fn start_time(pid: i32) -> Option<u64> {
        if ask(pid, "state=")?.starts_with('Z') {
            return None;
        }
        super::packed_start(&ask(pid, "lstart=")?)
    }

    pub(super) fn executable(pid: i32) -> Option<PathBuf> {
        ask(pid, "comm=").map(PathBuf::from)
    }

    pub(super) fn signal(pid: Pid, identity: &ProcessIdentity, signal: Signal) -> SignalResult {
        if !identity.is_alive() {
            return SignalResult::NotThere;
        }
        // There is no pidfd outside Linux: between check and signal the pid could be reused.
        match rustix::process::kill_process(pid, signal) {
            Ok(()) => SignalResult::Sent,
            Err(Errno::PERM) => SignalResult::NotAllowed,
            Err(_) => SignalResult::NotThere,
        }
    }
}

/// Packs `Sun Nov 15 05:46:54 2026` into one number that sorts by time.
#[cfg(any(test, not(target_os = "linux")))]
fn packed_start(text: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut words = text.split_ascii_whitespace().skip(1);
    let month = u64::try_from(MONTHS.find(words.next()?)? / 3).ok()?;
    let day: u64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let year: u64 = words.next()?.parse().ok()?;
    Some(((((year * 12 + month) * 31 + day) * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::Signal;

    use super::{ProcessIdentity, SignalResult, packed_start};

    #[test]
    fn f35_a_reused_pid_is_not_alive_and_is_never_signalled() {
        let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
        let real = ProcessIdentity::of(child.id()).unwrap();
        let earlier = ProcessIdentity { start_time: real.start_time - 1, ..real };
        assert!(real.is_alive() && !earlier.is_alive());
        assert_eq!(earlier.signal(Signal::KILL), SignalResult::NotThere);
        assert!(child.try_wait().unwrap().is_none(), "the other process was not signalled");
        assert_eq!(real.signal(Signal::KILL), SignalResult::Sent);
        // Not reaped yet: a zombie counts as ended.
        rustix::process::waitid(
            rustix::process::WaitId::Pid(rustix::process::Pid::from_child(&child)),
            rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT,
        )
        .unwrap();
        assert!(!real.is_alive());
        child.wait().unwrap();
        assert_eq!(real.signal(Signal::KILL), SignalResult::NotThere);
    }

    #[test]
    fn unknown_pid_has_no_identity() {
        assert_eq!(ProcessIdentity::of(0), None);
        assert_eq!(ProcessIdentity::of(u32::MAX), None);
        let current = ProcessIdentity::current().unwrap();
        assert_eq!(current.executable(), std::env::current_exe().ok());
    }

    #[test]
    fn start_times_from_ps_sort_by_time() {
        let earlier = packed_start("Sun Nov 15 05:46:54 2026").unwrap();
        let later = packed_start("Tue Dec  1 00:00:01 2026").unwrap();
        assert!(earlier < later);
        assert_eq!(packed_start("nonsense"), None);
    }
}
