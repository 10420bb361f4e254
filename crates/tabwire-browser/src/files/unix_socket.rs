//! Connects to a unix socket with a deadline.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

use crate::limits;

fn attempt(path: &Path) -> Result<UnixStream, Errno> {
    let address = SocketAddrUnix::new(path)?;
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    // A blocking connect waits for ever when the listener's backlog is full; this one fails with EAGAIN
    // (unix(7)).
    rustix::io::ioctl_fionbio(&socket, true)?;
    rustix::net::connect(&socket, &address)?;
    Ok(UnixStream::from(socket))
}

/// Connects, waiting for room in the listener's queue until the deadline.
pub(crate) fn connect(path: &Path, deadline: Instant) -> io::Result<UnixStream> {
    loop {
        match attempt(path) {
            Ok(stream) => {
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            Err(Errno::AGAIN) if Instant::now() < deadline => std::thread::sleep(limits::RECHECK),
            Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Whether a process listens there. A full accept queue also proves a listener.
pub(crate) fn is_listening(path: &Path) -> bool {
    matches!(attempt(path), Ok(_) | Err(Errno::AGAIN))
}
