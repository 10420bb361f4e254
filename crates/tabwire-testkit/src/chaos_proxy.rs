//! A proxy that injects faults into connections: delay, split, merge, duplicate, truncate, stall, drop.
//!
//! It stops when dropped, or after `CHAOS_LIFE`, whichever comes first.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::chaos_pipeline::{Action, Fault, Pipeline};

/// Longest wait for a chaos proxy to reach its upstream.
const CHAOS_CONNECT: Duration = Duration::from_secs(5);

/// Longest life of a chaos proxy, so that a hanging test does not keep it.
const CHAOS_LIFE: Duration = Duration::from_secs(300);

/// Bytes that a chaos proxy reads at once. Also the unit of duplication.
const CHAOS_CHUNK_BYTES: usize = 64 * 1024;

/// Concurrent connections of a chaos proxy.
const CHAOS_CONNECTIONS: usize = 64;

/// An address for connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A loopback port.
    Tcp(SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
}

/// The faults in each direction of every connection.
#[derive(Clone, Debug, Default)]
pub struct ChaosPlan {
    /// From the client to the upstream.
    pub to_upstream: Vec<Fault>,
    /// From the upstream to the client.
    pub to_client: Vec<Fault>,
}

/// A command of the test to a running proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Run,
    Stall,
    Drop,
}

/// A running proxy.
#[derive(Debug)]
pub struct ChaosProxy {
    endpoint: Endpoint,
    command: watch::Sender<Command>,
    /// Aborts its tasks when dropped.
    _server: JoinSet<()>,
}

impl ChaosProxy {
    /// Starts a proxy on a free loopback port.
    pub async fn start(upstream: Endpoint, plan: ChaosPlan) -> io::Result<Self> {
        Self::start_at(Endpoint::Tcp((Ipv4Addr::LOCALHOST, 0).into()), upstream, plan).await
    }

    /// Starts a proxy on a given endpoint, such as a unix socket.
    pub async fn start_at(listen: Endpoint, upstream: Endpoint, plan: ChaosPlan) -> io::Result<Self> {
        let listener = Listener::bind(&listen).await?;
        let endpoint = listener.endpoint(listen)?;
        let (command, commands) = watch::channel(Command::Run);
        let mut server = JoinSet::new();
        server.spawn(async move {
            // At the end of its life every connection is closed, as on drop.
            let _ = timeout(CHAOS_LIFE, serve(listener, upstream, plan, commands)).await;
        });
        Ok(Self { endpoint, command, _server: server })
    }

    /// The endpoint for clients.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The port for clients; `None` on a unix socket.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        match &self.endpoint {
            Endpoint::Tcp(address) => Some(address.port()),
            Endpoint::Unix(_) => None,
        }
    }

    /// Stops forwarding and keeps every socket open.
    pub fn stall(&self) {
        self.command.send_replace(Command::Stall);
    }

    /// Continues forwarding, including bytes held since `stall`.
    pub fn resume(&self) {
        self.command.send_replace(Command::Run);
    }

    /// Closes every connection, and each new one immediately, until `resume`.
    pub fn drop_connections(&self) {
        self.command.send_replace(Command::Drop);
    }
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}
type BoxedStream = Box<dyn Stream>;

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    async fn bind(endpoint: &Endpoint) -> io::Result<Self> {
        Ok(match endpoint {
            Endpoint::Tcp(address) => Self::Tcp(TcpListener::bind(address).await?),
            Endpoint::Unix(path) => Self::Unix(UnixListener::bind(path)?),
        })
    }

    fn endpoint(&self, asked: Endpoint) -> io::Result<Endpoint> {
        match self {
            Self::Tcp(listener) => Ok(Endpoint::Tcp(listener.local_addr()?)),
            Self::Unix(_) => Ok(asked),
        }
    }

    async fn accept(&self) -> io::Result<BoxedStream> {
        Ok(match self {
            Self::Tcp(listener) => without_delay(listener.accept().await?.0),
            Self::Unix(listener) => Box::new(listener.accept().await?.0),
        })
    }
}

async fn connect(endpoint: &Endpoint) -> io::Result<BoxedStream> {
    Ok(match endpoint {
        Endpoint::Tcp(address) => without_delay(TcpStream::connect(address).await?),
        Endpoint::Unix(path) => Box::new(UnixStream::connect(path).await?),
    })
}

/// Sets `TCP_NODELAY`: otherwise the kernel would merge split chunks into one packet.
fn without_delay(stream: TcpStream) -> BoxedStream {
    let _ = stream.set_nodelay(true);
    Box::new(stream)
}

async fn serve(listener: Listener, upstream: Endpoint, plan: ChaosPlan, commands: watch::Receiver<Command>) {
    let permits = Arc::new(Semaphore::new(CHAOS_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (Ok(client), Ok(permit)) = (accepted, Arc::clone(&permits).try_acquire_owned()) else { continue };
                let (upstream, plan, commands) = (upstream.clone(), plan.clone(), commands.clone());
                connections.spawn(async move {
                    let _permit = permit;
                    if let Ok(Ok(upstream)) = timeout(CHAOS_CONNECT, connect(&upstream)).await {
                        carry(client, upstream, plan, commands).await;
                    }
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// How one direction ended.
enum End {
    Finished,
    Drop,
}

/// Forwards one connection. Closes both sockets when it returns.
async fn carry(
    client: BoxedStream,
    upstream: BoxedStream,
    plan: ChaosPlan,
    commands: watch::Receiver<Command>,
) {
    let (client_in, client_out) = tokio::io::split(client);
    let (upstream_in, upstream_out) = tokio::io::split(upstream);
    let up = pump(client_in, upstream_out, Pipeline::new(plan.to_upstream), commands.clone());
    let down = pump(upstream_in, client_out, Pipeline::new(plan.to_client), commands.clone());
    tokio::pin!(up, down);
    let mut commands = commands;
    let mut open = (true, true);
    while open.0 || open.1 {
        let end = tokio::select! {
            _ = commands.wait_for(|command| *command == Command::Drop) => End::Drop,
            end = &mut up, if open.0 => { open.0 = false; end }
            end = &mut down, if open.1 => { open.1 = false; end }
        };
        if matches!(end, End::Drop) {
            return;
        }
    }
}

async fn pump(
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    mut pipeline: Pipeline,
    mut commands: watch::Receiver<Command>,
) -> End {
    let mut buffer = vec![0; CHAOS_CHUNK_BYTES];
    let mut actions: Vec<Action> = pipeline.open().into_iter().collect();
    loop {
        for action in actions {
            if let Some(end) = perform(action, &mut output, &mut commands).await {
                return end;
            }
        }
        let read = match pipeline.hold() {
            Some(hold) => match timeout(hold, input.read(&mut buffer)).await {
                Ok(read) => read,
                Err(_) => {
                    actions = pipeline.release();
                    continue;
                }
            },
            None => input.read(&mut buffer).await,
        };
        actions = match read {
            Ok(0) => pipeline.release().into_iter().chain([Action::Finish]).collect(),
            Ok(length) => pipeline.push(buffer[..length].to_vec()),
            Err(_) => return End::Drop,
        };
    }
}

async fn perform(
    action: Action,
    output: &mut (impl AsyncWrite + Unpin),
    commands: &mut watch::Receiver<Command>,
) -> Option<End> {
    // The sender is gone only when the proxy and this task are being dropped.
    let _ = commands.wait_for(|command| *command != Command::Stall).await;
    match action {
        Action::Wait(time) => sleep(time).await,
        Action::Write(bytes) => {
            if output.write_all(&bytes).await.and(output.flush().await).is_err() {
                return Some(End::Drop);
            }
        }
        Action::Finish => {
            let _ = output.shutdown().await;
            return Some(End::Finished);
        }
        // The end of the proxy's life ends this wait.
        Action::Stall => std::future::pending().await,
        Action::Drop => return Some(End::Drop),
    }
    None
}
