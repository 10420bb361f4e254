//! The connection to one browser: frames in, frames out, and its keeper's connection if it has one.

use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;

use tabwire_api::UpstreamKind;
use tabwire_bidi::{BrowserFacts, RequestHold};
use tabwire_browser::{BidiSession, Claim};
use tabwire_cdp::limits::BROWSER_MESSAGE_CEILING;
use tabwire_cdp::{FrameSink, FrameSource, PipeSink, PipeSource, TaskGroup, TransportError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::browser::bidi;
use crate::hub::attachments::AttachmentList;

/// A connection to one browser, ready for a hub.
#[derive(Debug)]
pub struct BrowserLink {
    pub(crate) kind: UpstreamKind,
    pub(crate) source: FrameSource,
    pub(crate) sink: FrameSink,
    pub(crate) keeper: Option<KeeperConnection>,
    pub(crate) earlier_control_session: Option<String>,
    /// Where downloads are staged. Absent when the browser may run on another machine.
    pub(crate) staging: Option<PathBuf>,
    /// The list of attachments, for browsers with the extension.
    pub(crate) attachments: Option<AttachmentList>,
    /// Whether it was rented for one session: no user has tabs in it.
    pub(crate) is_rented: bool,
}

impl BrowserLink {
    /// Takes over a launched browser's pipe.
    ///
    /// # Errors
    /// When the descriptors are not usable.
    pub fn from_claim(claim: Claim) -> Result<Self, TransportError> {
        let source = PipeSource::resume(claim.from_browser, BROWSER_MESSAGE_CEILING)?;
        let sink = PipeSink::resume(claim.to_browser)?;
        let keeper = KeeperConnection::new(claim.control)
            .map_err(|error| TransportError::io("taking over the keeper's connection", &error))?;
        Ok(Self {
            kind: UpstreamKind::Pipe,
            source: source.into(),
            sink: sink.into(),
            keeper: Some(keeper),
            earlier_control_session: claim.control_session,
            staging: None,
            attachments: None,
            is_rented: false,
        })
    }

    /// A Firefox that its keeper holds, emulated in front of its BiDi session.
    ///
    /// # Errors
    /// When its websocket cannot be reached.
    pub(crate) async fn from_bidi_claim(
        claim: Claim,
        session: BidiSession,
        containment: Option<RequestHold>,
        tasks: &TaskGroup,
    ) -> Result<Self, TransportError> {
        let facts =
            BrowserFacts { product: session.product, user_agent: session.user_agent, anchor: session.anchor };
        let url = tabwire_cdp::WebSocketUrl::parse(&session.url)?.with_prompt_acknowledgements();
        let link = Self::of_bidi(url.connect().await?, facts, containment, UpstreamKind::Pipe, tasks);
        let keeper = KeeperConnection::new(claim.control)
            .map_err(|error| TransportError::io("taking over the keeper's connection", &error))?;
        // The sessions of an earlier daemon ended with its emulated browser.
        Ok(Self { keeper: Some(keeper), ..link })
    }

    /// A browser behind a connected websocket of an existing BiDi session. It does not matter which process made the session.
    pub(crate) fn of_bidi(
        browser: (FrameSource, FrameSink),
        facts: BrowserFacts,
        containment: Option<RequestHold>,
        kind: UpstreamKind,
        tasks: &TaskGroup,
    ) -> Self {
        let (source, sink) = bidi::start(browser, facts, containment, tasks);
        let (keeper, earlier_control_session, staging, attachments) = (None, None, None, None);
        let is_rented = false;
        Self { kind, source, sink, keeper, earlier_control_session, staging, attachments, is_rented }
    }

    /// The user's own browser, emulated in front of its extension.
    pub(crate) fn of_extension(
        (source, sink): (FrameSource, FrameSink),
        attachments: AttachmentList,
    ) -> Self {
        let (keeper, earlier_control_session, staging) = (None, None, None);
        let attachments = Some(attachments);
        Self {
            kind: UpstreamKind::Extension,
            source,
            sink,
            keeper,
            earlier_control_session,
            staging,
            attachments,
            is_rented: false,
        }
    }

    /// A browser on Windows whose frames PowerShell relays.
    pub(crate) fn of_relay((source, sink): (FrameSource, FrameSink)) -> Self {
        let (keeper, earlier_control_session, staging, attachments) = (None, None, None, None);
        Self {
            kind: UpstreamKind::Websocket,
            source,
            sink,
            keeper,
            earlier_control_session,
            staging,
            attachments,
            is_rented: false,
        }
    }

    /// Connects to a Firefox that the daemon did not launch.
    pub(crate) async fn attach_bidi(
        address: &str,
        headers: &[String],
        facts: BrowserFacts,
        tasks: &TaskGroup,
    ) -> Result<Self, TransportError> {
        let browser = connect(address, headers).await?;
        Ok(Self::of_bidi(browser, facts, None, UpstreamKind::Websocket, tasks))
    }

    /// Stages downloads of shared contexts in this directory.
    #[must_use]
    pub fn with_staging(mut self, directory: PathBuf) -> Self {
        self.staging = Some(directory);
        self
    }

    /// Connects to a browser that the daemon did not launch.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub async fn attach(address: &str, headers: &[String]) -> Result<Self, TransportError> {
        let (source, sink) = connect(address, headers).await?;
        Ok(Self {
            kind: UpstreamKind::Websocket,
            source,
            sink,
            keeper: None,
            earlier_control_session: None,
            staging: None,
            attachments: None,
            is_rented: false,
        })
    }
}

/// Connects to a websocket with these headers, `Name: value`.
async fn connect(address: &str, headers: &[String]) -> Result<(FrameSource, FrameSink), TransportError> {
    let mut map = http::HeaderMap::new();
    for header in headers {
        let bad =
            || TransportError::BadUrl { detail: "a header is not of the form `Name: value`".to_owned() };
        let (name, value) = header.split_once(':').ok_or_else(bad)?;
        let name: http::HeaderName = name.trim().parse().map_err(|_| bad())?;
        map.append(name, value.trim().parse().map_err(|_| bad())?);
    }
    tabwire_cdp::WebSocketUrl::parse(address)?.with_headers(map)?.connect().await
}

/// The open connection to a keeper, which is our claim on its browser.
#[derive(Debug)]
pub(crate) struct KeeperConnection {
    stream: UnixStream,
}

impl KeeperConnection {
    fn new(stream: StdUnixStream) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream: UnixStream::from_std(stream)? })
    }

    /// Has the keeper save the id of our control session for the next daemon.
    pub(crate) async fn save_control_session(&mut self, session: &str) -> std::io::Result<()> {
        let line = serde_json::json!({"note": {"control_session": session}}).to_string();
        self.stream.write_all(line.as_bytes()).await?;
        self.stream.write_all(b"\n").await
    }

    /// Waits until the keeper is gone. Its replies are discarded.
    pub(crate) async fn closed(&mut self) {
        let mut buffer = [0; 512];
        while matches!(self.stream.read(&mut buffer).await, Ok(read) if read > 0) {}
    }
}
