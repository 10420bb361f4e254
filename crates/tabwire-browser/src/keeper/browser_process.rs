//! Starts, reads, closes and kills the browser process.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt as _, FdMapping};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use super::control_message::BidiSession;
use super::marionette::Marionette;
use super::stderr_ring::StderrRing;
use crate::error::{BrowserError, LaunchFault};
use crate::launch::spec::{BrowserEngine, LaunchSpec};
use crate::limits;
use crate::process::identity::ProcessIdentity;

/// The file descriptor from which the browser reads commands.
const COMMANDS_AT: i32 = 3;
/// The file descriptor to which the browser writes responses and events.
const RESPONSES_AT: i32 = 4;

/// A leading NUL ends a partial frame that an earlier holder may have left.
const CLOSE: &[u8] = b"\0{\"id\":1,\"method\":\"Browser.close\"}\0";
const GREETING: &[u8] = b"{\"id\":1,\"method\":\"Browser.getVersion\"}\0";

/// The result of reading a non-blocking descriptor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Drained {
    /// All available bytes were read.
    All,
    /// The limit of one call was reached. More bytes may be available.
    Enough,
    /// The browser closed its end.
    Closed,
}

/// A browser that this keeper started: a child process and the leader of its process group.
#[derive(Debug)]
pub(super) struct BrowserProcess {
    child: Child,
    identity: ProcessIdentity,
    to_browser: OwnedFd,
    from_browser: OwnedFd,
    stderr: Option<ChildStderr>,
    ring: StderrRing,
    /// The connection that holds the session of a Firefox.
    marionette: Option<Marionette>,
    /// The child's end of the pipe of a Firefox, which does not take it. While it is open, the pipe does not end.
    _unused_end: Option<OwnedFd>,
}

impl BrowserProcess {
    /// Starts the browser in its own process group, with its pipe on descriptors 3 and 4.
    ///
    /// Chromium gets no parent-death signal, because the kernel sends it when the spawning thread ends (F28). Instead, it
    /// exits when its pipe closes. Firefox needs the signal; a keeper has one thread.
    pub(super) fn spawn(spec: &LaunchSpec, arguments: &[OsString]) -> Result<Self, BrowserError> {
        let wrong = |errno: Errno| BrowserError::system("make a pipe for", &spec.executable, errno);
        become_reaper();
        let (command_end, to_browser) = pipe().map_err(wrong)?;
        let (from_browser, response_end) = pipe().map_err(wrong)?;
        // Only the keeper's ends are non-blocking. Chromium expects blocking descriptors.
        for end in [&to_browser, &from_browser] {
            rustix::io::ioctl_fionbio(end, true).map_err(wrong)?;
        }
        let mut command = Command::new(&spec.executable);
        command
            .args(arguments)
            .envs(&spec.environment)
            // A group of its own, so that it can be killed as a whole and without the keeper.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let (marionette, unused_end) = connect(spec, &mut command, command_end, response_end)?;
        let spawned = command.spawn();
        // The command owns the browser's ends. While they are open here, the keeper would not see the browser's end
        // of file.
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
        let ring = StderrRing::default();
        Ok(Self {
            child,
            identity,
            to_browser,
            from_browser,
            stderr,
            ring,
            marionette,
            _unused_end: unused_end,
        })
    }

    /// Goes on with creating the session of a Firefox; its product when that is done. `None` inside for a Chromium.
    pub(super) fn advance_session(&mut self) -> Option<Result<Option<String>, LaunchFault>> {
        self.marionette.as_mut().map(Marionette::advance)
    }

    /// Whether the browser is a Firefox.
    pub(super) fn has_marionette(&self) -> bool {
        self.marionette.is_some()
    }

    /// The session of a Firefox.
    pub(super) fn bidi(&self) -> Option<BidiSession> {
        self.marionette.as_ref().and_then(|marionette| marionette.session().cloned())
    }

    /// The main process.
    pub(super) fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// The pipe's ends, in the order in which a holder receives them.
    pub(super) fn ends(&self) -> [BorrowedFd<'_>; 2] {
        [self.to_browser.as_fd(), self.from_browser.as_fd()]
    }

    /// The descriptor with the browser's output, for `poll`.
    pub(super) fn output(&self) -> BorrowedFd<'_> {
        self.from_browser.as_fd()
    }

    /// The descriptor with the browser's stderr, for `poll`.
    pub(super) fn stderr(&self) -> Option<BorrowedFd<'_>> {
        self.stderr.as_ref().map(|stderr| stderr.as_fd())
    }

    /// The latest stderr output of the browser.
    pub(super) fn ring(&self) -> &StderrRing {
        &self.ring
    }

    /// Makes the keeper's ends non-blocking again. A holder shares the file description and can have changed the flag.
    pub(super) fn take_back(&self) {
        for end in self.ends() {
            let _ = rustix::io::ioctl_fionbio(end, true);
        }
    }

    /// Reads available bytes and passes each piece to `take`.
    pub(super) fn drain_output(&self, mut take: impl FnMut(&[u8])) -> Drained {
        let mut buffer = [0; 16 * 1024];
        // Bounded, so that a browser that never stops writing cannot block the loop.
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

    /// Moves available stderr output into the ring.
    pub(super) fn drain_stderr(&mut self) {
        let mut buffer = [0; 4096];
        // Bounded, so that a browser that never stops writing cannot block the loop.
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

    /// Sends `Browser.getVersion`. Its response shows that the browser is ready.
    pub(super) fn greet(&self) {
        if self.has_marionette() {
            return;
        }
        // A failed write means that the browser has ended, which `has_ended` reports.
        let _ = rustix::io::write(&self.to_browser, GREETING);
    }

    /// Sends `Browser.close`, or Marionette's `Quit`. A browser that does not read it is killed after the grace period.
    pub(super) fn ask_to_close(&mut self) {
        if let Some(marionette) = &mut self.marionette {
            // Without a session there is no one who takes the request.
            if !marionette.quit() {
                self.kill_group();
            }
            return;
        }
        let _ = rustix::io::write(&self.to_browser, CLOSE);
    }

    /// Whether the main process has ended. Does not reap it, so that its pid is not reused.
    pub(super) fn has_ended(&self) -> bool {
        // `NOWAIT` leaves the process as a zombie: until it is reaped, its id cannot belong to another process
        // (docs/cdp/process-lifecycle-traps.md).
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(self.group()), options) {
            Ok(status) => status.is_some(),
            Err(errno) => errno == Errno::CHILD,
        }
    }

    /// Kills every process in the browser's group.
    pub(super) fn kill_group(&self) {
        let _ = rustix::process::kill_process_group(self.group(), Signal::KILL);
    }

    /// Reaps the main process and verifies that no process of its group is left (F46).
    ///
    /// Waits only for the browser and its group, never for any child (F29).
    /// Returns how the main process ended, or `None` if a process is left.
    pub(super) fn reap(&mut self) -> Option<String> {
        // Until here the unreaped leader prevents that the group id is reused.
        self.kill_group();
        let deadline = Instant::now() + limits::VERIFY_GONE;
        let mut ended = None;
        loop {
            if ended.is_none() {
                ended = self.child.try_wait().ok().flatten().map(|status| status.to_string());
            } else {
                while let Ok(Some(_)) = rustix::process::waitpgid(self.group(), WaitOptions::NOHANG) {}
                // In this order: once the group is gone, processes that left it are children of the keeper.
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

/// Gives a Chromium its ends of the pipe. A Firefox gets its profile and a connection to come; its end of the pipe is
/// returned.
fn connect(
    spec: &LaunchSpec,
    command: &mut Command,
    command_end: OwnedFd,
    response_end: OwnedFd,
) -> Result<(Option<Marionette>, Option<OwnedFd>), BrowserError> {
    match spec.engine {
        BrowserEngine::Chromium => {
            command
                .fd_mappings(vec![
                    FdMapping { parent_fd: command_end, child_fd: COMMANDS_AT },
                    FdMapping { parent_fd: response_end, child_fd: RESPONSES_AT },
                ])
                .map_err(|_| BrowserError::system("map a pipe for", &spec.executable, Errno::INVAL))?;
            Ok((None, None))
        }
        BrowserEngine::Firefox => {
            crate::launch::firefox::prepare(spec, command)?;
            let profile = crate::launch::firefox::profile_of(spec);
            Ok((Some(Marionette::new(&profile)), Some(response_end)))
        }
    }
}

/// The launch error for a browser that ended immediately, with its stderr.
fn ended_at_once(spec: &LaunchSpec, mut child: Child, stderr: Option<ChildStderr>) -> BrowserError {
    // Not reaped yet, so the group id is still the browser's.
    let _ = rustix::process::kill_process_group(Pid::from_child(&child), Signal::KILL);
    let ended = child.wait().map(|status| status.to_string()).unwrap_or_default();
    let mut ring = StderrRing::default();
    let mut words = Vec::new();
    let bound = u64::try_from(limits::STDERR_RING_BYTES).unwrap_or(u64::MAX);
    // Non-blocking: read only the output that is available now.
    let _ = stderr.map(|stderr| stderr.take(bound).read_to_end(&mut words));
    ring.push(&words);
    let why = LaunchFault::Ended(ended);
    BrowserError::LaunchFailed { executable: spec.executable.clone(), why, stderr: ring.last_lines() }
}

/// Sleeps.
fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// Makes this process the parent of the browser's orphaned descendants, so that it can reap them.
#[cfg(target_os = "linux")]
fn become_reaper() {
    // Processes that leave the browser's group become children of the keeper instead of process 1, and can be
    // found.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn become_reaper() {}

/// Kills descendants that left the browser's group. Returns whether there are none.
///
/// They are children of this process, so their pids are not reused before they are reaped here.
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

/// The process has one thread, so no child can be spawned between the two steps and inherit the pipe.
#[cfg(not(target_os = "linux"))]
fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (read, write) = rustix::pipe::pipe()?;
    for end in [&read, &write] {
        rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok((read, write))
}
