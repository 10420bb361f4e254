//! One client's connection to the browser through the daemon: a socket pair for CDP frames, and the daemon's message of
//! how it ends.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;

use tabwire_api::api::{ChromeEnd, ChromeEndReason, ChromeMessage, ChromeOpened, ChromeOpening};
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::limits::BROWSER_MESSAGE_CEILING;
use tabwire_cdp::{FrameSink, FrameSource, PipeSink, PipeSource, TransportError};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use crate::daemon_stream::{self, DaemonStream, MESSAGE_BYTES};
use crate::lifecycle::BrowserOrigin;
use crate::pipe::frame_tap::LauncherPipe;

/// A connection to the browser.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) source: FrameSource,
    pub(super) sink: FrameSink,
    pub(super) end: EndReceiver,
    pub(super) opened: ChromeOpened,
}

/// Receives the daemon's message of how a connection ended.
#[derive(Debug)]
pub(super) struct EndReceiver {
    stream: BufReader<UnixStream>,
    /// Bytes of an incomplete message.
    read: Vec<u8>,
}

impl Link {
    /// Connects to the browser. Starts the daemon and the browser where needed.
    ///
    /// # Errors
    /// When the daemon or the browser cannot be started.
    pub(super) async fn open(socket: PathBuf, opening: ChromeOpening) -> Result<Self, Failure> {
        let opened = tokio::task::spawn_blocking(move || open_blocking(&socket, &opening)).await;
        let (ours, stream, opened) = opened.map_err(|error| interrupted(&error))??;
        let other = ours.try_clone().map_err(|error| broken(&error))?;
        let source = PipeSource::new(OwnedFd::from(ours), BROWSER_MESSAGE_CEILING);
        let sink = PipeSink::new(OwnedFd::from(other));
        Ok(Self {
            source: source.map_err(TransportError::into_failure)?.into(),
            sink: sink.map_err(TransportError::into_failure)?.into(),
            end: EndReceiver::new(stream).map_err(|error| broken(&error))?,
            opened,
        })
    }

    pub(super) fn origin(&self) -> BrowserOrigin {
        BrowserOrigin::from_opened(&self.opened)
    }
}

fn open_blocking(
    socket: &std::path::Path,
    opening: &ChromeOpening,
) -> Result<(StdUnixStream, DaemonStream, ChromeOpened), Failure> {
    let (ours, theirs) = StdUnixStream::pair().map_err(|error| broken(&error))?;
    let (stream, opened) = daemon_stream::open(socket, opening, Some([theirs.as_fd(), theirs.as_fd()]))?;
    Ok((ours, stream, opened))
}

/// Hands the launcher's pipe to the daemon.
///
/// # Errors
/// When the daemon or the browser cannot be started.
pub(super) async fn hand_over_pipe(
    socket: PathBuf,
    opening: ChromeOpening,
    pipe: LauncherPipe,
) -> Result<EndReceiver, Failure> {
    let opened =
        tokio::task::spawn_blocking(move || daemon_stream::open(&socket, &opening, Some(pipe.descriptors())));
    let (stream, _) = opened.await.map_err(|error| interrupted(&error))??;
    EndReceiver::new(stream).map_err(|error| broken(&error))
}

impl EndReceiver {
    fn new(stream: DaemonStream) -> io::Result<Self> {
        let (stream, read) = stream.into_parts();
        stream.set_nonblocking(true)?;
        Ok(Self { stream: BufReader::new(UnixStream::from_std(stream)?), read })
    }

    /// Waits for the message; when the daemon is gone, returns [`ChromeEndReason::DaemonEnds`].
    pub(super) async fn wait(&mut self) -> ChromeEnd {
        let mut line = std::mem::take(&mut self.read);
        let bound = u64::try_from(MESSAGE_BYTES).unwrap_or(u64::MAX);
        let read = match line.ends_with(b"\n") {
            true => Ok(line.len()),
            false => (&mut self.stream).take(bound).read_until(b'\n', &mut line).await,
        };
        match (read, serde_json::from_slice(&line)) {
            (Ok(_), Ok(ChromeMessage::Ended(end))) => end,
            _ => ChromeEnd { why: ChromeEndReason::DaemonEnds, sentence: "The daemon exited.".to_owned() },
        }
    }

    /// Notifies the daemon that the browser is no longer needed.
    pub(super) async fn detach(&mut self) {
        // Fails only when the daemon is gone already.
        let _ = self.stream.get_mut().shutdown().await;
    }
}

fn interrupted(error: &tokio::task::JoinError) -> Failure {
    Failure::new(ErrorCode::Internal, format!("Connecting to the browser was interrupted: {error}."))
}

fn broken(error: &io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The connection to the browser failed: {error}."))
}
