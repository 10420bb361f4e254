//! The fixture site: local pages under several host names on one port.
//!
//! Chromium resolves every `*.localhost` name to loopback by itself and treats `a.localhost`,
//! `b.localhost` and `c.localhost` as different sites, so frames between them are out of process.
//! The module knows sockets; what is answered is decided in `answer`.

mod account;
mod answer;
mod cross_origin;
mod download;
mod echo;
mod form_fields;
mod framed;
mod gates;
mod generated_page;
mod limits;
mod lure;
mod multipart;
mod page;
mod policy_page;
mod question;
mod recorded_head;
mod redirection;
mod reply;
mod visits;
mod ways_out;

pub use lure::{LURE_DATA, LURES};
pub use ways_out::{WAYS_OUT, WAYS_TO_OWN};

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::http_request::HttpRequest;
use crate::limits as bounds;
use crate::websocket::{self, FrameKind, Received};

use answer::{Answer, Trickle};
use gates::Gates;
use question::Question;
use recorded_head::RecordedHead;
use reply::Reply;
use visits::Visits;

/// A running fixture site; it ends when this value is dropped.
#[derive(Debug)]
pub struct Site {
    port: u16,
    visits: Arc<Visits>,
    gates: Arc<Gates>,
    /// Aborts what it holds when it is dropped.
    _server: JoinSet<()>,
}

impl Site {
    /// Starts the site on a free loopback port of the current runtime.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let port = listener.local_addr()?.port();
        let mut server = JoinSet::new();
        let visits = Arc::new(Visits::default());
        let gates = Arc::new(Gates::default());
        server.spawn(serve(listener, port, Arc::clone(&visits), Arc::clone(&gates)));
        Ok(Self { port, visits, gates, _server: server })
    }

    /// The port of all its host names.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Tells how often a path was asked for, on all host names together.
    #[must_use]
    pub fn visits(&self, path: &str) -> u64 {
        self.visits.of(path)
    }

    /// Waits until `/held?gate=…` with this gate was asked for; false when that takes minutes.
    pub async fn is_held(&self, gate: &str) -> bool {
        self.gates.is_reached(gate).await
    }

    /// Lets the answer of `/held?gate=…` with this gate go.
    pub fn let_go(&self, gate: &str) {
        self.gates.open(gate);
    }

    /// What lets answers of `/held?gate=…` go from elsewhere.
    pub fn releaser(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let gates = Arc::clone(&self.gates);
        move |gate| gates.open(gate)
    }

    /// Writes the address of a page on one of the host names, e.g. `url("a", "/plain")`.
    #[must_use]
    pub fn url(&self, name: &str, path: &str) -> String {
        format!("http://{name}.localhost:{}{path}", self.port)
    }
}

async fn serve(listener: TcpListener, port: u16, visits: Arc<Visits>, gates: Arc<Gates>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, port, Arc::clone(&visits), Arc::clone(&gates)));
                }
                Err(_) => sleep(std::time::Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Answers one connection until either side is done; a broken peer only ends itself.
async fn converse(stream: TcpStream, port: u16, visits: Arc<Visits>, gates: Arc<Gates>) {
    let _ = stream.set_nodelay(true);
    let mut stream = BufReader::new(stream);
    loop {
        let mut recorded = RecordedHead::new(&mut stream);
        let read = timeout(bounds::SITE_IDLE, HttpRequest::read(&mut recorded)).await;
        let Ok(Ok(Some(request))) = read else { return };
        let head = recorded.into_text();
        visits.add(&request.path);
        let question = Question { request: &request, head: &head, port, visits: &visits };
        let with_body = request.method != "HEAD";
        let result = match answer::answer(question) {
            Answer::Reply { after, reply } => {
                sleep(after).await;
                send(&mut stream, &reply, with_body).await
            }
            Answer::Held { gate, reply } => {
                gates.pass(&gate).await;
                send(&mut stream, &reply, with_body).await
            }
            Answer::Trickle(trickle) if with_body => return drop(send_pieces(&mut stream, &trickle).await),
            Answer::Trickle(trickle) => send(&mut stream, &trickle.reply, false).await,
            Answer::Stream { events } => return drop(send_events(&mut stream, events).await),
            Answer::Echo { key } => return drop(echo(&mut stream, &key).await),
            Answer::Silence { first } => return drop(stay_silent(&mut stream, &first).await),
            Answer::HangUp => return,
        };
        if result.is_err() {
            return;
        }
    }
}

async fn send(stream: &mut BufReader<TcpStream>, reply: &Reply, with_body: bool) -> io::Result<()> {
    let mut bytes = reply.head().into_bytes();
    if with_body {
        bytes.extend_from_slice(&reply.body);
    }
    stream.write_all(&bytes).await
}

/// Sends a body over a time and ends the connection, which is a fault when more was promised.
async fn send_pieces(stream: &mut BufReader<TcpStream>, trickle: &Trickle) -> io::Result<()> {
    stream.write_all(trickle.reply.head_with_length(trickle.promised).as_bytes()).await?;
    stream.flush().await?;
    let pause = trickle.takes / limits::DOWNLOAD_PIECES;
    let piece = vec![b'0'; trickle.sent.div_ceil(limits::DOWNLOAD_PIECES as usize)];
    let mut left = trickle.sent;
    while left > 0 {
        let bytes = piece.get(..left).unwrap_or(&piece);
        stream.write_all(bytes).await?;
        stream.flush().await?;
        left -= bytes.len();
        sleep(pause).await;
    }
    stream.shutdown().await
}

/// Says no more until the other side gives up or the longest silence is over.
async fn stay_silent(stream: &mut BufReader<TcpStream>, first: &[u8]) -> io::Result<()> {
    stream.write_all(first).await?;
    stream.flush().await?;
    let mut rest = [0; 1024];
    let patience = async { while matches!(stream.read(&mut rest).await, Ok(bytes) if bytes > 0) {} };
    let _ = timeout(limits::LONGEST_SILENCE, patience).await;
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
    while let Ok(received) = timeout(bounds::SITE_IDLE, websocket::receive(stream)).await {
        let frame = match received? {
            Received::Message(message) => websocket::encode(FrameKind::Text, &message),
            Received::Ping(payload) => websocket::encode(FrameKind::Pong, &payload),
            Received::Closed => break,
        };
        stream.write_all(&frame).await?;
    }
    stream.write_all(&websocket::encode(FrameKind::Close, &[])).await
}
