//! Performs a fake browser's steps over a pipe or over websockets.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::browser::{FakeBrowser, Step};
use super::targets::ConnectionId;
use crate::http_request::HttpRequest;
use crate::limits;
use crate::websocket::{self, FrameKind, PeerMessage};

/// Frames the fake browser queues for one connection before it stops reading from all of them.
const FAKE_QUEUE_FRAMES: usize = 1_024;

#[derive(Clone, Copy, Debug)]
enum Framing {
    Pipe,
    Websocket,
}

impl Framing {
    fn encode(self, payload: &[u8]) -> Vec<u8> {
        match self {
            Self::Pipe => [payload, &[0]].concat(),
            Self::Websocket => websocket::encode(FrameKind::Text, payload),
        }
    }
}

/// A command for a connection's writer. Frames are already encoded.
#[derive(Debug)]
enum Outgoing {
    Write(Vec<u8>),
    WriteLater(Duration, Vec<u8>),
    WriteHalfAndExit(Vec<u8>),
    Exit,
}

/// The state that all connections share.
#[derive(Debug)]
pub(crate) struct Hub {
    browser: Mutex<FakeBrowser>,
    writers: Mutex<BTreeMap<ConnectionId, mpsc::Sender<Outgoing>>>,
    stalled_until: Mutex<Instant>,
    exit: Notify,
    framing: Framing,
}

impl Hub {
    /// A browser behind websockets.
    pub(crate) fn of_websockets(browser: FakeBrowser) -> Arc<Self> {
        Self::new(browser, Framing::Websocket)
    }

    /// Waits until the browser exits by itself.
    pub(crate) async fn exited(&self) {
        self.exit.notified().await;
    }

    fn new(browser: FakeBrowser, framing: Framing) -> Arc<Self> {
        Arc::new(Self {
            browser: Mutex::new(browser),
            writers: Mutex::default(),
            stalled_until: Mutex::new(Instant::now()),
            exit: Notify::new(),
            framing,
        })
    }

    /// Performs steps in order. Waits while a queue is full, so that memory is bounded.
    async fn perform(&self, steps: Vec<(ConnectionId, Step)>) {
        for (to, step) in steps {
            let outgoing = match step {
                Step::Send(payload) => Outgoing::Write(self.framing.encode(&payload)),
                Step::SendLater(after, payload) => Outgoing::WriteLater(after, self.framing.encode(&payload)),
                Step::SendHalfAndExit(payload) => Outgoing::WriteHalfAndExit(self.framing.encode(&payload)),
                Step::Exit => Outgoing::Exit,
                Step::StallReads(time) => {
                    let until = Instant::now() + time;
                    *lock(&self.stalled_until) = until;
                    sleep_until(until).await;
                    continue;
                }
            };
            let writer = lock(&self.writers).get(&to).cloned();
            if let Some(writer) = writer {
                // Fails only when the peer is gone.
                let _ = writer.send(outgoing).await;
            }
        }
    }

    async fn wait_while_stalled(&self) {
        loop {
            let until = *lock(&self.stalled_until);
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }
}

/// Serves one peer on a pipe with NUL-terminated frames, as Chrome does on descriptors 3 and 4.
///
/// Returns when the browser should exit. `stays` keeps it running after the peer has disconnected.
pub async fn serve_pipe(
    browser: FakeBrowser,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stays: bool,
) {
    let hub = Hub::new(browser, Framing::Pipe);
    let conversation = async {
        serve_connection(&hub, ConnectionId(1), BufReader::new(input), output).await;
        if stays {
            sleep(limits::FAKE_BROWSER_LIFE).await;
        }
    };
    tokio::select! {
        () = conversation => {}
        () = hub.exit.notified() => {}
    }
}

/// Serves peers on a port: `/json/version`, and a websocket on every path.
///
/// Returns when the browser should exit.
pub async fn serve_websocket(browser: FakeBrowser, listener: TcpListener) -> io::Result<()> {
    let port = listener.local_addr()?.port();
    let hub = Hub::new(browser, Framing::Websocket);
    let mut connections = JoinSet::new();
    let mut next = 1;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                connections.spawn(welcome(Arc::clone(&hub), ConnectionId(next), stream, port));
                next += 1;
            }
            Some(_) = connections.join_next() => {}
            () = hub.exit.notified() => return Ok(()),
        }
    }
}

/// Responds to HTTP discovery or upgrades the connection. A broken connection ends only itself.
async fn welcome(hub: Arc<Hub>, connection: ConnectionId, stream: TcpStream, port: u16) {
    let _ = stream.set_nodelay(true);
    let (input, mut output) = stream.into_split();
    let mut input = BufReader::new(input);
    while let Ok(Some(request)) = HttpRequest::read(&mut input).await {
        if let Some(key) = request.websocket_key() {
            if output.write_all(websocket::accept_head(key).as_bytes()).await.is_ok() {
                serve_connection(&hub, connection, input, output).await;
            }
            return;
        }
        let body = match request.path.trim_end_matches('/') {
            "/json/version" => format!(
                r#"{{"Browser":"Chrome/156.0.0.0","Protocol-Version":"1.3","webSocketDebuggerUrl":"ws://127.0.0.1:{port}/devtools/browser/fake"}}"#
            ),
            _ => "[]".to_owned(),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if output.write_all(format!("{head}{body}").as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Serves one connection until it ends.
pub(crate) async fn serve_connection(
    hub: &Arc<Hub>,
    connection: ConnectionId,
    mut input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) {
    let (sender, receiver) = mpsc::channel(FAKE_QUEUE_FRAMES);
    lock(&hub.writers).insert(connection, sender.clone());
    let mut writer = JoinSet::new();
    writer.spawn(write(Arc::clone(hub), receiver, output));
    let greeting = lock(&hub.browser).connected(connection);
    hub.perform(greeting).await;
    loop {
        hub.wait_while_stalled().await;
        let frame = match hub.framing {
            Framing::Pipe => read_pipe_frame(&mut input).await,
            Framing::Websocket => read_websocket_frame(&mut input, &sender).await,
        };
        let Ok(Some(frame)) = frame else { break };
        let steps = lock(&hub.browser).received(connection, &frame);
        hub.perform(steps).await;
    }
    lock(&hub.writers).remove(&connection);
    lock(&hub.browser).forget(connection);
}

async fn read_pipe_frame(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut frame = Vec::new();
    let limit = u64::try_from(limits::PEER_FRAME_BYTES).unwrap_or(u64::MAX);
    input.take(limit).read_until(0, &mut frame).await?;
    // A frame without its NUL is truncated or too long. Either way the connection ends.
    Ok((frame.pop() == Some(0)).then_some(frame))
}

async fn read_websocket_frame(
    input: &mut (impl AsyncRead + Unpin),
    writer: &mpsc::Sender<Outgoing>,
) -> io::Result<Option<Vec<u8>>> {
    loop {
        match websocket::receive(input).await? {
            PeerMessage::Message(message) => return Ok(Some(message)),
            PeerMessage::Ping(payload) => {
                let _ = writer.send(Outgoing::Write(websocket::encode(FrameKind::Pong, &payload))).await;
            }
            PeerMessage::Closed => return Ok(None),
        }
    }
}

/// Writes one connection's frames. Delayed frames wait separately and do not delay others.
async fn write(hub: Arc<Hub>, mut receiver: mpsc::Receiver<Outgoing>, mut output: impl AsyncWrite + Unpin) {
    let mut late: JoinSet<Vec<u8>> = JoinSet::new();
    loop {
        let outgoing = tokio::select! {
            received = receiver.recv() => match received {
                Some(outgoing) => outgoing,
                None => return,
            },
            Some(Ok(frame)) = late.join_next() => Outgoing::Write(frame),
        };
        let written = match outgoing {
            Outgoing::Write(frame) => output.write_all(&frame).await,
            Outgoing::WriteLater(after, frame) => {
                late.spawn(async move {
                    sleep(after).await;
                    frame
                });
                Ok(())
            }
            Outgoing::WriteHalfAndExit(frame) => {
                let written = output.write_all(&frame[..frame.len() / 2]).await;
                hub.exit.notify_one();
                written
            }
            Outgoing::Exit => {
                hub.exit.notify_one();
                Ok(())
            }
        };
        if written.and(output.flush().await).is_err() {
            return;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
