//! The shim's connection to the daemon: one request for a browser, then messages until the browser ends. Two
//! descriptors for CDP frames may be sent with the request.

use std::io::{self, IoSlice, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use tabwire_api::api::{CHROME_UPGRADE, ChromeMessage, ChromeOpened, ChromeOpening};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_client::{RequestError, Upgrade, with_daemon};

/// How long the shim waits for its browser: the daemon's own launch timeout and some more. On Windows several programs
/// are started for one browser.
const OPEN_TIMEOUT: Duration = Duration::from_secs(90);

/// Longest message of the daemon: a failure with the last output lines of the browser.
pub(super) const MESSAGE_BYTES: usize = 256 * 1024;

/// A connection to the daemon.
#[derive(Debug)]
pub(super) struct DaemonStream {
    socket: UnixStream,
    /// Bytes of an incomplete message.
    read: Vec<u8>,
}

/// Requests a browser and waits for it. Starts the daemon if none runs, and replaces an older one.
///
/// # Errors
/// When there is no daemon, or no browser.
pub(super) fn open(
    path: &Path,
    opening: &ChromeOpening,
    descriptors: Option<[BorrowedFd<'_>; 2]>,
) -> Result<(DaemonStream, ChromeOpened), Failure> {
    let mut stream = with_daemon(path, || DaemonStream::connect(path))?;
    stream.send(opening, descriptors).map_err(|error| broken(&error))?;
    match stream.next_message()? {
        Some(ChromeMessage::Opened(opened)) => {
            // The next message comes when the browser ends, which may take days.
            stream.socket.set_read_timeout(None).map_err(|error| broken(&error))?;
            Ok((stream, opened))
        }
        Some(ChromeMessage::Failed(failure)) => Err(failure),
        _ => Err(broken(&io::ErrorKind::InvalidData.into())),
    }
}

impl DaemonStream {
    /// Connects, and waits until the daemon is ready for the request.
    fn connect(path: &Path) -> Result<Self, RequestError> {
        let upgrade =
            Upgrade { route: "/v1/chrome", protocol: CHROME_UPGRADE, opening: "", timeout: OPEN_TIMEOUT };
        let mut stream = Self { socket: upgrade.open(path, broken)?, read: Vec::new() };
        match stream.next_message() {
            Ok(Some(ChromeMessage::Ready {})) => Ok(stream),
            Ok(_) => Err(RequestError::Failed(broken(&io::ErrorKind::InvalidData.into()))),
            Err(failure) => Err(RequestError::Failed(failure)),
        }
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The socket, and the bytes of an incomplete message.
    pub(super) fn into_parts(self) -> (UnixStream, Vec<u8>) {
        (self.socket, self.read)
    }

    /// Notifies the daemon that the browser is no longer needed. The daemon still reports how it ends.
    pub(super) fn detach(&self) {
        // Fails only when the daemon is gone already.
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// Waits for the daemon's next message; `None` when the daemon is gone.
    ///
    /// # Errors
    /// When the message is invalid.
    pub(super) fn next_message(&mut self) -> Result<Option<ChromeMessage>, Failure> {
        let Some(line) = self.read_until(b"\n").map_err(|error| broken(&error))? else { return Ok(None) };
        serde_json::from_slice(&line).map(Some).map_err(|_| broken(&io::ErrorKind::InvalidData.into()))
    }

    /// The bytes up to and with a delimiter; `None` when the connection ends before.
    fn read_until(&mut self, delimiter: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let mut buffer = [0; 4096];
        loop {
            if let Some(at) = self.read.windows(delimiter.len()).position(|bytes| bytes == delimiter) {
                let rest = self.read.split_off(at + delimiter.len());
                return Ok(Some(std::mem::replace(&mut self.read, rest)));
            }
            if self.read.len() > MESSAGE_BYTES {
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

    /// Sends the request. The descriptors go with its first bytes.
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
        // The descriptors went with the first byte (unix(7)); the rest of a partly sent line must not send
        // them again.
        self.socket.write_all(line.get(sent..).unwrap_or_default())
    }
}

fn broken(error: &io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The daemon provided no browser: {error}."))
        .with_remedy(Remedy::new("Run {} to see why.", [Step::command("tabwire daemon logs")]))
}
