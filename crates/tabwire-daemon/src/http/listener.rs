//! Accepts connections, up to a bounded number, and retries when the process is out of descriptors.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tabwire_cdp::{UnauthenticatedPeer, UnauthenticatedPeers};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{CONNECTIONS, UNAUTHENTICATED_CONNECTIONS};

/// First pause after a failed accept. It doubles up to [`ACCEPT_PAUSE_MAX`].
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Longest pause after failed accepts, such as when the process is out of descriptors.
const ACCEPT_PAUSE_MAX: Duration = Duration::from_secs(1);

/// An accepted connection.
pub(crate) enum IncomingStream {
    Socket(UnixStream),
    Port(TcpStream),
}

/// A listener, with its pause after failures.
pub(crate) struct Listener<L> {
    inner: L,
    permits: Option<Arc<Semaphore>>,
    pause: Duration,
}

pub(crate) trait Accept {
    fn accept_one(&self) -> impl Future<Output = io::Result<IncomingStream>> + Send;
}

impl Accept for UnixListener {
    async fn accept_one(&self) -> io::Result<IncomingStream> {
        let (stream, _) = self.accept().await?;
        Ok(IncomingStream::Socket(stream))
    }
}

impl Accept for TcpListener {
    async fn accept_one(&self) -> io::Result<IncomingStream> {
        let (stream, _) = self.accept().await?;
        stream.set_nodelay(true)?;
        Ok(IncomingStream::Port(stream))
    }
}

impl<L: Accept> Listener<L> {
    /// Without permits, every connection is accepted: an unauthenticated one makes room for the next.
    pub(crate) fn new(inner: L, permits: Option<Arc<Semaphore>>) -> Self {
        Self { inner, permits, pause: ACCEPT_PAUSE }
    }

    /// Waits for a permit and a connection. A failed accept is retried after a growing pause, so that running out of
    /// descriptors neither spins nor ends the daemon (F41).
    pub(crate) async fn next(&mut self) -> Option<(IncomingStream, Option<OwnedSemaphorePermit>)> {
        let permit = match &self.permits {
            Some(permits) => Some(Arc::clone(permits).acquire_owned().await.ok()?),
            None => None,
        };
        loop {
            match self.inner.accept_one().await {
                Ok(stream) => {
                    self.pause = ACCEPT_PAUSE;
                    return Some((stream, permit));
                }
                Err(error) => {
                    tracing::warn!(%error, pause = ?self.pause, "accepting a connection failed");
                    tokio::time::sleep(self.pause).await;
                    self.pause = (self.pause * 2).min(ACCEPT_PAUSE_MAX);
                }
            }
        }
    }
}

/// One connection over the port.
#[derive(Debug)]
pub(crate) struct PortPeer {
    unauthenticated: UnauthenticatedPeer,
    permits: Arc<Semaphore>,
    permit: OnceLock<OwnedSemaphorePermit>,
}

/// All connections over the port.
#[derive(Debug)]
pub(crate) struct PortPeers {
    unauthenticated: Arc<UnauthenticatedPeers>,
    permits: Arc<Semaphore>,
}

impl PortPeers {
    pub(crate) fn new() -> Self {
        let (unauthenticated, permits) =
            (UnauthenticatedPeers::new(UNAUTHENTICATED_CONNECTIONS), Semaphore::new(CONNECTIONS));
        Self { unauthenticated, permits: Arc::new(permits) }
    }

    /// Adds an unauthenticated connection.
    pub(crate) fn enter(&self) -> PortPeer {
        let (unauthenticated, permits) = (self.unauthenticated.enter(), Arc::clone(&self.permits));
        PortPeer { unauthenticated, permits, permit: OnceLock::new() }
    }
}

impl PortPeer {
    /// Waits until a newer connection replaces this unauthenticated one.
    pub(crate) async fn replaced(&self) {
        self.unauthenticated.replaced().await;
    }

    /// Marks the connection as authenticated; false when there are too many such connections.
    pub(crate) fn prove(&self) -> bool {
        if self.permit.get().is_some() {
            return true;
        }
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else { return false };
        self.unauthenticated.authenticated();
        // Requests of one connection come one after the other, so there is no race on this cell.
        self.permit.set(permit).is_ok()
    }
}
