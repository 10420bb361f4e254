//! One control connection. It carries lines, with a bounded buffer in both directions.

use std::io::{ErrorKind, IoSlice, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use super::control_message::ControlResponse;
use crate::limits;

/// Identifies a connection. Keys are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionKey(pub(super) u64);

/// The result of reading a connection.
#[derive(Debug)]
pub(super) enum Received {
    /// Complete lines, possibly none yet.
    Lines(Vec<Vec<u8>>),
    /// The peer closed the connection, or sent too much.
    Closed,
}

/// A connection to a peer with the keeper's user id.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) key: ConnectionKey,
    /// The peer waits for the browser's end (`stop`).
    pub(super) waits_for_stop: bool,
    last_received_at: Instant,
    stream: UnixStream,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Connection {
    /// Accepts a connection if the peer has this process's user id.
    pub(super) fn accept(key: ConnectionKey, stream: UnixStream) -> Option<Self> {
        // POSIX says nothing about the mode of a socket file, and older BSD systems ignore it (unix(7)).
        let ours = peer_uid(&stream)? == rustix::process::geteuid().as_raw();
        if !ours || stream.set_nonblocking(true).is_err() {
            return None;
        }
        let last_received_at = Instant::now();
        Some(Self {
            key,
            waits_for_stop: false,
            last_received_at,
            stream,
            input: Vec::new(),
            output: Vec::new(),
        })
    }

    /// When the peer last sent a line.
    pub(super) fn last_received_at(&self) -> Instant {
        self.last_received_at
    }

    /// The descriptor for `poll`.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Whether bytes of a response are not sent yet.
    pub(super) fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// Reads available bytes.
    pub(super) fn receive(&mut self) -> Received {
        let mut buffer = [0; 4096];
        loop {
            let read = self.stream.read(&mut buffer);
            if read.is_ok() {
                self.last_received_at = Instant::now();
            }
            match read {
                Ok(0) => return Received::Closed,
                Ok(read) => self.input.extend_from_slice(buffer.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return Received::Closed,
            }
            if self.input.len() > limits::CONTROL_LINE_BYTES {
                return Received::Closed;
            }
        }
        let mut lines = Vec::new();
        while let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
            let rest = self.input.split_off(end + 1);
            let mut line = std::mem::replace(&mut self.input, rest);
            line.pop();
            lines.push(line);
        }
        Received::Lines(lines)
    }

    /// Queues a response and sends as much as possible. False if the peer is lost.
    pub(super) fn send(&mut self, response: &ControlResponse) -> bool {
        let Some(line) = as_line(response) else { return false };
        if self.output.len() + line.len() > 2 * limits::CONTROL_RESPONSE_BYTES {
            return false;
        }
        self.output.extend_from_slice(&line);
        self.flush()
    }

    /// Sends a response with file descriptors. False if the peer is lost.
    pub(super) fn send_with_descriptors(
        &mut self,
        response: &ControlResponse,
        descriptors: &[BorrowedFd<'_>; 2],
    ) -> bool {
        let Some(line) = as_line(response) else { return false };
        if self.has_output() {
            return false;
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return false;
        }
        let sent =
            rustix::net::sendmsg(&self.stream, &[IoSlice::new(&line)], &mut ancillary, SendFlags::empty());
        // The descriptors go with the first byte (unix(7)); the rest of a partly sent line needs none.
        let Some(rest) = sent.ok().and_then(|sent| line.get(sent..)) else { return false };
        self.output.extend_from_slice(rest);
        self.flush()
    }

    /// Sends as much as possible. False if the peer is lost.
    pub(super) fn flush(&mut self) -> bool {
        while self.has_output() {
            match self.stream.write(&self.output) {
                Ok(0) => return false,
                Ok(sent) => drop(self.output.drain(..sent)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(_) => return false,
            }
        }
        true
    }

    /// Sends a last response, and waits up to `timeout` for the peer to read it.
    pub(super) fn send_last(mut self, response: &ControlResponse, timeout: Duration) {
        let blocking = self.stream.set_nonblocking(false).is_ok();
        if blocking && self.stream.set_write_timeout(Some(timeout)).is_ok() {
            self.send(response);
        }
    }
}

fn as_line(response: &ControlResponse) -> Option<Vec<u8>> {
    let mut line = serde_json::to_vec(response).ok()?;
    line.push(b'\n');
    Some(line)
}

#[cfg(target_os = "linux")]
fn peer_uid(stream: &UnixStream) -> Option<u32> {
    rustix::net::sockopt::socket_peercred(stream).ok().map(|peer| peer.uid.as_raw())
}

#[cfg(not(target_os = "linux"))]
#[expect(unsafe_code, reason = "rustix has no getpeereid")]
fn peer_uid(stream: &UnixStream) -> Option<u32> {
    use std::os::fd::AsRawFd as _;
    let (mut user, mut group) = (0, 0);
    // SAFETY: the descriptor is open for the whole call, and both pointers point to
    // initialised local variables of the right type that outlive it.
    let status = unsafe { libc::getpeereid(stream.as_raw_fd(), &mut user, &mut group) };
    (status == 0).then_some(user)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    use super::{Connection, ConnectionKey, Received};
    use crate::keeper::ControlResponse;
    use crate::limits;

    fn pair() -> (UnixStream, Connection) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (ours, Connection::accept(ConnectionKey(1), theirs).expect("the peer is this process"))
    }

    #[test]
    fn lines_are_received_complete_and_in_order() {
        let (mut peer, mut connection) = pair();
        peer.write_all(b"one\ntw").unwrap();
        assert!(matches!(connection.receive(), Received::Lines(lines) if lines == [b"one"]));
        peer.write_all(b"o\n\nthree\n").unwrap();
        assert!(
            matches!(connection.receive(), Received::Lines(lines) if lines == [&b"two"[..], b"", b"three"])
        );
        drop(peer);
        assert!(matches!(connection.receive(), Received::Closed));
    }

    #[test]
    fn overlong_line_closes_the_connection() {
        let (mut peer, mut connection) = pair();
        let writer = std::thread::spawn(move || peer.write_all(&vec![b'x'; 4 * limits::CONTROL_LINE_BYTES]));
        loop {
            match connection.receive() {
                Received::Closed => break,
                Received::Lines(lines) => assert!(lines.is_empty()),
            }
        }
        drop(connection);
        assert!(writer.join().unwrap().is_err());
    }

    #[test]
    fn peer_that_does_not_read_causes_no_wait_and_no_growth() {
        let (mut peer, mut connection) = pair();
        let response = ControlResponse::Stderr { text: "x".repeat(limits::STDERR_RING_BYTES) };
        let sent = (0..1000).take_while(|_| connection.send(&response)).count();
        assert!(sent < 1000 && connection.has_output());
        let mut taken = vec![0; 1000];
        peer.read_exact(&mut taken).unwrap();
        assert!(taken.starts_with(b"{\"stderr\":"));
    }
}
