//! What the mux wants done. The daemon's tasks carry it out in order.

use bytes::BytesMut;
use tabwire_wire::{BrowserContextId, CdpSessionId, ClientId, Failure, TargetId};

/// One thing to do.
#[derive(Debug)]
pub enum Output {
    /// Send this frame to the browser.
    ToBrowser(BytesMut),
    /// Send this frame to a client.
    ToClient {
        /// Who gets it.
        client: ClientId,
        /// What is sent.
        frame: BytesMut,
        /// What may happen to it under pressure.
        class: FrameClass,
    },
    /// Disconnect a client.
    CloseClient {
        /// Who is disconnected.
        client: ClientId,
        /// Why.
        reason: CloseReason,
    },
    /// The house session is this one; whoever keeps the browser should remember it for a successor.
    HouseOpened(CdpSessionId),
    /// Put a finished download where its client wants it, then report with `download_placed`.
    PlaceDownload {
        /// What to report it under.
        ticket: u64,
        /// Where the browser saved it.
        from: std::path::PathBuf,
        /// Where the client wants it.
        to: std::path::PathBuf,
        /// Others want the same file: copy it, do not move it.
        keep: bool,
    },
    /// A tab asked for with `open_tab` is there, or could not be opened.
    TabOpened {
        /// What it was asked for under.
        ticket: u64,
        /// The tab's page, or why there is none.
        target: Result<TargetId, Failure>,
    },
    /// A browser context asked for with `make_context` is there, or could not be made.
    ContextMade {
        /// What it was asked for under.
        ticket: u64,
        /// The context.
        context: Option<BrowserContextId>,
    },
    /// A realm is ended, or what was left of it took too long.
    RealmEnded {
        /// What its end was asked for under.
        ticket: u64,
    },
    /// Remove a finished download that nobody wants.
    DropDownload(std::path::PathBuf),
    /// The link is up and clients are served.
    Connected,
    /// A client needs the browser back.
    WantBrowser,
}

/// What may happen to a frame when its client does not keep up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameClass {
    /// An answer; never dropped.
    Answer,
    /// An event; never dropped.
    Event,
    /// An event that clients can do without; dropped under pressure, and counted.
    Droppable,
}

/// Why a client is disconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// It asked to close the browser, which closes its own part only.
    Asked,
    /// The browser is gone.
    BrowserGone,
    /// The realm it lived in was ended.
    RealmEnded,
    /// It sent more than is kept for it before it was served.
    Flooded,
    /// The browser did not give it a cdp session.
    JoinFailed,
}

impl CloseReason {
    /// One sentence for the close frame.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Asked => "closed as asked; the browser goes on for its other clients",
            Self::BrowserGone => "BROWSER_GONE: the browser has exited or its connection closed",
            Self::RealmEnded => "BROWSER_GONE: the session was ended; its part of the browser is gone",
            Self::Flooded => "BACKPRESSURE: too many frames before the connection was ready",
            Self::JoinFailed => "NO_BACKEND: the browser did not open a session for this connection",
        }
    }
}
