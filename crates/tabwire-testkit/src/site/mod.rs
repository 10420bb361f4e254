//! The fixture site: local pages under several host names on one port.
//!
//! Chromium resolves every `*.localhost` name to loopback by itself and treats `a.localhost`,
//! `b.localhost` and `c.localhost` as different sites, so frames between them are out of process.
//! The module knows sockets; what is answered is decided in `answer`.

mod answer;
mod page;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::http_request::HttpRequest;
use crate::limits;
use crate::websocket::{self, FrameKind, Received};

use answer::{Answer, Reply};

/// A running fixture site; it ends when this value is dropped.
#[derive(Debug)]
pub struct Site {
    port: u16,
    /// Aborts what it holds when it is dropped.
    _server: JoinSet<()>,
}

impl Site {
    /// Starts the site on a free loopback port of the current runtime.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let port = listener.local_addr()?.port();
        let mut server = JoinSet::new();
        server.spawn(serve(listener, port));
        Ok(Self { port, _server: server })
    }

    /// The port of all its host names.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Writes the address of a page on one of the host names, e.g. `url("a", "/plain")`.
    #[must_use]
    pub fn url(&self, name: &str, path: &str) -> String {
        format!("http://{name}.localhost:{}{path}", self.port)
    }
}

async fn serve(listener: TcpListener, port: u16) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => { connections.spawn(converse(stream, port)); }
                Err(_) => sleep(std::time::Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Answers one connection until either side is done; a broken peer only ends itself.
async fn converse(stream: TcpStream, port: u16) {
    let _ = stream.set_nodelay(true);
    let mut stream = BufReader::new(stream);
    while let Ok(Ok(Some(request))) = timeout(limits::SITE_IDLE, HttpRequest::read(&mut stream)).await {
        let result = match answer::answer(&request, port) {
            Answer::Reply { after, reply } => {
                sleep(after).await;
                send(&mut stream, &reply, request.method != "HEAD").await
            }
            Answer::Stream { events } => return drop(send_events(&mut stream, events).await),
            Answer::Echo { key } => return drop(echo(&mut stream, &key).await),
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
    while let Ok(received) = timeout(limits::SITE_IDLE, websocket::receive(stream)).await {
        let frame = match received? {
            Received::Message(message) => websocket::encode(FrameKind::Text, &message),
            Received::Ping(payload) => websocket::encode(FrameKind::Pong, &payload),
            Received::Closed => break,
        };
        stream.write_all(&frame).await?;
    }
    stream.write_all(&websocket::encode(FrameKind::Close, &[])).await
}
