//! Frames over a websocket, as the client of a browser or the server of a client.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::BytesMut;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{Sink, SinkExt, StreamExt};
use http::{HeaderMap, Uri, header};
use rustls::crypto::CryptoProvider;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_websockets::{
    ClientBuilder, CloseCode, Config, Connector, Limits, Message, ServerBuilder, WebSocketStream, upgrade,
};

use crate::limits::BROWSER_MESSAGE_CEILING;
use crate::transport::close_frame::CloseFrame;
use crate::transport::pipe_framing::ReceivedFrame;
use crate::transport::prompt_stream::PromptStream;
use crate::transport::{Flush, FrameSink, FrameSource, TransportError};

/// Timeout for opening a websocket, with name lookup and TLS: 10 s.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// A connected byte stream of any kind: plain, encrypted, or taken over from HTTP.
pub trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for S {}

type Socket = WebSocketStream<Box<dyn ByteStream>>;

/// Receives the messages of a websocket.
pub struct WebSocketSource {
    stream: SplitStream<Socket>,
}

/// Sends messages over a websocket.
pub struct WebSocketSink {
    sink: SplitSink<Socket, Message>,
    /// Messages that the socket has not accepted yet.
    waiting: VecDeque<Message>,
}

/// The URL and options of a connection.
#[derive(Clone, Debug)]
pub struct WebSocketUrl {
    uri: Uri,
    headers: HeaderMap,
    ceiling: usize,
    deadline: Duration,
    acknowledges_promptly: bool,
}

impl WebSocketUrl {
    /// Parses a `ws://` or `wss://` URL.
    pub fn parse(address: &str) -> Result<Self, TransportError> {
        let bad = |detail: &str| TransportError::BadUrl { detail: detail.to_owned() };
        let uri: Uri = address.parse().map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
        if !matches!(uri.scheme_str(), Some("ws" | "wss")) {
            return Err(bad("its scheme is not ws or wss"));
        }
        if uri.host().is_none_or(str::is_empty) {
            return Err(bad("it has no host"));
        }
        let (ceiling, deadline) = (BROWSER_MESSAGE_CEILING, CONNECT_DEADLINE);
        Ok(Self { uri, headers: HeaderMap::new(), ceiling, deadline, acknowledges_promptly: false })
    }

    /// Adds headers to the upgrade request, for remote browsers that require a credential.
    ///
    /// `Origin` is refused: Chrome rejects connections with an unknown origin.
    pub fn with_headers(mut self, headers: HeaderMap) -> Result<Self, TransportError> {
        let refused = headers.keys().find(|name| {
            **name == header::ORIGIN || tokio_websockets::client::DISALLOWED_HEADERS.contains(name)
        });
        if let Some(name) = refused {
            let detail = format!("the header {name} cannot be set");
            return Err(TransportError::BadUrl { detail });
        }
        self.headers = headers;
        Ok(self)
    }

    /// Sets the timeout for connecting.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Acknowledges at once what is read, for a peer that waits for it: Firefox. Without TLS only.
    #[must_use]
    pub fn with_prompt_acknowledgements(mut self) -> Self {
        self.acknowledges_promptly = true;
        self
    }

    /// Sets the largest message that is accepted.
    #[must_use]
    pub fn with_ceiling(mut self, ceiling: usize) -> Self {
        self.ceiling = ceiling;
        self
    }

    /// Connects; compression is never offered and messages are never fragmented.
    pub async fn connect(&self) -> Result<(FrameSource, FrameSink), TransportError> {
        let host = self.uri.authority().map(|authority| strip_user(authority.as_str())).unwrap_or_default();
        let connecting = tokio::time::timeout(self.deadline, self.open());
        let socket = match connecting.await {
            Err(_) => {
                return Err(TransportError::ConnectTimeout { host: host.to_owned(), after: self.deadline });
            }
            Ok(opened) => opened.map_err(|error| connect_error(&error, host))?,
        };
        Ok(split(socket))
    }

    async fn open(&self) -> Result<Socket, tokio_websockets::Error> {
        let host = self.uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let encrypted = self.uri.scheme_str() == Some("wss");
        let port = self.uri.port_u16().unwrap_or(if encrypted { 443 } else { 80 });
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        let stream: Box<dyn ByteStream> = if encrypted {
            choose_cryptography();
            Box::new(Connector::new()?.wrap(host, stream).await?)
        } else if self.acknowledges_promptly {
            Box::new(PromptStream::new(stream))
        } else {
            Box::new(stream)
        };
        let mut builder = ClientBuilder::from_uri(self.uri.clone())
            .config(stream_config())
            .limits(stream_limits(self.ceiling));
        for (name, value) in &self.headers {
            builder = builder.add_header(name.clone(), value.clone())?;
        }
        let (socket, _response) = builder.connect_on(stream).await?;
        Ok(socket)
    }
}

/// Installs the crypto provider of rustls; without one rustls panics at the first `wss://` URL.
pub(crate) fn choose_cryptography() {
    if CryptoProvider::get_default().is_none() {
        // An error means that another thread installed one at the same moment.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

/// The settings of all websockets: one frame for each message.
#[must_use]
pub fn stream_config() -> Config {
    Config::default().frame_size(usize::MAX)
}

/// Limits that refuse messages above this size.
#[must_use]
pub fn stream_limits(ceiling: usize) -> Limits {
    Limits::default().max_payload_len(Some(ceiling))
}

/// The suffix that every websocket handshake hashes with its key (RFC 6455).
const HANDSHAKE_SUFFIX: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The `Sec-WebSocket-Accept` value for a handshake, whose headers are looked up by lower-case name; none
/// when the request is not a handshake.
pub fn handshake_accept<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    let lists = |name, wanted: &str| {
        let value = header(name).unwrap_or_default();
        value.split(',').any(|item| item.trim().eq_ignore_ascii_case(wanted))
    };
    let key = header("sec-websocket-key").unwrap_or_default();
    let is_handshake = lists("upgrade", "websocket")
        && lists("connection", "upgrade")
        && header("sec-websocket-version") == Some("13")
        && STANDARD.decode(key).is_ok_and(|nonce| nonce.len() == 16);
    is_handshake
        .then(|| STANDARD.encode(sha1_smol::Sha1::from(format!("{key}{HANDSHAKE_SUFFIX}")).digest().bytes()))
}

/// Serves a client after its handshake; messages above the limit are refused.
#[must_use]
pub fn serve(stream: Box<dyn ByteStream>, ceiling: usize) -> (FrameSource, FrameSink) {
    split(ServerBuilder::new().config(stream_config()).limits(stream_limits(ceiling)).serve(stream))
}

/// Splits an open websocket into its two halves.
#[must_use]
pub fn split(socket: WebSocketStream<Box<dyn ByteStream>>) -> (FrameSource, FrameSink) {
    let (sink, stream) = socket.split();
    let waiting = VecDeque::new();
    (
        FrameSource::WebSocket(WebSocketSource { stream }),
        FrameSink::WebSocket(WebSocketSink { sink, waiting }),
    )
}

/// Raises the message limit of a websocket's peer, once it has authenticated. None when the two are not
/// halves of one websocket.
#[must_use]
pub fn raise_ceiling(
    (source, sink): (FrameSource, FrameSink),
    ceiling: usize,
) -> Option<(FrameSource, FrameSink)> {
    let (FrameSource::WebSocket(source), FrameSink::WebSocket(sink)) = (source, sink) else { return None };
    let mut socket = source.stream.reunite(sink.sink).ok()?;
    *socket.limits_mut() = stream_limits(ceiling);
    let (own, stream) = socket.split();
    Some((
        FrameSource::WebSocket(WebSocketSource { stream }),
        FrameSink::WebSocket(WebSocketSink { sink: own, waiting: sink.waiting }),
    ))
}

impl WebSocketSource {
    pub(crate) async fn next(&mut self) -> Result<Option<ReceivedFrame>, TransportError> {
        loop {
            let message = match self.stream.next().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(stream_error(&error, "reading from the websocket")),
                Some(Ok(message)) => message,
            };
            if message.is_text() || message.is_binary() {
                return Ok(Some(ReceivedFrame::Frame(BytesMut::from(message.into_payload()))));
            }
            if message.is_close() {
                return Ok(None);
            }
        }
    }
}

impl WebSocketSink {
    pub(crate) fn enqueue(&mut self, frame: BytesMut) {
        self.waiting.push_back(Message::text(frame));
    }

    pub(crate) fn enqueue_binary(&mut self, content: BytesMut) {
        self.waiting.push_back(Message::binary(content));
    }

    pub(crate) fn try_flush(&mut self) -> Result<Flush, TransportError> {
        // This context wakes no task: a caller that gets `Waiting` flushes again with a real one.
        let mut context = Context::from_waker(Waker::noop());
        match self.poll_flush(&mut context) {
            Poll::Ready(result) => result.map(|()| Flush::Done),
            Poll::Pending => Ok(Flush::Waiting),
        }
    }

    pub(crate) async fn flush(&mut self) -> Result<(), TransportError> {
        std::future::poll_fn(|context| self.poll_flush(context)).await
    }

    pub(crate) fn close_with(&mut self, close_frame: CloseFrame) {
        let code = match close_frame {
            CloseFrame::Done => CloseCode::NORMAL_CLOSURE,
            CloseFrame::Gone(_) => CloseCode::GOING_AWAY,
            CloseFrame::Overloaded(_) => CloseCode::SERVICE_OVERLOAD,
        };
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(Ok(())) = Pin::new(&mut self.sink).poll_ready(&mut context)
            && self.sink.start_send_unpin(Message::close(Some(code), close_frame.sentence())).is_ok()
            // An error means that the library has queued a close frame of its own, such as 1009 or the
            // response to the peer's; the second flush sends it (F15).
            && let Poll::Ready(Err(_)) = Pin::new(&mut self.sink).poll_flush(&mut context)
        {
            let _ = Pin::new(&mut self.sink).poll_flush(&mut context);
        }
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let failed = |error: tokio_websockets::Error| stream_error(&error, "writing to the websocket");
        while !self.waiting.is_empty() {
            std::task::ready!(Pin::new(&mut self.sink).poll_ready(context)).map_err(failed)?;
            if let Some(message) = self.waiting.pop_front() {
                self.sink.start_send_unpin(message).map_err(failed)?;
            }
        }
        Pin::new(&mut self.sink).poll_flush(context).map_err(failed)
    }
}

fn stream_error(error: &tokio_websockets::Error, operation: &'static str) -> TransportError {
    match error {
        tokio_websockets::Error::Io(error) => TransportError::io(operation, error),
        tokio_websockets::Error::PayloadTooLong { len, max_len } => {
            TransportError::TooLarge { size: *len, limit: *max_len }
        }
        tokio_websockets::Error::AlreadyClosed => TransportError::Closed,
        other => TransportError::Rules { detail: other.to_string() },
    }
}

fn connect_error(error: &tokio_websockets::Error, host: &str) -> TransportError {
    match error {
        tokio_websockets::Error::Upgrade(upgrade::Error::DidNotSwitchProtocols(status)) => {
            TransportError::Refused { host: host.to_owned(), status: *status }
        }
        tokio_websockets::Error::InvalidDNSName(error) => {
            TransportError::BadUrl { detail: error.to_string() }
        }
        other => stream_error(other, "connecting to the websocket"),
    }
}

/// The host and port of an authority, without user name and password.
fn strip_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

impl fmt::Debug for WebSocketSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WebSocketSource")
    }
}

impl fmt::Debug for WebSocketSink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WebSocketSink").field("waiting", &self.waiting.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::handshake_accept;

    #[test]
    fn handshake_accept_follows_rfc_6455_and_needs_all_headers() {
        let headers = [
            ("upgrade", "WebSocket"),
            ("connection", "keep-alive, Upgrade"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let response = |left_out: &str| {
            handshake_accept(|name| {
                let named = headers.iter().find(|(own, _)| *own == name && *own != left_out);
                named.map(|(_, value)| *value)
            })
        };
        assert_eq!(response("").as_deref(), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        for (name, _) in headers {
            assert_eq!(response(name), None, "{name}");
        }
        let short = |name: &str| match name {
            "sec-websocket-key" => Some("AAAA"),
            other => headers.iter().find(|(own, _)| *own == other).map(|(_, value)| *value),
        };
        assert_eq!(handshake_accept(short), None);
    }
}
