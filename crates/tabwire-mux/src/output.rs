//! What the mux asks the hub to do, in order.

use bytes::BytesMut;
use tabwire_api::{BrowserContextId, CdpSessionId, ClientId, Failure, TargetId};

/// One instruction of the mux.
#[derive(Debug)]
pub enum Output {
    /// Send this frame to the browser.
    ToBrowser(BytesMut),
    /// Send this frame to a client.
    ToClient {
        /// The receiver.
        client: ClientId,
        /// The frame.
        frame: BytesMut,
        /// Whether it may be dropped when the client lags.
        class: FrameClass,
    },
    /// Disconnect a client.
    CloseClient {
        /// The client.
        client: ClientId,
        /// The reason.
        reason: CloseReason,
    },
    /// The control session is open. The keeper stores its id, so that the next daemon can detach it.
    ControlOpened(CdpSessionId),
    /// Move or copy a finished download to its client's directory, then call `download_placed`.
    PlaceDownload {
        /// The ticket of `download_placed`.
        ticket: u64,
        /// The file that the browser saved.
        from: std::path::PathBuf,
        /// The destination.
        to: std::path::PathBuf,
        /// Copy the file, because other clients need it too.
        keep: bool,
    },
    /// The result of `open_tab`.
    TabOpened {
        /// The caller's ticket.
        ticket: u64,
        /// The page in the new tab.
        target: Result<TargetId, Failure>,
    },
    /// The result of `create_context`.
    ContextCreated {
        /// The caller's ticket.
        ticket: u64,
        /// The new context.
        context: Option<BrowserContextId>,
    },
    /// A partition is gone, or its end timed out.
    PartitionEnded {
        /// The ticket of `end_partition`.
        ticket: u64,
    },
    /// Remove a finished download that no client wants.
    DropDownload(std::path::PathBuf),
    /// The control session is initialized; clients are served.
    Connected,
}

/// Whether a frame may be dropped when its client lags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameClass {
    /// A response; never dropped.
    Response,
    /// An event; never dropped.
    Event,
    /// An event that clients can do without; dropped and counted when the client lags.
    Droppable,
}

/// Why a client is disconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// It sent `Browser.close`, which closes its own pages only.
    Requested,
    /// The browser is gone.
    BrowserGone,
    /// Its partition ended.
    PartitionEnded,
    /// It sent more frames than are queued before its session is open.
    BacklogFull,
    /// The browser did not open a CDP session for it.
    JoinFailed,
}

impl CloseReason {
    /// The text of the close frame.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Requested => "closed by Browser.close; the browser keeps running for its other clients",
            Self::BrowserGone => "BROWSER_GONE: the browser has exited or its connection closed",
            Self::PartitionEnded => "BROWSER_GONE: the session ended and its pages were closed",
            Self::BacklogFull => "BACKPRESSURE: too many frames before the connection was ready",
            Self::JoinFailed => "NO_BACKEND: the browser did not open a session for this connection",
        }
    }
}
