//! Accepting connections: bounded in number, patient when the system has no descriptors left.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{ACCEPT_PAUSE, ACCEPT_PAUSE_LONGEST};

/// A connection that got past the door.
pub(crate) enum Visitor {
    Socket(UnixStream),
    Port(TcpStream),
}

/// A listening end, with the pause it takes after failures.
pub(crate) struct Listener<L> {
    inner: L,
    places: Option<Arc<Semaphore>>,
    pause: Duration,
}

pub(crate) trait Accept {
    fn accept_one(&self) -> impl Future<Output = io::Result<Visitor>> + Send;
}

impl Accept for UnixListener {
    async fn accept_one(&self) -> io::Result<Visitor> {
        let (stream, _) = self.accept().await?;
        Ok(Visitor::Socket(stream))
    }
}

impl Accept for TcpListener {
    async fn accept_one(&self) -> io::Result<Visitor> {
        let (stream, _) = self.accept().await?;
        stream.set_nodelay(true)?;
        Ok(Visitor::Port(stream))
    }
}

impl<L: Accept> Listener<L> {
    /// Without places, everybody is taken in: who has not proved itself makes room for the next.
    pub(crate) fn new(inner: L, places: Option<Arc<Semaphore>>) -> Self {
        Self { inner, places, pause: ACCEPT_PAUSE }
    }

    /// Waits for a visitor and a place for it. A failing accept is tried again after a growing pause, so that
    /// running out of descriptors neither spins nor ends the daemon (F41).
    pub(crate) async fn next(&mut self) -> Option<(Visitor, Option<OwnedSemaphorePermit>)> {
        let place = match &self.places {
            Some(places) => Some(Arc::clone(places).acquire_owned().await.ok()?),
            None => None,
        };
        loop {
            match self.inner.accept_one().await {
                Ok(visitor) => {
                    self.pause = ACCEPT_PAUSE;
                    return Some((visitor, place));
                }
                Err(error) => {
                    tracing::warn!(%error, pause = ?self.pause, "accepting a connection failed");
                    tokio::time::sleep(self.pause).await;
                    self.pause = (self.pause * 2).min(ACCEPT_PAUSE_LONGEST);
                }
            }
        }
    }
}
