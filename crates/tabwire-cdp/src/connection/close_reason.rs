//! Why a connection ended.

use crate::transport::TransportError;

/// Why a connection ended; every pending command and listener gets it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    /// The browser closed its end, or exited.
    #[error("the browser closed the connection")]
    PeerClosed,
    /// This side closed it.
    #[error("the connection was closed from this side")]
    ClosedHere,
    /// The transport failed.
    #[error("the connection failed: {0}")]
    Transport(#[source] TransportError),
}
