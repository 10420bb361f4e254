//! The fixture site: local pages under several host names on one port.
//!
//! Chromium resolves every `*.localhost` name to loopback and treats `a.localhost`, `b.localhost` and `c.localhost` as
//! different sites, so frames between them are out of process. `route` decides the responses.

mod gates;
mod http;
mod limits;
mod page;
mod request_counts;
mod route;

pub use page::exfiltration::{EXFILTRATION_PATHS, OWN_SITE_PATHS};
pub use page::prompt_injection::{INJECTION_DATA, INJECTIONS};

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::http_request::HttpRequest;
use crate::websocket::{self, FrameKind, PeerMessage};

use gates::Gates;
use http::incoming::Incoming;
use http::recorded_head::RecordedHead;
use http::response::Response;
use request_counts::RequestCounts;
use route::{SiteResponse, SlowBody};

/// Longest time a keep-alive connection to the fixture site may sit idle.
const SITE_IDLE: Duration = Duration::from_secs(60);

/// A running fixture site. It stops when dropped.
#[derive(Debug)]
pub struct Site {
    port: u16,
    request_counts: Arc<RequestCounts>,
    gates: Arc<Gates>,
    /// Aborts its tasks when dropped.
    _server: JoinSet<()>,
}

impl Site {
    /// Starts the site on a free loopback port of the current runtime.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let port = listener.local_addr()?.port();
        let mut server = JoinSet::new();
        let request_counts = Arc::new(RequestCounts::default());
        let gates = Arc::new(Gates::default());
        server.spawn(serve(listener, port, Arc::clone(&request_counts), Arc::clone(&gates)));
        Ok(Self { port, request_counts, gates, _server: server })
    }

    /// The port of all its host names.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The number of requests for a path, on all host names.
    #[must_use]
    pub fn request_count(&self, path: &str) -> u64 {
        self.request_counts.of(path)
    }

    /// Waits until a request has reached `/held?gate=…`; false after the timeout.
    pub async fn is_held(&self, gate: &str) -> bool {
        self.gates.is_reached(gate).await
    }

    /// Releases the response of `/held?gate=…`.
    pub fn release_gate(&self, gate: &str) {
        self.gates.open(gate);
    }

    /// A function that releases responses of `/held?gate=…` from another task.
    pub fn releaser(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let gates = Arc::clone(&self.gates);
        move |gate| gates.open(gate)
    }

    /// The URL of a page on one of the host names, such as `url("a", "/plain")`.
    #[must_use]
    pub fn url(&self, name: &str, path: &str) -> String {
        format!("http://{name}.localhost:{}{path}", self.port)
    }
}

async fn serve(listener: TcpListener, port: u16, request_counts: Arc<RequestCounts>, gates: Arc<Gates>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve_connection(stream, port, Arc::clone(&request_counts), Arc::clone(&gates)));
                }
                Err(_) => sleep(Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Serves one connection until either side closes it. A broken connection ends only itself.
async fn serve_connection(
    stream: TcpStream,
    port: u16,
    request_counts: Arc<RequestCounts>,
    gates: Arc<Gates>,
) {
    let _ = stream.set_nodelay(true);
    let mut stream = BufReader::new(stream);
    loop {
        let mut recorded = RecordedHead::new(&mut stream);
        let read = timeout(SITE_IDLE, HttpRequest::read(&mut recorded)).await;
        let Ok(Ok(Some(request))) = read else { return };
        let head = recorded.into_text();
        request_counts.add(&request.path);
        let incoming = Incoming { request: &request, head: &head, port, request_counts: &request_counts };
        let with_body = request.method != "HEAD";
        let result = match route::respond(incoming) {
            SiteResponse::Response { after, response } => {
                sleep(after).await;
                send(&mut stream, &response, with_body).await
            }
            SiteResponse::Held { gate, response } => {
                gates.pass(&gate).await;
                send(&mut stream, &response, with_body).await
            }
            SiteResponse::SlowBody(slow_body) if with_body => {
                return drop(send_pieces(&mut stream, &slow_body).await);
            }
            SiteResponse::SlowBody(slow_body) => send(&mut stream, &slow_body.response, false).await,
            SiteResponse::Stream { events } => return drop(send_events(&mut stream, events).await),
            SiteResponse::Echo { key } => return drop(echo(&mut stream, &key).await),
            SiteResponse::Hang { first } => return drop(hang(&mut stream, &first).await),
            SiteResponse::Close => return,
        };
        if result.is_err() {
            return;
        }
    }
}

async fn send(stream: &mut BufReader<TcpStream>, response: &Response, with_body: bool) -> io::Result<()> {
    let mut bytes = response.head().into_bytes();
    if with_body {
        bytes.extend_from_slice(&response.body);
    }
    stream.write_all(&bytes).await
}

/// Sends a body slowly and closes the connection, possibly before the promised length.
async fn send_pieces(stream: &mut BufReader<TcpStream>, slow_body: &SlowBody) -> io::Result<()> {
    stream.write_all(slow_body.response.head_with_length(slow_body.promised).as_bytes()).await?;
    stream.flush().await?;
    let pause = slow_body.takes / limits::DOWNLOAD_PIECES;
    let piece = vec![b'0'; slow_body.sent.div_ceil(limits::DOWNLOAD_PIECES as usize)];
    let mut left = slow_body.sent;
    while left > 0 {
        let bytes = piece.get(..left).unwrap_or(&piece);
        stream.write_all(bytes).await?;
        stream.flush().await?;
        left -= bytes.len();
        sleep(pause).await;
    }
    stream.shutdown().await
}

/// Sends nothing more until the peer closes the connection, at most `MAX_HANG`.
async fn hang(stream: &mut BufReader<TcpStream>, first: &[u8]) -> io::Result<()> {
    stream.write_all(first).await?;
    stream.flush().await?;
    let mut rest = [0; 1024];
    let peer_closes = async { while matches!(stream.read(&mut rest).await, Ok(bytes) if bytes > 0) {} };
    let _ = timeout(limits::MAX_HANG, peer_closes).await;
    Ok(())
}

async fn send_events(stream: &mut BufReader<TcpStream>, events: u32) -> io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    for number in 1..=events {
        stream.write_all(format!("id: {number}\ndata: {number}\n\n").as_bytes()).await?;
        stream.flush().await?;
    }
    stream.shutdown().await
}

async fn echo(stream: &mut BufReader<TcpStream>, key: &str) -> io::Result<()> {
    stream.write_all(websocket::accept_head(key).as_bytes()).await?;
    while let Ok(received) = timeout(SITE_IDLE, websocket::receive(stream)).await {
        let frame = match received? {
            PeerMessage::Message(message) => websocket::encode(FrameKind::Text, &message),
            PeerMessage::Ping(payload) => websocket::encode(FrameKind::Pong, &payload),
            PeerMessage::Closed => break,
        };
        stream.write_all(&frame).await?;
    }
    stream.write_all(&websocket::encode(FrameKind::Close, &[])).await
}
