//! One client's line to the browser through the daemon: a pair of sockets for frames, one end of which the daemon has,
//! and the stream that says how it ends.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;

use tabwire_cdp::limits::BROWSER_MESSAGE_CEILING;
use tabwire_cdp::{FrameSink, FrameSource, PipeSink, PipeSource, TransportError};
use tabwire_wire::api::{ChromeEnd, ChromeEndReason, ChromeOpened, ChromeOpening, ChromeWord};
use tabwire_wire::{ErrorCode, Failure};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use crate::chrome::daemon_stream::{self, DaemonStream};
use crate::chrome::frame_tap::Line;
use crate::chrome::lifecycle::Found;
use crate::limits::CHROME_WORD_BYTES;

/// A line to the browser.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) source: FrameSource,
    pub(super) sink: FrameSink,
    pub(super) ending: Ending,
    pub(super) opened: ChromeOpened,
}

/// The stream that says how a line ends.
#[derive(Debug)]
pub(super) struct Ending {
    stream: BufReader<UnixStream>,
    /// What was read before and belongs to the next word.
    read: Vec<u8>,
}

impl Link {
    /// Opens a line, starting daemon and browser where needed.
    ///
    /// # Errors
    /// When there is no daemon or no browser.
    pub(super) async fn open(socket: PathBuf, opening: ChromeOpening) -> Result<Self, Failure> {
        let opened = tokio::task::spawn_blocking(move || open_blocking(&socket, &opening)).await;
        let (ours, stream, opened) = opened.map_err(|error| ended_early(&error))??;
        let other = ours.try_clone().map_err(|error| broken(&error))?;
        let source = PipeSource::new(OwnedFd::from(ours), BROWSER_MESSAGE_CEILING);
        let sink = PipeSink::new(OwnedFd::from(other));
        Ok(Self {
            source: source.map_err(TransportError::into_failure)?.into(),
            sink: sink.map_err(TransportError::into_failure)?.into(),
            ending: Ending::new(stream).map_err(|error| broken(&error))?,
            opened,
        })
    }

    /// Whether the browser was there before.
    pub(super) fn found(&self) -> Found {
        Found::of(&self.opened)
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

/// Has the daemon serve a launcher on its own pipe; gives the stream that says how that ends.
///
/// # Errors
/// When there is no daemon or no browser.
pub(super) async fn hand_over(
    socket: PathBuf,
    opening: ChromeOpening,
    line: Line,
) -> Result<Ending, Failure> {
    let opened =
        tokio::task::spawn_blocking(move || daemon_stream::open(&socket, &opening, Some(line.descriptors())));
    let (stream, _) = opened.await.map_err(|error| ended_early(&error))??;
    Ending::new(stream).map_err(|error| broken(&error))
}

impl Ending {
    fn new(stream: DaemonStream) -> io::Result<Self> {
        let (stream, read) = stream.into_parts();
        stream.set_nonblocking(true)?;
        Ok(Self { stream: BufReader::new(UnixStream::from_std(stream)?), read })
    }

    /// Waits until it is said how the line ended; a daemon that is gone says nothing.
    pub(super) async fn wait(&mut self) -> ChromeEnd {
        let mut line = std::mem::take(&mut self.read);
        let bound = u64::try_from(CHROME_WORD_BYTES).unwrap_or(u64::MAX);
        let read = match line.ends_with(b"\n") {
            true => Ok(line.len()),
            false => (&mut self.stream).take(bound).read_until(b'\n', &mut line).await,
        };
        match (read, serde_json::from_slice(&line)) {
            (Ok(_), Ok(ChromeWord::Ended(end))) => end,
            _ => ChromeEnd { why: ChromeEndReason::DaemonEnds, sentence: "The daemon is gone.".to_owned() },
        }
    }

    /// Tells the daemon that the line is wanted no more.
    pub(super) async fn hang_up(&mut self) {
        // A daemon that has gone needs not be told.
        let _ = self.stream.get_mut().shutdown().await;
    }
}

fn ended_early(error: &tokio::task::JoinError) -> Failure {
    Failure::new(ErrorCode::Internal, format!("Opening a line to the browser ended early: {error}."))
}

fn broken(error: &io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("A line to the browser cannot be made: {error}."))
}
