//! The line to the daemon that a stand-in has for as long as it has a browser: what it wants, then what it is told.
//! Two descriptors for frames may be handed over with the first word.

use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use tabwire_wire::api::{
    CHROME_UPGRADE, ChromeOpened, ChromeOpening, ChromeWord, ErrorAnswer, SOCKET_HOST, VERSION_HEADER,
};
use tabwire_wire::{ErrorCode, Failure, VERSION};

use crate::daemon_client::{AskError, connect};
use crate::daemon_start::reach_daemon;
use crate::limits::{CHROME_OPEN_DEADLINE, CHROME_WORD_BYTES};

/// A line to the daemon.
#[derive(Debug)]
pub(super) struct DaemonStream {
    socket: UnixStream,
    /// What was read and belongs to no whole word yet.
    read: Vec<u8>,
}

/// Opens a line and waits for the browser, starting the daemon if none runs and replacing an older one.
///
/// # Errors
/// When there is no daemon, or no browser.
pub(super) fn open(
    path: &Path,
    opening: &ChromeOpening,
    descriptors: Option<[BorrowedFd<'_>; 2]>,
) -> Result<(DaemonStream, ChromeOpened), Failure> {
    let mut stream = reach_daemon(path, || DaemonStream::connect(path))?;
    stream.send(opening, descriptors).map_err(|error| broken(&error))?;
    match stream.next_word()? {
        Some(ChromeWord::Opened(opened)) => {
            // From here on nobody knows when the next word comes.
            stream.socket.set_read_timeout(None).map_err(|error| broken(&error))?;
            Ok((stream, opened))
        }
        Some(ChromeWord::Failed(failure)) => Err(failure),
        _ => Err(broken(&io::ErrorKind::InvalidData.into())),
    }
}

impl DaemonStream {
    /// Connects, and waits until the daemon wants to hear what is wanted.
    fn connect(path: &Path) -> Result<Self, AskError> {
        let mut socket = connect(path)?;
        let failed = |error: io::Error| AskError::Failed(broken(&error));
        socket.set_read_timeout(Some(CHROME_OPEN_DEADLINE)).map_err(failed)?;
        let request = format!(
            "GET /v1/chrome HTTP/1.1\r\nHost: {SOCKET_HOST}\r\n{VERSION_HEADER}: {VERSION}\r\nConnection: Upgrade\r\n\
             Upgrade: {CHROME_UPGRADE}\r\n\r\n"
        );
        socket.write_all(request.as_bytes()).map_err(failed)?;
        let mut stream = Self { socket, read: Vec::new() };
        let head = stream.next_part(b"\r\n\r\n").map_err(failed)?.unwrap_or_default();
        if head.split(|byte| *byte == b' ').nth(1) != Some(b"101") {
            return Err(stream.refusal());
        }
        match stream.next_word() {
            Ok(Some(ChromeWord::Ready {})) => Ok(stream),
            Ok(_) => Err(failed(io::ErrorKind::InvalidData.into())),
            Err(failure) => Err(AskError::Failed(failure)),
        }
    }

    /// To wait on.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The bare stream, and what was read of it and belongs to no whole word yet.
    pub(super) fn into_parts(self) -> (UnixStream, Vec<u8>) {
        (self.socket, self.read)
    }

    /// Tells the daemon that the browser is wanted no more; what becomes of it is still told.
    pub(super) fn hang_up(&self) {
        // A daemon that has gone needs not be told.
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// Waits for the daemon's next word; none when the daemon is gone.
    ///
    /// # Errors
    /// When what it says is not understood.
    pub(super) fn next_word(&mut self) -> Result<Option<ChromeWord>, Failure> {
        let Some(line) = self.next_part(b"\n").map_err(|error| broken(&error))? else { return Ok(None) };
        serde_json::from_slice(&line).map(Some).map_err(|_| broken(&io::ErrorKind::InvalidData.into()))
    }

    /// The bytes up to a mark; none when the line ends before.
    fn next_part(&mut self, mark: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let mut buffer = [0; 4096];
        loop {
            if let Some(at) = self.read.windows(mark.len()).position(|bytes| bytes == mark) {
                let rest = self.read.split_off(at + mark.len());
                return Ok(Some(std::mem::replace(&mut self.read, rest)));
            }
            if self.read.len() > CHROME_WORD_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
            match self.socket.read(&mut buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => self.read.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Says what is wanted. The descriptors go with the first bytes.
    fn send(&mut self, opening: &ChromeOpening, descriptors: Option<[BorrowedFd<'_>; 2]>) -> io::Result<()> {
        let mut line = serde_json::to_vec(opening)?;
        line.push(b'\n');
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if let Some(descriptors) = &descriptors {
            ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        let sent =
            rustix::net::sendmsg(&self.socket, &[IoSlice::new(&line)], &mut ancillary, SendFlags::empty())?;
        self.socket.write_all(line.get(sent..).unwrap_or_default())
    }

    /// Why the daemon does not serve this.
    fn refusal(&mut self) -> AskError {
        // The daemon keeps the connection for further requests; its answer is short, and ends with a brace.
        let body = self.next_part(b"}}").ok().flatten().unwrap_or_default();
        match serde_json::from_slice::<ErrorAnswer>(&body) {
            Ok(ErrorAnswer { error }) => AskError::of(error),
            Err(_) => AskError::Failed(broken(&io::ErrorKind::InvalidData.into())),
        }
    }
}

fn broken(error: &io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The daemon gave no browser: {error}."))
        .with_hint("Run `tabwire daemon logs` to see why.")
}
