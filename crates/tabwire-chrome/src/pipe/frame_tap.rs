//! The pipe that the daemon gets: the launcher's own, or a socket whose frames are copied to the launcher's pipe and
//! to the frame log.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::time::Duration;

use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::DebuggingPipe;

use crate::frame_log::{ClientFrames, FrameLog};
use crate::limits::FRAME_LOG_BYTES;

/// Longest frame that is logged whole.
const LOGGED_FRAME_BYTES: usize = FRAME_LOG_BYTES;

/// How long a launcher may take to read the last frames.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// The launcher's pipe as the daemon gets it.
#[derive(Debug)]
pub(crate) enum LauncherPipe {
    /// The pipe itself.
    Direct(DebuggingPipe),
    /// A socket whose frames are logged and copied to the pipe.
    Tapped(UnixStream, Tap),
}

/// Two threads that copy frames until the pipe or the socket is closed.
#[derive(Debug)]
pub(crate) struct Tap {
    done: mpsc::Receiver<()>,
}

impl LauncherPipe {
    /// Logs the frames of `pipe` if there is a log.
    ///
    /// # Errors
    /// When no socket or thread can be created.
    pub(crate) fn new(pipe: DebuggingPipe, frames: Option<&FrameLog>) -> Result<Self, Failure> {
        match frames {
            None => Ok(Self::Direct(pipe)),
            Some(frames) => tap(pipe, frames.client()).map_err(|error| {
                let message = format!("The launcher's frames cannot be logged: {error}.");
                Failure::new(ErrorCode::Internal, message)
            }),
        }
    }

    /// The descriptors for the daemon: one to read commands from, one to write responses to.
    pub(crate) fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        match self {
            Self::Direct(pipe) => [pipe.commands.as_fd(), pipe.responses.as_fd()],
            Self::Tapped(socket, _) => [socket.as_fd(), socket.as_fd()],
        }
    }

    /// Closes this process's copies of the descriptors. While they are open, the launcher does not see that the daemon
    /// closed its copies.
    pub(crate) fn release(self) -> Option<Tap> {
        match self {
            Self::Direct(_) => None,
            Self::Tapped(_, tap) => Some(tap),
        }
    }
}

impl Tap {
    /// Waits until the launcher has read the last frames, at most [`DRAIN_TIMEOUT`].
    pub(crate) fn finish(self) {
        let _ = self.done.recv_timeout(DRAIN_TIMEOUT);
    }
}

fn tap(pipe: DebuggingPipe, frames: ClientFrames) -> io::Result<LauncherPipe> {
    let (ours, theirs) = UnixStream::pair()?;
    let DebuggingPipe { commands, responses } = pipe;
    for descriptor in [&commands, &responses] {
        rustix::io::ioctl_fionbio(descriptor, false)?;
    }
    let (from_launcher, to_launcher) = (File::from(commands), File::from(responses));
    let (from_browser, from_client) = (frames.clone(), frames);
    let (mut source, sink) = (ours.try_clone()?, ours);
    let (sender, done) = mpsc::channel();
    let start = |name: &str| std::thread::Builder::new().name(name.to_owned()).stack_size(256 * 1024);
    start("frames-out").spawn(move || {
        copy(&mut source, to_launcher, |frame| from_browser.log_browser(frame));
        drop(sender);
    })?;
    start("frames-in").spawn(move || {
        let mut from_launcher = from_launcher;
        copy(&mut from_launcher, &sink, |frame| from_client.log_client(frame));
        // Signals to the daemon that the launcher has closed its pipe.
        let _ = sink.shutdown(Shutdown::Write);
    })?;
    Ok(LauncherPipe::Tapped(theirs, Tap { done }))
}

/// Copies until either end is closed. Calls `show` with every complete frame.
fn copy(source: &mut impl Read, mut sink: impl Write, mut show: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 64 * 1024];
    let mut frame = Vec::new();
    loop {
        let read = match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => buffer.get(..read).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        // On a pipe, each message ends with one NUL. JSON contains none: it is escaped in strings.
        let mut parts = read.split(|byte| *byte == 0).peekable();
        while let Some(part) = parts.next() {
            if frame.len() + part.len() <= LOGGED_FRAME_BYTES {
                frame.extend_from_slice(part);
            }
            if parts.peek().is_some() {
                show(&frame);
                frame.clear();
            }
        }
        if sink.write_all(read).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use super::*;

    /// The launcher's end and the browser's end of a pipe.
    fn pipe_pair() -> (UnixStream, DebuggingPipe) {
        let (launcher, browser) = UnixStream::pair().unwrap();
        let other = browser.try_clone().unwrap();
        (launcher, DebuggingPipe { commands: OwnedFd::from(browser), responses: OwnedFd::from(other) })
    }

    #[test]
    fn frames_are_copied_both_ways_and_logged_complete() {
        let home = tempfile::tempdir().unwrap();
        let log = FrameLog::open(&home.path().join("frames")).unwrap();
        let (mut launcher, pipe) = pipe_pair();
        let pipe = LauncherPipe::new(pipe, Some(&log)).unwrap();
        let mut daemon = UnixStream::from(pipe.descriptors()[0].try_clone_to_owned().unwrap());
        let tap = pipe.release().unwrap();
        launcher.write_all(b"{\"id\":1}\0{\"id\"").unwrap();
        launcher.write_all(b":2}\0").unwrap();
        let mut read = [0; 18];
        daemon.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"{\"id\":1}\0{\"id\":2}\0");
        daemon.write_all(b"{\"id\":1,\"result\":{}}\0").unwrap();
        drop(daemon);
        tap.finish();
        let mut received = Vec::new();
        launcher.shutdown(Shutdown::Write).unwrap();
        launcher.read_to_end(&mut received).unwrap();
        assert_eq!(received, b"{\"id\":1,\"result\":{}}\0");
        let text = std::fs::read_to_string(log.path()).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains("\"from\":\"client\"") && text.contains("\"frame\":{\"id\":2}"), "{text}");
    }

    #[test]
    fn without_a_log_the_daemon_gets_the_pipe_itself() {
        let (_launcher, pipe) = pipe_pair();
        let pipe = LauncherPipe::new(pipe, None).unwrap();
        assert!(matches!(pipe, LauncherPipe::Direct(_)) && pipe.release().is_none());
    }
}
