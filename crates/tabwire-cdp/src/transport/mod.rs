//! Where frames come from and go to, whatever carries them. Knows nothing of what a frame says.

pub(crate) mod channel;
pub(crate) mod close_frame;
pub(crate) mod pipe;
pub(crate) mod pipe_end;
pub(crate) mod pipe_framing;
pub(crate) mod unauthenticated_peers;
pub mod websocket;

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use tabwire_api::{ErrorCode, Failure};

use crate::transport::channel::{ChannelSink, ChannelSource};
use crate::transport::close_frame::CloseFrame;
use crate::transport::pipe::{PipeSink, PipeSource};
use crate::transport::pipe_framing::ReceivedFrame;
use crate::transport::websocket::{WebSocketSink, WebSocketSource};

/// A transport that cannot be opened, read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The operating system refused; the code is what it gave, if any.
    #[error("{operation} failed: {kind}")]
    Io {
        /// What was being done.
        operation: &'static str,
        /// The kind of failure.
        kind: io::ErrorKind,
    },
    /// The peer sent a message above the ceiling, after which this transport cannot go on.
    #[error("a message of {size} bytes is above the limit of {limit}")]
    TooLarge {
        /// The size announced so far.
        size: usize,
        /// The ceiling.
        limit: usize,
    },
    /// The peer broke the rules of the transport.
    #[error("the peer broke the transport's rules: {detail}")]
    Rules {
        /// Which rule.
        detail: String,
    },
    /// The address cannot be used.
    #[error("the address cannot be used: {detail}")]
    BadUrl {
        /// Why not.
        detail: String,
    },
    /// The other end of the connection refused the upgrade to a websocket.
    #[error("{host} answered with HTTP status {status} instead of a websocket")]
    Refused {
        /// Who answered.
        host: String,
        /// The status it gave.
        status: u16,
    },
    /// Opening took too long.
    #[error("{host} did not answer within {} ms", after.as_millis())]
    ConnectTimeout {
        /// Who was asked.
        host: String,
        /// How long it was given.
        after: Duration,
    },
    /// Our side of the transport is closed.
    #[error("the transport is closed")]
    Closed,
}

impl TransportError {
    /// Keeps what can be compared and cloned of an operating system error.
    #[must_use]
    pub fn io(operation: &'static str, error: &io::Error) -> Self {
        Self::Io { operation, kind: error.kind() }
    }

    /// Turns the error into what people and models are shown.
    #[must_use]
    pub fn into_failure(self) -> Failure {
        let message = self.to_string();
        match self {
            Self::BadUrl { .. } => Failure::new(ErrorCode::BadArgs, message)
                .with_remedy("Give a ws:// or wss:// address as the browser prints it."),
            Self::ConnectTimeout { .. } | Self::Refused { .. } => Failure::new(ErrorCode::NoBackend, message)
                .with_remedy(
                    "Check that the browser runs with remote debugging and that the address is current.",
                ),
            Self::Io { .. } | Self::TooLarge { .. } | Self::Rules { .. } | Self::Closed => {
                Failure::new(ErrorCode::BrowserGone, message)
            }
        }
    }
}

/// How far a flush came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Everything is written.
    Done,
    /// The peer is slow; some of it waits inside the sink.
    Waiting,
}

/// The receiving half of a link.
#[derive(Debug)]
pub enum FrameSource {
    /// From a browser's pipe.
    Pipe(PipeSource),
    /// From a websocket.
    WebSocket(WebSocketSource),
    /// From within the process.
    Channel(ChannelSource),
}

impl FrameSource {
    /// Waits for the next frame; `None` is the peer's orderly end. Safe to cancel.
    pub async fn next(&mut self) -> Result<Option<ReceivedFrame>, TransportError> {
        match self {
            Self::Pipe(source) => source.next().await,
            Self::WebSocket(source) => source.next().await,
            Self::Channel(source) => source.next().await,
        }
    }
}

/// The sending half of a link: frames are enqueued, then flushed in as few writes as possible.
#[derive(Debug)]
pub enum FrameSink {
    /// To a browser's pipe.
    Pipe(PipeSink),
    /// To a websocket.
    WebSocket(WebSocketSink),
    /// To somebody within the process.
    Channel(ChannelSink),
}

impl FrameSink {
    /// Adds a frame to what the next flush writes. The caller bounds how much it adds.
    pub fn enqueue(&mut self, frame: BytesMut) {
        match self {
            Self::Pipe(sink) => sink.enqueue(frame),
            Self::WebSocket(sink) => sink.enqueue(frame),
            Self::Channel(sink) => sink.enqueue(frame),
        }
    }

    /// Writes as much as the peer takes at once, without waiting.
    pub fn try_flush(&mut self) -> Result<Flush, TransportError> {
        match self {
            Self::Pipe(sink) => sink.try_flush(),
            Self::WebSocket(sink) => sink.try_flush(),
            Self::Channel(sink) => sink.try_flush(),
        }
    }

    /// Waits until everything enqueued is written. Safe to cancel; nothing is lost or repeated.
    pub async fn flush(&mut self) -> Result<(), TransportError> {
        match self {
            Self::Pipe(sink) => sink.flush().await,
            Self::WebSocket(sink) => sink.flush().await,
            Self::Channel(sink) => sink.flush().await,
        }
    }

    /// Enqueues one frame and waits until it is written.
    pub async fn send(&mut self, frame: BytesMut) -> Result<(), TransportError> {
        self.enqueue(frame);
        self.flush().await
    }

    /// Says goodbye if the transport has a word for it and it can be said without waiting.
    pub fn close_with(&mut self, close_frame: CloseFrame) {
        if let Self::WebSocket(sink) = self {
            sink.close_with(close_frame);
        }
    }
}

impl From<PipeSource> for FrameSource {
    fn from(source: PipeSource) -> Self {
        Self::Pipe(source)
    }
}

impl From<WebSocketSource> for FrameSource {
    fn from(source: WebSocketSource) -> Self {
        Self::WebSocket(source)
    }
}

impl From<ChannelSource> for FrameSource {
    fn from(source: ChannelSource) -> Self {
        Self::Channel(source)
    }
}

impl From<PipeSink> for FrameSink {
    fn from(sink: PipeSink) -> Self {
        Self::Pipe(sink)
    }
}

impl From<WebSocketSink> for FrameSink {
    fn from(sink: WebSocketSink) -> Self {
        Self::WebSocket(sink)
    }
}

impl From<ChannelSink> for FrameSink {
    fn from(sink: ChannelSink) -> Self {
        Self::Channel(sink)
    }
}
