//! The browser as a process: its pipe, its group, its end.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt as _, FdMapping};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use super::stderr_ring::StderrRing;
use crate::error::{BrowserError, LaunchFault};
use crate::launch::spec::LaunchSpec;
use crate::limits;
use crate::process::identity::ProcessIdentity;

/// The descriptor the browser reads commands from.
const COMMANDS_AT: i32 = 3;
/// The descriptor the browser writes answers and events to.
const ANSWERS_AT: i32 = 4;

/// A leading NUL ends whatever half frame an earlier holder left.
const CLOSE: &[u8] = b"\0{\"id\":1,\"method\":\"Browser.close\"}\0";
const GREETING: &[u8] = b"{\"id\":1,\"method\":\"Browser.getVersion\"}\0";

/// What came of reading a non-blocking descriptor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Drained {
    /// Everything that was there.
    All,
    /// A good part of it; there may be more.
    Enough,
    /// The other side is closed.
    Closed,
}

/// A browser we started: a child of ours and the leader of its group.
#[derive(Debug)]
pub(super) struct BrowserProcess {
    child: Child,
    identity: ProcessIdentity,
    to_browser: OwnedFd,
    from_browser: OwnedFd,
    stderr: Option<ChildStderr>,
    ring: StderrRing,
}

impl BrowserProcess {
    /// Starts the browser in a group of its own with its pipe on descriptors 3 and 4.
    ///
    /// No parent-death signal: it would follow the spawning thread (F28). The
    /// pipe is the dead-man's switch, for Chromium ends when it closes.
    pub(super) fn spawn(spec: &LaunchSpec, arguments: &[OsString]) -> Result<Self, BrowserError> {
        let wrong = |errno: Errno| BrowserError::system("make a pipe for", &spec.executable, errno);
        become_reaper();
        let (command_end, to_browser) = pipe().map_err(wrong)?;
        let (from_browser, answer_end) = pipe().map_err(wrong)?;
        // Only our own ends: the browser's are separate and stay blocking.
        for end in [&to_browser, &from_browser] {
            rustix::io::ioctl_fionbio(end, true).map_err(wrong)?;
        }
        let mut command = Command::new(&spec.executable);
        command
            .args(arguments)
            .envs(&spec.environment)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .fd_mappings(vec![
                FdMapping { parent_fd: command_end, child_fd: COMMANDS_AT },
                FdMapping { parent_fd: answer_end, child_fd: ANSWERS_AT },
            ])
            .map_err(|_| BrowserError::system("map a pipe for", &spec.executable, Errno::INVAL))?;
        let spawned = command.spawn();
        // The command owns the browser's ends; kept open, they would hide its end from us.
        drop(command);
        let failed = |why| BrowserError::LaunchFailed {
            executable: spec.executable.clone(),
            why,
            stderr: String::new(),
        };
        let mut child = spawned.map_err(|error| failed(LaunchFault::NotExecutable(error.to_string())))?;
        let stderr = child.stderr.take();
        if let Some(stderr) = &stderr {
            rustix::io::ioctl_fionbio(stderr, true).map_err(wrong)?;
        }
        let Some(identity) = ProcessIdentity::of(child.id()) else {
            return Err(ended_at_once(spec, child, stderr));
        };
        Ok(Self { child, identity, to_browser, from_browser, stderr, ring: StderrRing::default() })
    }

    /// The main process.
    pub(super) fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// The pipe's ends, in the order they are handed over.
    pub(super) fn ends(&self) -> [BorrowedFd<'_>; 2] {
        [self.to_browser.as_fd(), self.from_browser.as_fd()]
    }

    /// What the browser writes, to wait on.
    pub(super) fn output(&self) -> BorrowedFd<'_> {
        self.from_browser.as_fd()
    }

    /// What the browser writes to stderr, to wait on.
    pub(super) fn stderr(&self) -> Option<BorrowedFd<'_>> {
        self.stderr.as_ref().map(|stderr| stderr.as_fd())
    }

    /// What the browser wrote to stderr.
    pub(super) fn ring(&self) -> &StderrRing {
        &self.ring
    }

    /// Makes our ends non-blocking again, whatever a holder did to them.
    pub(super) fn take_back(&self) {
        for end in self.ends() {
            let _ = rustix::io::ioctl_fionbio(end, true);
        }
    }

    /// Reads what is there, passing each piece on.
    pub(super) fn drain_output(&self, mut take: impl FnMut(&[u8])) -> Drained {
        let mut buffer = [0; 16 * 1024];
        // A bound, so that a browser that never stops writing cannot keep us here.
        for _ in 0..64 {
            match rustix::io::read(&self.from_browser, &mut buffer) {
                Ok(0) => return Drained::Closed,
                Ok(read) => take(buffer.get(..read).unwrap_or_default()),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Drained::All,
                Err(_) => return Drained::Closed,
            }
        }
        Drained::Enough
    }

    /// Moves what is there from stderr into the ring.
    pub(super) fn drain_stderr(&mut self) {
        let mut buffer = [0; 4096];
        // A bound, so that a browser that only writes errors cannot keep us here.
        for _ in 0..64 {
            let Some(stderr) = &mut self.stderr else { return };
            match stderr.read(&mut buffer) {
                Ok(read) if read > 0 => self.ring.push(buffer.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                _ => self.stderr = None,
            }
        }
    }

    /// Asks who the browser is; the first response shows that it is up.
    pub(super) fn greet(&self) {
        // A browser that is already gone shows itself by its end.
        let _ = rustix::io::write(&self.to_browser, GREETING);
    }

    /// Asks the browser to close; one that cannot hear it is killed later.
    pub(super) fn ask_to_close(&self) {
        let _ = rustix::io::write(&self.to_browser, CLOSE);
    }

    /// Whether the main process has ended; it is not reaped, so its number stays taken.
    pub(super) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(self.group()), options) {
            Ok(status) => status.is_some(),
            Err(errno) => errno == Errno::CHILD,
        }
    }

    /// Kills everything in the browser's group.
    pub(super) fn kill_group(&self) {
        let _ = rustix::process::kill_process_group(self.group(), Signal::KILL);
    }

    /// Reaps the main process and verifies that nothing is left of its group (F46).
    ///
    /// Waits only for our own child and its group, never for any child (F29).
    /// Returns how the main process ended, or `None` when something is still there.
    pub(super) fn reap(&mut self) -> Option<String> {
        // The unreaped leader keeps the group's number ours until here.
        self.kill_group();
        let deadline = Instant::now() + limits::VERIFY_GONE;
        let mut ended = None;
        loop {
            if ended.is_none() {
                ended = self.child.try_wait().ok().flatten().map(|status| status.to_string());
            } else {
                while let Ok(Some(_)) = rustix::process::waitpgid(self.group(), WaitOptions::NOHANG) {}
                // In this order: once the group is gone, whoever left it is our child.
                let group_is_gone =
                    rustix::process::test_kill_process_group(self.group()) == Err(Errno::SRCH);
                if no_strays_left() && group_is_gone {
                    self.drain_stderr();
                    return ended;
                }
            }
            if Instant::now() >= deadline {
                return None;
            }
            pause(limits::RECHECK);
        }
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

/// What a browser that ended within a moment has to say for itself.
fn ended_at_once(spec: &LaunchSpec, mut child: Child, stderr: Option<ChildStderr>) -> BrowserError {
    // Not reaped yet, so the group's number is still its own.
    let _ = rustix::process::kill_process_group(Pid::from_child(&child), Signal::KILL);
    let ended = child.wait().map(|status| status.to_string()).unwrap_or_default();
    let mut ring = StderrRing::default();
    let mut words = Vec::new();
    let bound = u64::try_from(limits::STDERR_RING_BYTES).unwrap_or(u64::MAX);
    // Non-blocking: what is there now is all that is wanted.
    let _ = stderr.map(|stderr| stderr.take(bound).read_to_end(&mut words));
    ring.push(&words);
    let why = LaunchFault::Ended(ended);
    BrowserError::LaunchFailed { executable: spec.executable.clone(), why, stderr: ring.last_lines() }
}

/// Waits without anything to wait for.
fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// Lets the browser's orphaned descendants become our children, so that they can be reaped.
#[cfg(target_os = "linux")]
fn become_reaper() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn become_reaper() {}

/// Kills descendants that left the browser's group; says whether there are none.
///
/// Being our children, their numbers are theirs until we reap them.
#[cfg(target_os = "linux")]
fn no_strays_left() -> bool {
    let own = std::process::id();
    let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    for pid in children.split_ascii_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
        let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
    }
    children.trim().is_empty()
}

#[cfg(not(target_os = "linux"))]
fn no_strays_left() -> bool {
    true
}

#[cfg(target_os = "linux")]
fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
}

/// One thread only, so nothing can be spawned between the two steps.
#[cfg(not(target_os = "linux"))]
fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (read, write) = rustix::pipe::pipe()?;
    for end in [&read, &write] {
        rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok((read, write))
}
