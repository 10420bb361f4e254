//! The client's input on stdin, and whether the client is still there.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// This many bytes were read.
    Data(usize),
    /// The client has closed its end, or the process that started us has gone.
    ClientGone,
    /// The daemon has gone, or the client reads no more.
    DaemonGone,
}

/// The client's end.
#[derive(Debug)]
pub(crate) struct ClientInput {
    /// Readable when the parent process has exited; a wrapper may keep stdin open beyond that (F26).
    parent: Option<OwnedFd>,
}

impl ClientInput {
    /// Watches the client from now on.
    pub(crate) fn watch() -> Self {
        Self { parent: watch_parent() }
    }

    /// Waits for input, the client's exit or the daemon's exit; reads the input.
    pub(crate) fn next(&self, daemon: Option<BorrowedFd<'_>>, buffer: &mut [u8]) -> io::Result<Next> {
        match self.wait(daemon)? {
            Next::Data(_) => match rustix::io::read(io::stdin(), buffer)? {
                0 => Ok(Next::ClientGone),
                count => Ok(Next::Data(count)),
            },
            gone => Ok(gone),
        }
    }

    /// Waits until the client has sent something. Returns false when the client is gone.
    pub(crate) fn wait_for_input(&self) -> io::Result<bool> {
        let has_spoken = matches!(self.wait(None)?, Next::Data(_));
        Ok(has_spoken && rustix::io::ioctl_fionread(io::stdin()).map_or(true, |count| count > 0))
    }

    fn wait(&self, daemon: Option<BorrowedFd<'_>>) -> io::Result<Next> {
        let stdin = io::stdin();
        let parent = self.parent.as_ref().map(AsFd::as_fd);
        let (has_daemon, has_parent) = (daemon.is_some(), parent.is_some());
        let mut fds = vec![PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        fds.extend(daemon.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::empty())));
        fds.extend(parent.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        loop {
            match poll(&mut fds, None) {
                Ok(_) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let happened = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
        let daemon_gone = has_daemon && happened(1);
        let parent_gone = has_parent && happened(1 + usize::from(has_daemon));
        Ok(match (daemon_gone, happened(0), parent_gone) {
            (true, ..) => Next::DaemonGone,
            // Input before the end is still forwarded.
            (false, false, true) => Next::ClientGone,
            (false, true, _) | (false, false, false) => Next::Data(0),
        })
    }
}

#[cfg(target_os = "linux")]
fn watch_parent() -> Option<OwnedFd> {
    let parent = rustix::process::getppid()?;
    rustix::process::pidfd_open(parent, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn watch_parent() -> Option<OwnedFd> {
    None
}
