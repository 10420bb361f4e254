//! The wires to one browser: frames in, frames out, and the keeper's line if it has one.

use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;

use tabwire_browser::Claim;
use tabwire_cdp::limits::BROWSER_MESSAGE_CEILING;
use tabwire_cdp::{FrameSink, FrameSource, PipeSink, PipeSource, TransportError};
use tabwire_wire::UpstreamKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::driver_board::DriverBoard;

/// A connection to one browser, ready for a hub.
#[derive(Debug)]
pub struct BrowserLink {
    pub(crate) kind: UpstreamKind,
    pub(crate) source: FrameSource,
    pub(crate) sink: FrameSink,
    pub(crate) keeper: Option<KeeperLine>,
    pub(crate) earlier_house: Option<String>,
    /// Where downloads wait until they are placed; absent when the browser's disk may not be ours.
    pub(crate) staging: Option<PathBuf>,
    /// Where its user is told who drives what; absent when nobody wants to know.
    pub(crate) board: Option<DriverBoard>,
}

impl BrowserLink {
    /// Takes over a launched browser's pipe.
    ///
    /// # Errors
    /// When the descriptors are not usable.
    pub fn from_claim(claim: Claim) -> Result<Self, TransportError> {
        let source = PipeSource::resume(claim.from_browser, BROWSER_MESSAGE_CEILING)?;
        let sink = PipeSink::resume(claim.to_browser)?;
        let keeper = KeeperLine::new(claim.control)
            .map_err(|error| TransportError::io("taking over the keeper's line", &error))?;
        Ok(Self {
            kind: UpstreamKind::Pipe,
            source: source.into(),
            sink: sink.into(),
            keeper: Some(keeper),
            earlier_house: claim.house,
            staging: None,
            board: None,
        })
    }

    /// The user's own browser, emulated in front of its extension.
    pub(crate) fn of_extension((source, sink): (FrameSource, FrameSink), board: DriverBoard) -> Self {
        let (keeper, earlier_house, staging) = (None, None, None);
        let board = Some(board);
        Self { kind: UpstreamKind::Extension, source, sink, keeper, earlier_house, staging, board }
    }

    /// A browser whose frames PowerShell of Windows relays.
    pub(crate) fn of_relay((source, sink): (FrameSource, FrameSink)) -> Self {
        let (keeper, earlier_house, staging, board) = (None, None, None, None);
        Self { kind: UpstreamKind::Websocket, source, sink, keeper, earlier_house, staging, board }
    }

    /// Has downloads in shared contexts saved in this directory until they go to their clients.
    #[must_use]
    pub fn with_staging(mut self, directory: PathBuf) -> Self {
        self.staging = Some(directory);
        self
    }

    /// Connects to a browser that somebody else started.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub async fn attach(address: &str, headers: &[String]) -> Result<Self, TransportError> {
        let mut map = http::HeaderMap::new();
        for header in headers {
            let bad = || TransportError::BadAddress {
                detail: "a header is not of the form `Name: value`".to_owned(),
            };
            let (name, value) = header.split_once(':').ok_or_else(bad)?;
            let name: http::HeaderName = name.trim().parse().map_err(|_| bad())?;
            map.append(name, value.trim().parse().map_err(|_| bad())?);
        }
        let address = tabwire_cdp::WebSocketAddress::parse(address)?.with_headers(map)?;
        let (source, sink) = address.connect().await?;
        Ok(Self {
            kind: UpstreamKind::Websocket,
            source,
            sink,
            keeper: None,
            earlier_house: None,
            staging: None,
            board: None,
        })
    }
}

/// The open connection that is our claim on a kept browser.
#[derive(Debug)]
pub(crate) struct KeeperLine {
    stream: UnixStream,
}

impl KeeperLine {
    fn new(stream: StdUnixStream) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream: UnixStream::from_std(stream)? })
    }

    /// Has the keeper remember our house session for whoever claims the browser after us.
    pub(crate) async fn note_house(&mut self, house: &str) -> std::io::Result<()> {
        let line = serde_json::json!({"note": {"house": house}}).to_string();
        self.stream.write_all(line.as_bytes()).await?;
        self.stream.write_all(b"\n").await
    }

    /// Waits until the keeper is gone. What it answers to notes is of no interest.
    pub(crate) async fn closed(&mut self) {
        let mut buffer = [0; 512];
        while matches!(self.stream.read(&mut buffer).await, Ok(read) if read > 0) {}
    }
}
