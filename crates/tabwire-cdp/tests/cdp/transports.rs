//! Pipes and websockets at their limits: size limits, refusals, silence, resumed pipes.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::BytesMut;
use rustix::pipe::{PipeFlags, pipe_with};
use tabwire_cdp::websocket::{ByteStream, split, stream_config, stream_limits};
use tabwire_cdp::{
    CdpError, CloseReason, Connection, FrameSink, FrameSource, PipeSink, PipeSource, ReceivedFrame,
    TaskGroup, TransportError, WebSocketUrl,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_websockets::ServerBuilder;

const TIMEOUT: Duration = Duration::from_secs(20);
const CEILING: usize = 100_000;

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

fn address(listener: SocketAddr) -> WebSocketUrl {
    WebSocketUrl::parse(&format!("ws://{listener}/devtools?token=secret")).expect("an address")
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a request"));
    }
    String::from_utf8(head).expect("is text").to_lowercase()
}

async fn next(source: &mut FrameSource) -> Result<Option<ReceivedFrame>, TransportError> {
    tokio::time::timeout(TIMEOUT, source.next()).await.expect("something arrives")
}

/// A websocket with both ends in this test.
async fn websocket_pair(ceiling: usize) -> ((FrameSource, FrameSink), (FrameSource, FrameSink)) {
    let (listener, at) = listen().await;
    let accept = async {
        let stream: Box<dyn ByteStream> = Box::new(listener.accept().await.expect("a client").0);
        let server = ServerBuilder::new().config(stream_config()).limits(stream_limits(ceiling));
        split(server.accept(stream).await.expect("a websocket").1)
    };
    let client = address(at).with_ceiling(ceiling);
    let (client, server) = tokio::join!(client.connect(), accept);
    (client.expect("connects"), server)
}

#[tokio::test]
async fn the_upgrade_request_has_our_headers_no_origin_and_no_extensions() {
    let (listener, at) = listen().await;
    let server = async {
        let (mut stream, _) = listener.accept().await.expect("a client");
        let head = read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await.expect("responds");
        head
    };
    let headers = [("authorization".parse().expect("a name"), "Bearer x".parse().expect("a value"))];
    let client = address(at).with_headers(headers.into_iter().collect()).expect("allowed");
    let (refused, head) = tokio::join!(client.connect(), server);
    assert_eq!(refused.err(), Some(TransportError::Refused { host: at.to_string(), status: 403 }));
    assert!(head.starts_with("get /devtools?token=secret http/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nauthorization: bearer x\r\n"), "{head}");
    assert!(!head.contains("origin") && !head.contains("extensions"), "{head}");
}

#[tokio::test]
async fn unusable_urls_are_refused_before_connecting() {
    for bad in ["http://127.0.0.1:1/", "127.0.0.1", "", "ws://", "ws:///path", "file:///x", "wss://a b/"] {
        let error = WebSocketUrl::parse(bad).expect_err(bad);
        assert!(matches!(error, TransportError::BadUrl { .. }), "{bad}: {error}");
    }
    for name in ["origin", "host", "upgrade"] {
        let headers = [(name.parse().expect("a name"), "x".parse().expect("a value"))];
        let address = WebSocketUrl::parse("ws://127.0.0.1:1/").expect("an address");
        assert!(address.with_headers(headers.into_iter().collect()).is_err(), "{name}");
    }
}

#[tokio::test]
async fn upgrade_without_a_response_times_out() {
    let (_listener, at) = listen().await;
    let after = Duration::from_millis(50);
    let error = address(at).with_deadline(after).connect().await.err();
    assert_eq!(error, Some(TransportError::ConnectTimeout { host: at.to_string(), after }));
}

#[tokio::test]
async fn websocket_frames_larger_than_any_buffer_arrive_whole_and_in_order() {
    let ((_, mut sink), (mut source, _far)) = websocket_pair(32 << 20).await;
    let sizes = [1, 70_000, 8 << 20, 5, 1 << 20];
    let sending = async {
        for size in sizes {
            sink.enqueue(BytesMut::from(vec![b'a'; size].as_slice()));
        }
        sink.flush().await.expect("all is sent");
    };
    let receiving = async {
        for size in sizes {
            match next(&mut source).await {
                Ok(Some(ReceivedFrame::Frame(frame))) => assert_eq!(frame.len(), size),
                other => panic!("expected a frame, got {other:?}"),
            }
        }
    };
    tokio::join!(sending, receiving);
}

#[tokio::test]
async fn f14_an_oversize_websocket_message_ends_the_link_typed() {
    let (near, (_far_source, mut far_sink)) = websocket_pair(CEILING).await;
    let connection = Connection::start(near.0, near.1, &TaskGroup::new());
    let pending = connection.browser().begin("A.b", &(), TIMEOUT).expect("sends");
    let sending = far_sink.send(BytesMut::from(vec![b'x'; CEILING + 1].as_slice()));
    let (_, response) = tokio::join!(sending, pending.response());
    let too_large = TransportError::TooLarge { size: CEILING + 1, limit: CEILING };
    let reason = CloseReason::Transport(too_large);
    assert_eq!(response, Err(CdpError::OutcomeUnknown { method: "A.b".into(), reason }));
}

#[tokio::test]
async fn f14_oversize_response_over_a_pipe_fails_only_its_command() {
    let pipe = || pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
    let ((their_input, our_output), (our_input, their_output)) = (pipe(), pipe());
    let source = PipeSource::new(our_input, CEILING).expect("a source");
    let tasks = TaskGroup::new();
    let connection = Connection::start(source, PipeSink::new(our_output).expect("a sink"), &tasks);
    let mut heard = FrameSource::from(PipeSource::new(their_input, CEILING).expect("a source"));
    let mut browser = FrameSink::from(PipeSink::new(their_output).expect("a sink"));

    let page = connection.session(&tabwire_api::CdpSessionId::new("5A"));
    let large = page.begin("A.large", &(), TIMEOUT).expect("sends");
    let small = page.begin("A.small", &(), TIMEOUT).expect("sends");
    next(&mut heard).await.expect("the first command arrives");
    let response = format!(r#"{{"id":1,"result":{{"v":"{}"}},"sessionId":"5A"}}"#, "x".repeat(3_000_000));
    browser.send(BytesMut::from(response.as_str())).await.expect("sent");
    browser.send(BytesMut::from(r#"{"id":2,"result":{},"sessionId":"5A"}"#)).await.expect("sent");

    let method = "A.large".into();
    let expected = CdpError::TooLarge { method, size: response.len(), limit: CEILING };
    assert_eq!(large.response().await, Err(expected));
    small.response().await.expect("the connection survives");
}

#[tokio::test]
async fn resumed_pipe_ignores_partial_frames() {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
    let earlier = PipeSource::new(read.try_clone().expect("a copy"), CEILING).expect("a source");
    rustix::io::write(&write, br#"{"id":1,"res"#).expect("half a frame");
    drop(earlier);
    let mut sink = FrameSink::from(PipeSink::resume(write).expect("a sink"));
    let mut source = FrameSource::from(PipeSource::resume(read, CEILING).expect("a source"));
    sink.send(BytesMut::from(r#"{"id":2}"#)).await.expect("sent");
    assert_eq!(next(&mut source).await, Ok(Some(ReceivedFrame::Frame(BytesMut::from(r#"{"id":2}"#)))));
}

#[tokio::test]
async fn wss_urls_are_never_contacted_without_tls() {
    let (listener, at) = listen().await;
    let client = WebSocketUrl::parse(&format!("wss://{at}/")).expect("an address");
    let server = async {
        let (mut stream, _) = listener.accept().await.expect("a client");
        let first = stream.read_u8().await.expect("a greeting");
        stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\n\r\n").await.expect("responds");
        first
    };
    let (connected, first) = tokio::join!(client.connect(), server);
    assert_eq!(first, 0x16, "the first byte of a TLS handshake");
    assert!(matches!(connected.err(), Some(TransportError::Io { .. })));
}
