//! A launcher's pipe with somebody listening on it: frames are copied between it and a socket of ours, and written down
//! in passing. Only there when frames are wanted; otherwise the pipe itself is handed over.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;

use tabwire_browser::DebuggingPipe;
use tabwire_wire::{ErrorCode, Failure};

use super::frame_log::{ClientFrames, FrameLog};
use crate::limits::{CHROME_FRAMES_END, CHROME_TAP_BYTES};

/// What stands for a launcher's pipe towards the daemon.
#[derive(Debug)]
pub(super) enum Line {
    /// The pipe itself.
    Bare(DebuggingPipe),
    /// A socket, behind which frames are written down.
    Tapped(UnixStream, Tap),
}

/// Two threads that copy; they end with the pipe and the socket.
#[derive(Debug)]
pub(super) struct Tap {
    done: mpsc::Receiver<()>,
}

impl Line {
    /// Listens on a pipe if frames are wanted.
    ///
    /// # Errors
    /// When the system has no sockets or threads left.
    pub(super) fn new(pipe: DebuggingPipe, frames: Option<&FrameLog>) -> Result<Self, Failure> {
        match frames {
            None => Ok(Self::Bare(pipe)),
            Some(frames) => tap(pipe, frames.client()).map_err(|error| {
                let message = format!("The launcher's frames cannot be written down: {error}.");
                Failure::new(ErrorCode::Internal, message)
            }),
        }
    }

    /// The descriptors that the daemon gets: what it reads commands from and what it writes answers to.
    pub(super) fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        match self {
            Self::Bare(pipe) => [pipe.commands.as_fd(), pipe.answers.as_fd()],
            Self::Tapped(socket, _) => [socket.as_fd(), socket.as_fd()],
        }
    }

    /// Lets go of what the daemon has by now: ours would hide its end from the launcher.
    pub(super) fn release(self) -> Option<Tap> {
        match self {
            Self::Bare(_) => None,
            Self::Tapped(_, tap) => Some(tap),
        }
    }
}

impl Tap {
    /// Waits until the launcher has been told all that was said to it.
    pub(super) fn finish(self) {
        // A launcher that does not read is not waited for.
        let _ = self.done.recv_timeout(CHROME_FRAMES_END);
    }
}

fn tap(pipe: DebuggingPipe, frames: ClientFrames) -> io::Result<Line> {
    let (ours, theirs) = UnixStream::pair()?;
    let DebuggingPipe { commands, answers } = pipe;
    for descriptor in [&commands, &answers] {
        rustix::io::ioctl_fionbio(descriptor, false)?;
    }
    let (from_launcher, to_launcher) = (File::from(commands), File::from(answers));
    let (told, asked) = (frames.clone(), frames);
    let (mut source, sink) = (ours.try_clone()?, ours);
    let (sender, done) = mpsc::channel();
    let start = |name: &str| std::thread::Builder::new().name(name.to_owned()).stack_size(256 * 1024);
    start("frames-out").spawn(move || {
        copy(&mut source, to_launcher, |frame| told.told(frame));
        drop(sender);
    })?;
    start("frames-in").spawn(move || {
        let mut from_launcher = from_launcher;
        copy(&mut from_launcher, &sink, |frame| asked.asked(frame));
        // The daemon sees that the launcher has hung up.
        let _ = sink.shutdown(Shutdown::Write);
    })?;
    Ok(Line::Tapped(theirs, Tap { done }))
}

/// Copies until either end is gone; whole frames are shown in passing.
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
        let mut parts = read.split(|byte| *byte == 0).peekable();
        while let Some(part) = parts.next() {
            if frame.len() + part.len() <= CHROME_TAP_BYTES {
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

    /// A pipe for tests: what a launcher has of it, and what its browser gets.
    fn pipe_pair() -> (UnixStream, DebuggingPipe) {
        let (launcher, browser) = UnixStream::pair().unwrap();
        let other = browser.try_clone().unwrap();
        (launcher, DebuggingPipe { commands: OwnedFd::from(browser), answers: OwnedFd::from(other) })
    }

    #[test]
    fn frames_pass_both_ways_and_are_written_down_whole() {
        let home = tempfile::tempdir().unwrap();
        let log = FrameLog::open(&home.path().join("frames")).unwrap();
        let (mut launcher, pipe) = pipe_pair();
        let line = Line::new(pipe, Some(&log)).unwrap();
        let mut daemon = UnixStream::from(line.descriptors()[0].try_clone_to_owned().unwrap());
        let tap = line.release().unwrap();
        launcher.write_all(b"{\"id\":1}\0{\"id\"").unwrap();
        launcher.write_all(b":2}\0").unwrap();
        let mut read = [0; 18];
        daemon.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"{\"id\":1}\0{\"id\":2}\0");
        daemon.write_all(b"{\"id\":1,\"result\":{}}\0").unwrap();
        drop(daemon);
        tap.finish();
        let mut told = Vec::new();
        launcher.shutdown(Shutdown::Write).unwrap();
        launcher.read_to_end(&mut told).unwrap();
        assert_eq!(told, b"{\"id\":1,\"result\":{}}\0");
        let text = std::fs::read_to_string(log.path()).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains("\"from\":\"client\"") && text.contains("\"frame\":{\"id\":2}"), "{text}");
    }

    #[test]
    fn without_a_log_the_pipe_itself_is_handed_over() {
        let (_launcher, pipe) = pipe_pair();
        let line = Line::new(pipe, None).unwrap();
        assert!(matches!(line, Line::Bare(_)) && line.release().is_none());
    }
}
