//! Transports of frames: pipes, websockets and in-process channels.

pub(crate) mod channel;
pub(crate) mod close_frame;
pub(crate) mod http_request;
pub(crate) mod pipe;
pub(crate) mod pipe_end;
pub(crate) mod pipe_framing;
mod prompt_stream;
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

/// An error while opening, reading or writing a transport.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The operating system refused the operation.
    #[error("{operation} failed: {kind}")]
    Io {
        /// The operation.
        operation: &'static str,
        /// The kind of error.
        kind: io::ErrorKind,
    },
    /// The peer sent a message above the size limit, after which this transport cannot continue.
    #[error("a message of {size} bytes is above the limit of {limit}")]
    TooLarge {
        /// The size so far.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The peer violated the transport's protocol.
    #[error("the peer violated the transport protocol: {detail}")]
    Rules {
        /// The violation.
        detail: String,
    },
    /// The URL cannot be used.
    #[error("the URL cannot be used: {detail}")]
    BadUrl {
        /// The reason.
        detail: String,
    },
    /// The server refused the upgrade to a websocket.
    #[error("{host} responded with HTTP status {status} instead of a websocket")]
    Refused {
        /// The server.
        host: String,
        /// The HTTP status.
        status: u16,
    },
    /// Connecting timed out.
    #[error("{host} did not respond within {} ms", after.as_millis())]
    ConnectTimeout {
        /// The server.
        host: String,
        /// The timeout.
        after: Duration,
    },
    /// This side of the transport is closed.
    #[error("the transport is closed")]
    Closed,
}

impl TransportError {
    /// Keeps the parts of an operating system error that can be compared and cloned.
    #[must_use]
    pub fn io(operation: &'static str, error: &io::Error) -> Self {
        Self::Io { operation, kind: error.kind() }
    }

    /// Converts the error to the failure that users and models see.
    #[must_use]
    pub fn into_failure(self) -> Failure {
        let message = self.to_string();
        match self {
            Self::BadUrl { .. } => Failure::new(ErrorCode::BadArgs, message)
                .with_remedy("Pass the ws:// or wss:// URL that the browser prints."),
            Self::ConnectTimeout { .. } | Self::Refused { .. } => Failure::new(ErrorCode::NoBackend, message)
                .with_remedy(
                    "Check that the browser runs with remote debugging and that the URL is current.",
                ),
            Self::Io { .. } | Self::TooLarge { .. } | Self::Rules { .. } | Self::Closed => {
                Failure::new(ErrorCode::BrowserGone, message)
            }
        }
    }
}

/// The result of a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// All frames are written.
    Done,
    /// The peer is slow; some frames wait inside the sink.
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
    /// Waits for the next frame; `None` means that the peer closed the link in order. Safe to cancel.
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
    /// To another task of the process.
    Channel(ChannelSink),
}

impl FrameSink {
    /// Adds a frame to the next flush. The caller bounds the amount.
    pub fn enqueue(&mut self, frame: BytesMut) {
        match self {
            Self::Pipe(sink) => sink.enqueue(frame),
            Self::WebSocket(sink) => sink.enqueue(frame),
            Self::Channel(sink) => sink.enqueue(frame),
        }
    }

    /// Adds a binary message to the next flush of a websocket. Other transports carry text only and ignore it.
    pub fn enqueue_binary(&mut self, content: BytesMut) {
        if let Self::WebSocket(sink) = self {
            sink.enqueue_binary(content);
        }
    }

    /// Writes as much as the peer accepts now, without waiting.
    pub fn try_flush(&mut self) -> Result<Flush, TransportError> {
        match self {
            Self::Pipe(sink) => sink.try_flush(),
            Self::WebSocket(sink) => sink.try_flush(),
            Self::Channel(sink) => sink.try_flush(),
        }
    }

    /// Waits until all enqueued frames are written. Safe to cancel; no bytes are lost or repeated.
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

    /// Sends a close frame if the transport has one and can send it without waiting.
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
