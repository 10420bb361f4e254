//! The client of keepers: starts a keeper, claims its browser, stops it.
//!
//! Blocking, with a deadline on every call; the daemon calls it from a blocking
//! thread.

use std::io::{ErrorKind, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use rustix::process::{Pid, Signal};
use tabwire_api::InstanceId;

use crate::error::{BrowserError, LaunchFault};
use crate::files::unix_socket;
use crate::keeper::descriptor::BrowserDescriptor;
use crate::keeper::{BidiSession, ControlRequest, ControlResponse, KeepOutcome, KeepRequest, KeeperState};
use crate::limits;
use crate::process::identity::ProcessIdentity;

/// How long a keeper may take to end after it missed its start deadline.
const KEEPER_END: Duration = Duration::from_secs(15);

/// Longest outcome line of a keeper: a descriptor, or a failure with stderr.
const KEEP_OUTCOME_BYTES: usize = 256 * 1024;

/// A browser's pipe, claimed for as long as `control` is open.
///
/// Both ends are non-blocking. An earlier holder may have left a partial frame in
/// either direction. A new holder first writes a NUL, then a command with a unique
/// id, and ignores every frame until the response to that id. When `control` reports
/// end of file, the keeper is gone: drop both ends, or the browser keeps running.
#[derive(Debug)]
pub struct Claim {
    /// Write end for commands.
    pub to_browser: OwnedFd,
    /// Read end for responses and events.
    pub from_browser: OwnedFd,
    /// Closing it gives the browser back to its keeper.
    pub control: UnixStream,
    /// The CDP session that the last holder noted.
    pub control_session: Option<String>,
    /// The session of a Firefox. Its pipe carries nothing.
    pub bidi: Option<BidiSession>,
    /// The browser's main process.
    pub browser: ProcessIdentity,
    /// The keeper's run.
    pub instance: InstanceId,
}

/// How a keeper describes itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The keeper's run. Another value than in the descriptor means another keeper.
    pub instance: InstanceId,
    /// The browser's main process.
    pub browser: ProcessIdentity,
    /// The state of the browser.
    pub state: KeeperState,
    /// The CDP session that the last holder noted.
    pub control_session: Option<String>,
}

/// Starts a keeper and waits until its browser can be claimed.
///
/// `keep_arguments` make `self_exe` call [`crate::keeper::run`]. The keeper is a
/// child process that leads its own session and can outlive this process. A thread
/// waits for it, so that it does not stay as a zombie.
///
/// # Errors
/// When the browser cannot be started before the deadline. Nothing is left of it then.
pub fn spawn_keeper(
    self_exe: &Path,
    keep_arguments: &[&str],
    request: &KeepRequest,
    deadline: Instant,
) -> Result<BrowserDescriptor, BrowserError> {
    let asked_at = Instant::now();
    let wrong = |action| move |error: std::io::Error| BrowserError::system(action, self_exe, error);
    let text = serde_json::to_vec(request).map_err(|error| wrong("encode the request for")(error.into()))?;
    if text.len() > limits::KEEP_REQUEST_BYTES {
        let name = "launch".to_owned();
        return Err(BrowserError::OptionRefused { name, reason: "it is too long", can_be_allowed: false });
    }
    let mut keeper = Command::new(self_exe)
        .args(keep_arguments)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(wrong("start a keeper with"))?;
    // A keeper that does not read its request ends without an outcome, which is handled below.
    let written = keeper.stdin.take().map(|mut stdin| stdin.write_all(&text));
    let outcome = match (written, keeper.stdout.take()) {
        (Some(Ok(())), Some(stdout)) => read_outcome(stdout.into(), deadline),
        _ => Ok(Vec::new()),
    };
    let timed_out = matches!(outcome, Err(Errno::TIMEDOUT));
    reap_later(keeper, timed_out);
    if timed_out {
        let after = deadline.saturating_duration_since(asked_at);
        return Err(BrowserError::Timeout { what: "The start of the browser", after });
    }
    match serde_json::from_slice(&outcome.unwrap_or_default()) {
        Ok(KeepOutcome::Ok(descriptor)) => Ok(*descriptor),
        Ok(KeepOutcome::Failed(failure)) => Err(failure.into()),
        Err(_) => Err(BrowserError::LaunchFailed {
            executable: request.spec.executable.clone(),
            why: LaunchFault::KeeperEnded,
            stderr: String::new(),
        }),
    }
}

/// Reads to the end of the first line, or to the end of file.
fn read_outcome(stdout: OwnedFd, deadline: Instant) -> Result<Vec<u8>, Errno> {
    // Reads then have a deadline: a keeper that hangs keeps the pipe open.
    rustix::io::ioctl_fionbio(&stdout, true)?;
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    while line.len() <= KEEP_OUTCOME_BYTES && line.last() != Some(&b'\n') {
        match rustix::io::read(&stdout, &mut buffer) {
            Ok(0) => break,
            Ok(read) => line.extend_from_slice(buffer.get(..read).unwrap_or_default()),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let left = deadline.saturating_duration_since(Instant::now());
                let timeout = Timespec::try_from(left).map_err(|_| Errno::INVAL)?;
                let ready = rustix::event::poll(&mut [PollFd::new(&stdout, PollFlags::IN)], Some(&timeout));
                match ready {
                    Ok(0) => return Err(Errno::TIMEDOUT),
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(errno) => return Err(errno),
                }
            }
            Err(errno) => return Err(errno),
        }
    }
    Ok(line)
}

/// Waits for a keeper in a thread. Ends it first if it missed its deadline.
///
/// The thread is not joined: if this process ends first, init adopts the keeper.
fn reap_later(keeper: Child, end_it: bool) {
    if end_it {
        // The keeper is an unreaped child, so its pid cannot be reused.
        let _ = rustix::process::kill_process(Pid::from_child(&keeper), Signal::TERM);
    }
    let wait = move || {
        let mut keeper = keeper;
        let deadline = Instant::now() + KEEPER_END;
        while end_it && Instant::now() < deadline && matches!(keeper.try_wait(), Ok(None)) {
            std::thread::sleep(limits::RECHECK);
        }
        if end_it {
            let _ = keeper.kill();
        }
        let _ = keeper.wait();
    };
    let _ = std::thread::Builder::new().name("keeper-reaper".to_owned()).stack_size(64 * 1024).spawn(wait);
}

/// Requests a keeper's identity. Only a response proves that it lives (F36).
///
/// # Errors
/// When the keeper does not respond before the deadline.
pub fn hello(socket: &Path, deadline: Instant) -> Result<Hello, BrowserError> {
    let mut control = Control::connect(socket, deadline)?;
    match control.request(&ControlRequest::Hello {})? {
        ControlResponse::Hello { instance, browser, state, control_session, .. } => {
            Ok(Hello { instance, browser, state, control_session })
        }
        other => Err(unexpected(other)),
    }
}

/// Claims the browser's pipe for the holder.
///
/// # Errors
/// `BUSY` while another client holds it, `BROWSER_GONE` when the browser is ending or gone.
pub fn claim(socket: &Path, holder: &InstanceId, deadline: Instant) -> Result<Claim, BrowserError> {
    let mut control = Control::connect(socket, deadline)?;
    match control.request(&ControlRequest::Claim { holder: holder.clone() })? {
        ControlResponse::Claimed { instance, browser, control_session, bidi } => {
            let mut descriptors = std::mem::take(&mut control.descriptors).into_iter();
            let (Some(to_browser), Some(from_browser)) = (descriptors.next(), descriptors.next()) else {
                return Err(BrowserError::Peer { peer: "The keeper", what: "a claim without the pipe" });
            };
            let control = control.stream;
            let _ = control.set_read_timeout(None).and_then(|()| control.set_write_timeout(None));
            Ok(Claim { to_browser, from_browser, control, control_session, bidi, browser, instance })
        }
        other => Err(unexpected(other)),
    }
}

/// Leaves a note for the next holder, on the connection that holds the claim.
///
/// # Errors
/// When the keeper is gone, or the connection does not hold the claim.
pub fn note_control_session(
    control: &UnixStream,
    control_session: Option<&str>,
    deadline: Instant,
) -> Result<(), BrowserError> {
    let stream =
        control.try_clone().map_err(|error| BrowserError::system("use", Path::new("control"), error))?;
    let mut control = Control::new(stream, Path::new("the claim"), deadline);
    match control.request(&ControlRequest::Note { control_session: control_session.map(str::to_owned) })? {
        ControlResponse::Noted {} => Ok(()),
        other => Err(unexpected(other)),
    }
}

/// Ends the browser. Returns when it is verified gone and its files are removed.
///
/// # Errors
/// When it is already gone, or is not gone before the deadline.
pub fn stop(socket: &Path, grace: Option<Duration>, deadline: Instant) -> Result<(), BrowserError> {
    let mut control = Control::connect(socket, deadline)?;
    let grace_ms = grace.map(|grace| u64::try_from(grace.as_millis()).unwrap_or(u64::MAX));
    match control.request(&ControlRequest::Stop { grace_ms })? {
        ControlResponse::Stopped {} => Ok(()),
        other => Err(unexpected(other)),
    }
}

/// The latest stderr output of the browser.
///
/// # Errors
/// When the keeper does not respond.
pub fn stderr(socket: &Path, deadline: Instant) -> Result<String, BrowserError> {
    match Control::connect(socket, deadline)?.request(&ControlRequest::Stderr {})? {
        ControlResponse::Stderr { text } => Ok(text),
        other => Err(unexpected(other)),
    }
}

fn unexpected(response: ControlResponse) -> BrowserError {
    match response {
        ControlResponse::Refused(failure) => failure.into(),
        _ => BrowserError::Peer { peer: "The keeper", what: "the response to another request" },
    }
}

/// One control connection to a keeper.
struct Control<'a> {
    stream: UnixStream,
    socket: &'a Path,
    started: Instant,
    deadline: Instant,
    descriptors: Vec<OwnedFd>,
}

impl<'a> Control<'a> {
    fn new(stream: UnixStream, socket: &'a Path, deadline: Instant) -> Self {
        Self { stream, socket, started: Instant::now(), deadline, descriptors: Vec::new() }
    }

    fn connect(socket: &'a Path, deadline: Instant) -> Result<Self, BrowserError> {
        let stream = unix_socket::connect(socket, deadline).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => Self::gone(socket),
            ErrorKind::TimedOut => {
                BrowserError::Timeout { what: "A response of the keeper", after: Duration::ZERO }
            }
            _ => BrowserError::system("connect to", socket, error),
        })?;
        Ok(Self::new(stream, socket, deadline))
    }

    fn gone(socket: &Path) -> BrowserError {
        BrowserError::Gone { what: socket.display().to_string() }
    }

    fn request(&mut self, request: &ControlRequest) -> Result<ControlResponse, BrowserError> {
        let mut line = serde_json::to_vec(request).map_err(|error| self.failed(error.into()))?;
        line.push(b'\n');
        self.stream.set_write_timeout(Some(self.time_left()?)).map_err(|error| self.failed(error))?;
        match self.stream.write_all(&line) {
            // The keeper may have refused the connection before the request. Its reason can still be read.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(self.failed(error)),
            _ => {}
        }
        let response = self.read_line()?;
        serde_json::from_slice(&response)
            .map_err(|_| BrowserError::Peer { peer: "The keeper", what: "an invalid response" })
    }

    fn read_line(&mut self) -> Result<Vec<u8>, BrowserError> {
        let mut line = Vec::new();
        let mut buffer = [0; 4096];
        while line.last() != Some(&b'\n') {
            self.stream.set_read_timeout(Some(self.time_left()?)).map_err(|error| self.failed(error))?;
            // The descriptors arrive with the first bytes of a line.
            let read =
                if line.is_empty() { self.receive(&mut buffer) } else { self.stream.read(&mut buffer) };
            match read {
                Ok(0) => return Err(Self::gone(self.socket)),
                Ok(read) => line.extend_from_slice(buffer.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
            if line.len() > limits::CONTROL_RESPONSE_BYTES {
                return Err(BrowserError::Peer { peer: "The keeper", what: "a response that is too long" });
            }
        }
        Ok(line)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        #[cfg(target_os = "linux")]
        let flags = RecvFlags::CMSG_CLOEXEC;
        #[cfg(not(target_os = "linux"))]
        let flags = RecvFlags::empty();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received =
            rustix::net::recvmsg(&self.stream, &mut [IoSliceMut::new(buffer)], &mut ancillary, flags)?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                for descriptor in descriptors {
                    // macOS has no `MSG_CMSG_CLOEXEC`: there a child that is started in between inherits
                    // the descriptor.
                    rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::CLOEXEC)?;
                    self.descriptors.push(descriptor);
                }
            }
        }
        Ok(received.bytes)
    }

    fn time_left(&self) -> Result<Duration, BrowserError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(self.timed_out()) } else { Ok(left) }
    }

    fn timed_out(&self) -> BrowserError {
        let after = self.deadline.saturating_duration_since(self.started);
        BrowserError::Timeout { what: "A response of the keeper", after }
    }

    fn failed(&self, error: std::io::Error) -> BrowserError {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => self.timed_out(),
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof => {
                Self::gone(self.socket)
            }
            _ => BrowserError::system("talk to", self.socket, error),
        }
    }
}
